"""Which places of a document answered a query, in the offsets that JavaScript and most editors count by."""

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from inference.routes.late_interaction.maxsim import Match

LAST_OF_ONE_UNIT = "\uffff"

Offsets = Sequence[tuple[int, int]]


def best_spans(text: str, offsets: Offsets, match: Match, top: int) -> list[dict[str, Any]]:
    """Return the `top` spans of a document by weight, the earlier of equals first.

    A span is a document's token that was the best of one or more of the query's; its weight is the sum of their
    similarities. `offsets` are the tokens' places in code points, and the spans' are UTF-16 code units. A token without
    characters, as a mark of the beginning is, has no span.
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
    """Turn offsets in code points into offsets in UTF-16 code units."""
    if text.isascii():
        return {"start": start, "end": end}
    first = _units(text[:start])
    return {"start": first, "end": first + _units(text[start:end])}


def _units(text: str) -> int:
    """Count UTF-16 code units: two for a character beyond the basic plane."""
    return len(text) + sum(character > LAST_OF_ONE_UNIT for character in text)
