"""Validates a request for contextual embeddings: the chunks of documents, or queries."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.contextual.members import CONTEXTUAL_MEMBERS
from inference.rules.json_body import JsonBody
from inference.rules.members import refuse_others
from inference.rules.representation import Representation, input_bound, read_input_type, representation_of

DIMENSIONS = (1024, 2048)
QUANTIZATIONS = ("float", "int8")
CHUNKS_MAX = 1000
"""The maximum number of chunks in all documents, or of queries."""


@dataclass(frozen=True, slots=True)
class ContextualRequest:
    """A valid request. `groups` are the documents, each a list of chunks in order; each query is a group of one."""

    body: Mapping[str, Any]
    is_large: bool
    input_type: str
    groups: tuple[tuple[str, ...], ...]
    dimensions: int
    quantization: str
    representation: Representation
    bound: Quantities

    @property
    def are_queries(self) -> bool:
        """Return whether each group is a query."""
        return self.input_type == "query"


def read_request(sent: JsonBody, model: ServedModel, *, adapters: Collection[str]) -> ContextualRequest:
    """Validate a request. Raises InvalidRequest naming the member at fault, or ModelUnavailable if no upstream of the
    model serves representations."""
    body = sent.members
    refuse_others(body, CONTEXTUAL_MEMBERS)
    input_type = read_input_type(body, required=True) or ""
    groups = _queries(body) if input_type == "query" else _documents(body)
    dimensions = _one_of(body, "dimensions", DIMENSIONS) or _configured(model)
    quantization = _one_of(body, "quantization", QUANTIZATIONS) or model.options.get("quantization") or QUANTIZATIONS[0]
    representation = representation_of(model, adapters, dimensions=dimensions, quantization=quantization)
    return ContextualRequest(
        body=body,
        is_large=sent.is_large,
        input_type=input_type,
        groups=groups,
        dimensions=dimensions,
        quantization=quantization,
        representation=replace(representation, normalized=quantization == "float"),
        bound=_bound(groups),
    )


def _queries(body: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    _refuse_other(body, "documents", "query")
    return tuple((query,) for query in _texts(body.get("queries"), "queries"))


def _documents(body: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    _refuse_other(body, "queries", "document")
    documents = body.get("documents")
    if not isinstance(documents, list) or not 1 <= len(documents) <= CHUNKS_MAX:
        raise InvalidRequest(f"documents must be a list of 1 to {CHUNKS_MAX} lists of strings.", param="documents")
    groups = tuple(tuple(_texts(chunks, f"documents.{index}")) for index, chunks in enumerate(documents))
    if sum(map(len, groups)) > CHUNKS_MAX:
        raise InvalidRequest(f"All documents together may have at most {CHUNKS_MAX} chunks.", param="documents")
    return groups


def _texts(sent: Any, param: str) -> list[str]:
    if not isinstance(sent, list) or not 1 <= len(sent) <= CHUNKS_MAX:
        raise InvalidRequest(f"{param} must be a list of 1 to {CHUNKS_MAX} strings.", param=param)
    for index, text in enumerate(sent):
        if not isinstance(text, str) or not text:
            raise InvalidRequest("A text must be a non-empty string.", param=f"{param}.{index}")
    return sent


def _refuse_other(body: Mapping[str, Any], name: str, input_type: str) -> None:
    if body.get(name) is not None:
        raise InvalidRequest(f"{name} does not go with input_type {input_type}.", param=name)


def _one_of(body: Mapping[str, Any], name: str, allowed: tuple[Any, ...]) -> Any:
    value = body.get(name)
    if value is None or any(type(value) is type(one) and value == one for one in allowed):
        return value
    raise InvalidRequest(f"{name} must be {allowed[0]} or {allowed[1]}.", param=name)


def _configured(model: ServedModel) -> int:
    configured = model.options.get("dimensions")
    return configured if configured in DIMENSIONS else DIMENSIONS[0]


def _bound(groups: tuple[tuple[str, ...], ...]) -> Quantities:
    chunks = sum(map(len, groups))
    size_bytes = sum(len(text.encode()) for group in groups for text in group)
    return Quantities(input_tokens=input_bound(size_bytes, chunks), input_bytes=size_bytes, items=chunks)
