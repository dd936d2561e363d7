"""Finds the spans of a document that matched a query, in UTF-16 offsets, as JavaScript and most editors use."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from inference.routes.late_interaction.maxsim import Match

LAST_OF_ONE_UNIT = "\uffff"

Offsets = Sequence[tuple[int, int]]


def best_spans(text: str, offsets: Offsets, match: Match, top: int) -> list[dict[str, Any]]:
    """Return the `top` spans of a document by weight, the earlier of equals first.

    A span is a document token that was the best match of one or more query tokens; its weight is the sum of their
    similarities. `offsets` are the tokens' positions in code points; the spans' are in UTF-16 code units. A token
    without characters, such as a start marker, has no span.
    """
    chosen: dict[int, list[int]] = defaultdict(list)
    for query_token, token in enumerate(match.tokens.tolist()):
        start, end = offsets[token]
        if start < end:
            chosen[token].append(query_token)
    similarities = match.similarities.tolist()
    weights = {token: sum(similarities[index] for index in indices) for token, indices in chosen.items()}
    ranked = sorted(chosen, key=lambda token: (-weights[token], offsets[token], token))
    return [
        {**in_code_units(text, *offsets[token]), "weight": weights[token], "query_tokens": chosen[token]}
        for token in ranked[:top]
    ]


def in_code_units(text: str, start: int, end: int) -> dict[str, int]:
    """Convert offsets in code points to offsets in UTF-16 code units."""
    if text.isascii():
        return {"start": start, "end": end}
    first = _units(text[:start])
    return {"start": first, "end": first + _units(text[start:end])}


def _units(text: str) -> int:
    """Count UTF-16 code units: two for a character beyond the basic plane."""
    return len(text) + sum(character > LAST_OF_ONE_UNIT for character in text)
