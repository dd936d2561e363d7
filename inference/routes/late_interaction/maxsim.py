"""MaxSim (Khattab and Zaharia, ColBERT, 2020): sums, for each query token, the similarity of a document's best
token."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, TypeAlias

from gateway.core.runtime.deferred import numpy as np

if TYPE_CHECKING:
    import numpy.typing as npt

Floats: TypeAlias = "npt.NDArray[np.float32]"

BLOCK_TOKENS = 8192
"""The number of document tokens compared at once; besides the products of one block, little memory is needed."""
PRODUCTS_MAX = 4 * 1024 * 1024
"""The maximum number of single-precision products in memory at once, however long query and document are."""


@dataclass(frozen=True, slots=True)
class Match:
    """The match of a document with a query. `tokens` has, for each query token, the index of the document's best token
    (the first of equals), and `similarities` their dot products; `score` is the sum of these. All are empty for a
    document without tokens."""

    score: float
    tokens: "npt.NDArray[np.intp]"
    similarities: Floats


@cache
def no_match() -> Match:
    """Return the match of a document without tokens, or with a query without any."""
    return Match(0.0, np.empty(0, np.intp), np.empty(0, np.float32))


def match_documents(query: Floats, tokens: Floats, counts: Sequence[int]) -> list[Match]:
    """Match documents with the query's rows. Their tokens are consecutive rows of `tokens`, `counts` of them each."""
    matches: list[Match] = []
    first = 0
    for block in _blocks(counts):
        last = first + sum(block)
        matches += _match_block(query, tokens[first:last], block)
        first = last
    return matches


def _match_block(query: Floats, tokens: Floats, counts: Sequence[int]) -> list[Match]:
    if not len(tokens) or not len(query):
        return [no_match()] * len(counts)
    ends = np.cumsum(counts).tolist()
    filled = [(end - count, end) for end, count in zip(ends, counts, strict=True) if count]
    step = max(1, PRODUCTS_MAX // len(tokens))
    parts = [_best(query[at : at + step], tokens, filled) for at in range(0, len(query), step)]
    best, similarities = (np.concatenate(part, axis=1) for part in zip(*parts, strict=True))
    scores = similarities.sum(axis=1, dtype=np.float64).tolist()
    found = iter([Match(*match) for match in zip(scores, best, similarities, strict=True)])
    return [next(found) if count else no_match() for count in counts]


def _best(query: Floats, tokens: Floats, documents: Sequence[tuple[int, int]]) -> "tuple[npt.NDArray[np.intp], Floats]":
    """Return, for each document (a range of tokens) and each query token, the best token and their product."""
    products = tokens @ query.T
    best = np.empty((len(documents), len(query)), np.intp)
    for at, (begin, end) in enumerate(documents):
        products[begin:end].argmax(axis=0, out=best[at])
    starts = np.array([begin for begin, _ in documents])
    return best, products[best + starts[:, None], np.arange(len(query))]


def _blocks(counts: Sequence[int]) -> Iterator[list[int]]:
    """Split documents, in order, into blocks of at most `BLOCK_TOKENS`; a longer document is a block by itself."""
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
