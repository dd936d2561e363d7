"""Validates an ordinary embedding request: the vendor's own, metered by tokens."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, refuse_members

INPUTS_MAX = 2048
DIMENSIONS_MAX = 65_536


@dataclass(frozen=True, slots=True)
class EmbeddingRequest:
    """A valid embedding request: its inputs, each a text or a list of tokens, and their maximum usage."""

    body: Mapping[str, Any]
    is_large: bool
    inputs: list[Any]
    bound: Quantities


def read_request(sent: JsonBody, model: ServedModel) -> EmbeddingRequest:
    """Validate an embedding request, or raise InvalidRequest naming the member at fault."""
    body = sent.members
    refuse_members(body)
    inputs = _inputs(body.get("input"))
    read_count(body, "dimensions", most=DIMENSIONS_MAX)
    read_encoding(body)
    input_bytes = sum(_bytes_of(item) for item in inputs)
    bound = Quantities(input_tokens=sent.size_bytes, input_bytes=input_bytes, items=len(inputs))
    return EmbeddingRequest(body, sent.is_large, inputs, bound)


def read_encoding(body: Mapping[str, Any]) -> str | None:
    """Read `encoding_format`, or raise InvalidRequest."""
    value = body.get("encoding_format")
    if value is None or value in ("float", "base64"):
        return value if isinstance(value, str) else None
    raise InvalidRequest("encoding_format must be float or base64.", param="encoding_format")


def _inputs(sent: Any) -> list[Any]:
    """Read `input` as a list of texts or of token lists: one text, one token list, or several of either."""
    inputs = [sent] if isinstance(sent, str) or _is_tokens(sent) else sent
    if not isinstance(inputs, list) or not 1 <= len(inputs) <= INPUTS_MAX:
        raise InvalidRequest(f"input must be a string or a list of 1 to {INPUTS_MAX} strings.", param="input")
    for index, item in enumerate(inputs):
        if not (isinstance(item, str) or _is_tokens(item)) or not item:
            raise InvalidRequest("An input must be a non-empty string or list of tokens.", param=f"input.{index}")
    return inputs


def _is_tokens(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(type(token) is int and token >= 0 for token in value)


def _bytes_of(item: Any) -> int:
    return len(item.encode()) if isinstance(item, str) else sum(len(str(token)) + 1 for token in item)
