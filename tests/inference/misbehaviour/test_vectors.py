"""Vectors that belong to no input, or are none."""

import tracemalloc
from typing import Any

import pytest

from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.vectors import read_matrix
from tests.inference.misbehaviour.wire import MisbehavingUpstream, Play, whole
from tests.support.stage import EMBEDDINGS, Stage
from tests.support.upstream.stream import dumps

VECTOR = [0.5, -0.5]


def at(index: Any, embedding: Any = VECTOR) -> dict[str, Any]:
    return {"object": "embedding", "index": index, "embedding": embedding}


@pytest.mark.parametrize(
    ("data", "status"),
    [
        ([at(0), at(1)], 200),
        ([at(1), at(0)], 200),
        ([at(0, "AAAAPwAAAL8="), at(1, "AAAAPwAAAL8=")], 200),
        ([at(0), at(0)], 502),
        ([at(0), at(2)], 502),
        ([at(0), at(True)], 502),
        ([at(0), at(-1)], 502),
        ([at(0), at("1")], 502),
        ([at(0), {"object": "embedding", "embedding": VECTOR}], 502),
        ([at(0), at(1, [])], 502),
        ([at(0), at(1, "")], 502),
        ([at(0), at(1, ["0.5", 1])], 502),
        ([at(0), at(1, [True, 1])], 502),
        ([at(0), at(1, [[0.5]])], 502),
    ],
)
def test_embeddings_are_numbers_each_of_its_own_input(
    stage: Stage, misbehaving: MisbehavingUpstream, data: Any, status: int
) -> None:
    body = {"object": "list", "data": data, "model": "m", "usage": {"prompt_tokens": 2, "total_tokens": 2}}
    misbehaving.play = Play([whole(dumps(body), "application/json")])
    row = stage.upstream_row(base_url=misbehaving.base_url)
    alias, caller = stage.model(upstream=row, options={"routes": ["embeddings"]}), stage.caller()
    answer = caller.post({"model": alias, "input": ["one", "two"]}, path=EMBEDDINGS)
    assert answer.status_code == status
    if status == 200:
        assert answer.json()["data"] == data
    assert caller.only_call.state == ("settled" if status == 200 else "review")


def test_a_text_among_numbers_takes_no_more_memory_than_it_has() -> None:
    """NumPy gives every element of an array of texts the size of the longest: here 40 MB of 10 KB."""
    rows = [["x" * 10_000, *[0.5] * 1000]]
    tracemalloc.start()
    with pytest.raises(NotJSONError):
        read_matrix(rows, 1)
    _, peak_bytes = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak_bytes < 1_000_000
