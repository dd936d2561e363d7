"""Scores documents from token matrices. It is CPU-bound, so it runs off the event loop.

The spans that matched a query are in UTF-16 offsets, as JavaScript and most editors use.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import orjson

from gateway.core.runtime.deferred import numpy as np
from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.vectors import written
from inference.routes.late_interaction.maxsim import Floats, Match, match_documents
from inference.routes.late_interaction.request import Document

LAST_OF_ONE_UNIT = "\uffff"

Offsets = Sequence[tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of texts: their vectors as the rows of one array, text after text, and each text's offsets in code points,
    a pair for each of its tokens."""

    vectors: Floats
    offsets: Sequence[Offsets]


@dataclass(frozen=True, slots=True)
class Scored:
    """One document of the response."""

    id: str
    score: float
    spans: list[dict[str, Any]]


def score(query: Floats, documents: Sequence[Document], tokens: Tokens, top_spans: int) -> list[Scored]:
    """Score documents in their order, by a query's vectors. Raises NotJSONError if a vector contains a value that is
    not a number."""
    counts = [len(offsets) for offsets in tokens.offsets]
    with np.errstate(invalid="ignore", over="ignore"):
        matches = match_documents(query, tokens.vectors, counts)
    if not all(np.isfinite(match.score) for match in matches):
        raise NotJSONError("a token's vector that is not a list of numbers")
    return [
        Scored(document.id, match.score, best_spans(document.text, offsets, match, top_spans))
        for document, offsets, match in zip(documents, tokens.offsets, matches, strict=True)
    ]


def empty(document: Document) -> Scored:
    """Return the score of a document without text."""
    return Scored(document.id, 0.0, [])


def ranked(scored: Sequence[Scored]) -> orjson.Fragment:
    """Render documents for the response: best first, equal scores in request order."""
    best_first = sorted(scored, key=lambda one: -one.score)
    return written([{"id": one.id, "score": one.score, "spans": one.spans} for one in best_first])


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
