"""MaxSim (Khattab and Zaharia, ColBERT, 2020): for each token of a query its best token of a document, and their sum."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]

BLOCK_TOKENS = 8192
"""So many of the documents' tokens are compared at once; the products of a block are all that is computed besides."""


@dataclass(frozen=True, slots=True)
class Match:
    """How a document answers a query. `tokens` has for each token of the query the document's best one, the first of equals,
    and `similarities` their dot products; `score` is the sum of these. All are empty for a document without tokens."""

    score: float
    tokens: npt.NDArray[np.intp]
    similarities: Floats


NO_MATCH = Match(0.0, np.empty(0, np.intp), np.empty(0, np.float32))


def match_documents(query: Floats, tokens: Floats, counts: Sequence[int]) -> list[Match]:
    """Match documents whose tokens follow each other as the rows of `tokens`, `counts` of them each, with the query's rows."""
    matches: list[Match] = []
    first = 0
    for block in _blocks(counts):
        last = first + sum(block)
        matches += _match_block(query, tokens[first:last], block)
        first = last
    return matches


def _match_block(query: Floats, tokens: Floats, counts: Sequence[int]) -> list[Match]:
    if not len(tokens) or not len(query):
        return [NO_MATCH] * len(counts)
    products = tokens @ query.T
    ends = np.cumsum(counts)
    filled = [(end - count, end) for end, count in zip(ends.tolist(), counts, strict=True) if count]
    best = np.empty((len(filled), len(query)), np.intp)
    for at, (begin, end) in enumerate(filled):
        products[begin:end].argmax(axis=0, out=best[at])
    starts = np.array([begin for begin, _ in filled])
    similarities = products[best + starts[:, None], np.arange(len(query))]
    scores = similarities.sum(axis=1, dtype=np.float64).tolist()
    found = iter([Match(*match) for match in zip(scores, best, similarities, strict=True)])
    return [next(found) if count else NO_MATCH for count in counts]


def _blocks(counts: Sequence[int]) -> Iterator[list[int]]:
    """Cut documents, in order, into blocks of at most `BLOCK_TOKENS`; a longer document is a block of its own."""
    block: list[int] = []
    size = 0
    for count in counts:
        if block and size + count > BLOCK_TOKENS:
            yield block
            block, size = [], 0
        block.append(count)
        size += count
    if block:
        yield block
