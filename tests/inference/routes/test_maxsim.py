"""MaxSim and its spans against an oracle in plain Python."""

import math
import struct
import tracemalloc
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from inference.routes.late_interaction import maxsim
from inference.routes.late_interaction.maxsim import match_documents
from inference.routes.late_interaction.request import Document
from inference.routes.late_interaction.scoring import Tokens, best_spans, in_code_units, score

DIMENSIONS = 3
ROW = st.lists(st.integers(-8, 8).map(lambda value: value / 4), min_size=DIMENSIONS, max_size=DIMENSIONS)
MATRIX = st.lists(ROW, max_size=6)
# Plain, accented, astral, combining, joined and invisible characters.
TEXT = st.text(st.sampled_from("ab é\u0301\u0308🦡👩\u200d🚀\uffff\U00010000 "), max_size=12)


def floats(rows: list[list[float]]) -> Any:
    return np.array(rows, dtype=np.float32).reshape(len(rows), DIMENSIONS)


def dot(one: list[float], other: list[float]) -> float:
    return sum(a * b for a, b in zip(one, other, strict=True))


def oracle(query: list[list[float]], document: list[list[float]]) -> tuple[float, list[int]]:
    """Score a document token by token, with sums that are exact for quarters."""
    best = []
    for token_of_query in query if document else []:
        products = [dot(token_of_query, token) for token in document]
        best.append(products.index(max(products)))
    return sum(dot(token_of_query, document[at]) for token_of_query, at in zip(query, best, strict=False)), best


@given(query=MATRIX, documents=st.lists(MATRIX, max_size=8), block=st.integers(1, 12), most=st.integers(1, 20))
def test_it_is_the_sum_of_each_query_tokens_best(query: Any, documents: Any, block: int, most: int) -> None:
    rows = [row for document in documents for row in document]
    counts = [len(document) for document in documents]
    usual = maxsim.BLOCK_TOKENS, maxsim.PRODUCTS_MAX
    maxsim.BLOCK_TOKENS, maxsim.PRODUCTS_MAX = block, most
    try:
        matches = match_documents(floats(query), floats(rows), counts)
    finally:
        maxsim.BLOCK_TOKENS, maxsim.PRODUCTS_MAX = usual
    assert [(match.score, match.tokens.tolist()) for match in matches] == [
        oracle(query, document) for document in documents
    ]


def test_a_long_query_and_a_long_document_are_not_multiplied_at_once() -> None:
    query, document = (np.ones((tokens, 1), dtype=np.float32) for tokens in (3000, 20_000))
    tracemalloc.start()
    [match] = match_documents(query, document, [len(document)])
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert match.score == 3000
    # At once it would be 240 MB. Twice the largest block is its own; the process's other threads use some memory, too.
    assert peak_bytes < 3 * 4 * maxsim.PRODUCTS_MAX


@given(text=TEXT, data=st.data())
def test_offsets_are_utf_16_code_units(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    end = data.draw(st.integers(start, len(text)))
    span = in_code_units(text, start, end)
    units = text.encode("utf-16-le")
    assert units[2 * span["start"] : 2 * span["end"]].decode("utf-16-le") == text[start:end]
    assert span["start"] == len(text[:start].encode("utf-16-le")) // 2


@st.composite
def documents(draw: Any) -> tuple[str, list[tuple[int, int]], list[list[float]]]:
    """Draw a text with tokens that may overlap or be empty, and a vector for each."""
    text = draw(TEXT)
    bounds = st.tuples(st.integers(0, len(text)), st.integers(0, len(text))).map(lambda pair: tuple(sorted(pair)))
    offsets = draw(st.lists(bounds, max_size=6))
    return text, offsets, [draw(ROW) for _ in offsets]


def spans_oracle(text: str, offsets: Any, rows: Any, query: Any, top: int) -> list[Any]:
    _, best = oracle(query, rows)
    found = []
    for token, (start, end) in enumerate(offsets):
        indices = [index for index, at in enumerate(best) if at == token]
        if indices and start < end:
            weight = sum(dot(query[index], rows[token]) for index in indices)
            begin = len(text[:start].encode("utf-16-le")) // 2
            size = len(text[start:end].encode("utf-16-le")) // 2
            found.append((-weight, (start, end), token, begin, begin + size, indices))
    return [
        {"start": begin, "end": end, "weight": -negative, "query_tokens": indices}
        for negative, _, _, begin, end, indices in sorted(found)[:top]
    ]


@given(document=documents(), query=MATRIX, top=st.integers(1, 7))
def test_spans_are_the_best_tokens_with_their_weights(document: Any, query: Any, top: int) -> None:
    text, offsets, rows = document
    [match] = match_documents(floats(query), floats(rows), [len(rows)])
    assert best_spans(text, offsets, match, top) == spans_oracle(text, offsets, rows, query, top)


@given(document=documents(), query=MATRIX)
def test_the_weights_of_all_spans_sum_to_the_score(document: Any, query: Any) -> None:
    text, offsets, rows = document
    whole = [(start, end) for start, end in offsets if start < end]
    filled = [row for row, (start, end) in zip(rows, offsets, strict=True) if start < end]
    [match] = match_documents(floats(query), floats(filled), [len(filled)])
    spans = best_spans(text, whole, match, 100)
    assert sum(span["weight"] for span in spans) == match.score
    assert sorted(index for span in spans for index in span["query_tokens"]) == (
        list(range(len(query))) if filled else []
    )


@pytest.mark.parametrize("bad", [math.nan, math.inf])
def test_no_score_is_made_of_what_is_no_number(bad: float) -> None:
    from inference.adapters.exchange import NotJSONError

    matrix = np.frombuffer(struct.pack("<3f", 1.0, bad, 1.0), dtype="<f4").reshape(1, 3)
    with pytest.raises(NotJSONError):
        score(floats([[1, 1, 1]]), [Document("a", "x")], Tokens(matrix, [[(0, 1)]]), 3)


def test_single_precision_products_are_as_good_as_double_ones() -> None:
    rng = np.random.default_rng(7)
    query = rng.standard_normal((32, 128)).astype(np.float32)
    counts = [1, 300, 0, 57, 8192, 9000, 2]
    tokens = rng.standard_normal((sum(counts), 128)).astype(np.float32)
    matches = match_documents(query, tokens, counts)
    ends = np.cumsum(counts)
    for match, end, count in zip(matches, ends, counts, strict=True):
        exact = query.astype(np.float64) @ tokens[end - count : end].astype(np.float64).T
        assert match.score == pytest.approx(exact.max(axis=1).sum() if count else 0, rel=1e-5)
