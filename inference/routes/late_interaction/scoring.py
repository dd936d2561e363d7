"""From token matrices to the answer's data. It computes, and belongs beside the event loop."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from inference.adapters.exchange import NotJSONError
from inference.routes.late_interaction.maxsim import NO_MATCH, Floats, match_documents
from inference.routes.late_interaction.request import Document
from inference.routes.late_interaction.spans import Offsets, best_spans


@dataclass(frozen=True, slots=True)
class Tokens:
    """The tokens of one text: a vector for each, and its place in code points."""

    vectors: Floats
    offsets: Offsets


@dataclass(frozen=True, slots=True)
class Scored:
    """One document of the answer."""

    id: str
    score: float
    spans: list[dict[str, Any]]


def score(query: Tokens, documents: Sequence[Document], tokens: Sequence[Tokens], top_spans: int) -> list[Scored]:
    """Score documents in their order. Raises NotJSONError where a vector has a value that is no number."""
    if not documents:
        return []
    together = np.concatenate([found.vectors for found in tokens])
    counts = [len(found.vectors) for found in tokens]
    with np.errstate(invalid="ignore", over="ignore"):
        matches = match_documents(query.vectors, together, counts)
    if not all(np.isfinite(match.score) for match in matches):
        raise NotJSONError("a vector of a token that is no vector of numbers")
    return [
        Scored(document.id, match.score, best_spans(document.text, found.offsets, match, top_spans))
        for document, found, match in zip(documents, tokens, matches, strict=True)
    ]


def empty(document: Document) -> Scored:
    """Score a document without text."""
    return Scored(document.id, NO_MATCH.score, [])


def ranked(scored: Sequence[Scored]) -> list[dict[str, Any]]:
    """Write documents as the answer has them: best first, and equals in the order of the request."""
    return [
        {"id": one.id, "score": one.score, "spans": one.spans} for one in sorted(scored, key=lambda one: -one.score)
    ]
