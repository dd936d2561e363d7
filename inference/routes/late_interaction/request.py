"""Validates a request for late interaction: a query, and the documents to score."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

from billing.rules.quantities import Quantities
from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import ServedModel
from inference.routes.late_interaction.members import LATE_INTERACTION_MEMBERS
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, refuse_others
from inference.rules.representation import Representation, input_bound, representation_of

DOCUMENTS_MAX = 1000
TOP_SPANS_MAX = 100
TOP_SPANS_DEFAULT = 3
ID_MAX_CHARACTERS = 255


@dataclass(frozen=True, slots=True)
class Document:
    """A text with the caller's own id."""

    id: str
    text: str


@dataclass(frozen=True, slots=True)
class LateInteractionRequest:
    """A valid request. `top_spans` is the maximum number of spans returned per document."""

    body: Mapping[str, Any]
    is_large: bool
    query: str
    documents: tuple[Document, ...]
    top_spans: int
    representation: Representation
    bound: Quantities


def read_request(sent: JsonBody, model: ServedModel, *, adapters: Collection[str]) -> LateInteractionRequest:
    """Validate a request. Raises InvalidRequest naming the member at fault, or ModelUnavailable if no upstream of the
    model serves representations."""
    body = sent.members
    refuse_others(body, LATE_INTERACTION_MEMBERS)
    query = body.get("query")
    if not isinstance(query, str) or not query:
        raise InvalidRequest("query must be a non-empty string.", param="query")
    documents = _documents(body.get("documents"))
    return LateInteractionRequest(
        body=body,
        is_large=sent.is_large,
        query=query,
        documents=documents,
        top_spans=read_count(body, "top_spans", most=TOP_SPANS_MAX) or TOP_SPANS_DEFAULT,
        representation=representation_of(model, adapters, dimensions=None, quantization="float"),
        bound=_bound(query, documents),
    )


def _documents(sent: Any) -> tuple[Document, ...]:
    if not isinstance(sent, list) or not 1 <= len(sent) <= DOCUMENTS_MAX:
        raise InvalidRequest(f"documents must be a list of 1 to {DOCUMENTS_MAX} objects.", param="documents")
    documents = tuple(_document(index, item) for index, item in enumerate(sent))
    seen = set[str]()
    for index, document in enumerate(documents):
        if document.id in seen:
            raise InvalidRequest("Two documents have the same id.", param=f"documents.{index}.id")
        seen.add(document.id)
    return documents


def _document(index: int, item: Any) -> Document:
    if not isinstance(item, dict):
        raise InvalidRequest("A document must be an object with id and text.", param=f"documents.{index}")
    name, text = item.get("id"), item.get("text")
    if not isinstance(name, str) or not 1 <= len(name) <= ID_MAX_CHARACTERS:
        raise InvalidRequest(f"id must be 1 to {ID_MAX_CHARACTERS} characters.", param=f"documents.{index}.id")
    if not isinstance(text, str):
        raise InvalidRequest("text must be a string.", param=f"documents.{index}.text")
    return Document(name, text)


def _bound(query: str, documents: tuple[Document, ...]) -> Quantities:
    size_bytes = len(query.encode()) + sum(len(document.text.encode()) for document in documents)
    items = 1 + len(documents)
    return Quantities(input_tokens=input_bound(size_bytes, items), input_bytes=size_bytes, items=items)
