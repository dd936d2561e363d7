"""Scores documents from token matrices. It is CPU-bound, so it runs off the event loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import orjson

from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.vectors import written
from inference.routes.late_interaction.maxsim import NO_MATCH, Floats, match_documents
from inference.routes.late_interaction.request import Document
from inference.routes.late_interaction.spans import Offsets, best_spans


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
    return Scored(document.id, NO_MATCH.score, [])


def ranked(scored: Sequence[Scored]) -> orjson.Fragment:
    """Render documents for the response: best first, equal scores in request order."""
    best_first = sorted(scored, key=lambda one: -one.score)
    return written([{"id": one.id, "score": one.score, "spans": one.spans} for one in best_first])
