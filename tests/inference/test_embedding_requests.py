"""What an embedding request may hold."""

from typing import Any

import pytest

from gateway.core.contract.errors import InvalidRequest
from gateway.core.json.pieces import canonical
from inference.interface.model import ServedModel
from inference.routes.embeddings.request import read_request
from inference.rules.json_body import JsonBody


def read(members: Any) -> Any:
    body = {"model": "embedding", **members}
    return read_request(JsonBody(body, len(canonical(body)), b"", b"", is_large=False), ServedModel("embedding"))


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"input": ""}, "input.0"),
        ({"input": []}, "input"),
        ({"input": [""]}, "input.0"),
        ({"input": None}, "input"),
        ({"input": {"a": 1}}, "input"),
        ({"input": ["x"] * 2049}, "input"),
        ({"input": [[1, -1]]}, "input.0"),
        ({"input": [1, True]}, "input.0"),
        ({"input": "x", "dimensions": 0}, "dimensions"),
        ({"input": "x", "dimensions": 1e9}, "dimensions"),
        ({"input": "x", "dimensions": "many"}, "dimensions"),
        ({"input": "x", "encoding_format": "hex"}, "encoding_format"),
    ],
)
def test_what_cannot_be_embedded_is_refused_by_name(members: Any, param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(members)
    assert refused.value.param == param


@pytest.mark.parametrize(
    ("sent", "inputs"), [("x", ["x"]), ([1, 2], [[1, 2]]), (["x", "y"], ["x", "y"]), ([[1], "x"], [[1], "x"])]
)
def test_one_input_is_a_list_of_one(sent: Any, inputs: list[Any]) -> None:
    assert read({"input": sent}).inputs == inputs
