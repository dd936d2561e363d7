"""Validates a rerank request, and counts its charged bytes."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from billing.rules.quantities import QUANTITY_MAX, Quantities
from gateway.core.contract.errors import InputTooLarge, InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.rerank.limits import Limits, bound_tokens, limits_of
from inference.routes.rerank.members import RERANK_MEMBERS
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, read_flag, refuse_others

TOP_MAX = 1000


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """A valid rerank request. `query` is the client's, preceded by its instruction if there is one.

    `results` is the number of results that the response must have. `bound` has the charged bytes, the documents, and
    their maximum tokens.
    """

    body: Mapping[str, Any]
    is_large: bool
    query: str
    documents: list[str]
    results: int
    returns_documents: bool
    truncation: bool
    limits: Limits
    bound: Quantities


def read_request(sent: JsonBody, model: ServedModel, *, by_adapter: Mapping[str, Limits]) -> RerankRequest:
    """Validate a rerank request within the limits of its providers. Raises InvalidRequest or InputTooLarge naming the member at
    fault."""
    body = sent.members
    refuse_others(body, RERANK_MEMBERS)
    limits = limits_of(model, by_adapter)
    query, instruction = _text(body, "query"), _text(body, "instruction", optional=True)
    documents = _documents(body.get("documents"))
    truncation = _truncation(body, limits)
    top_n = read_count(body, "top_n", most=TOP_MAX) or len(documents)
    text = f"{instruction}\n{query}" if instruction else query
    return RerankRequest(
        body=body,
        is_large=sent.is_large,
        query=text,
        documents=documents,
        results=min(top_n, len(documents)),
        returns_documents=read_flag(body, "return_documents"),
        truncation=truncation,
        limits=limits,
        bound=_bound(limits, text, len(query.encode()) + len(instruction.encode()), documents, truncation),
    )


def _bound(limits: Limits, text: str, paid_query_bytes: int, documents: list[str], truncation: bool) -> Quantities:
    """Count the documents' bytes once, and those of query and instruction once for each document."""
    sizes = [len(document.encode()) for document in documents]
    tokens = bound_tokens(limits, len(text.encode()), sizes, truncation=truncation)
    input_bytes = sum(sizes) + paid_query_bytes * len(sizes)
    if input_bytes > QUANTITY_MAX:  # only possible with truncation
        raise InputTooLarge("The query, once for each document, is too long.", param="query")
    return Quantities(input_tokens=tokens, input_bytes=input_bytes, items=len(documents))


def _text(body: Mapping[str, Any], name: str, *, optional: bool = False) -> str:
    text = body.get(name)
    if text is None and optional:
        return ""
    if not isinstance(text, str) or not text:
        raise InvalidRequest(f"{name} must be a non-empty string.", param=name)
    return text


def _documents(sent: Any) -> list[str]:
    if not isinstance(sent, list) or not sent:
        raise InvalidRequest("documents must be a non-empty list of strings.", param="documents")
    for index, document in enumerate(sent):
        if not isinstance(document, str) or not document:
            raise InvalidRequest("A document must be a non-empty string.", param=f"documents.{index}")
    return sent


def _truncation(body: Mapping[str, Any], limits: Limits) -> bool:
    truncation = read_flag(body, "truncation")
    if truncation and not limits.truncates:
        raise InvalidRequest("This model's provider does not accept truncation: true.", param="truncation")
    return truncation
