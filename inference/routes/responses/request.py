"""Validates a response request, and bounds its input."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.contract.errors import InputTooLarge, InvalidRequest
from gateway.core.contract.limits import IMAGE_BODY_MAX_BYTES
from gateway.core.json.pieces import written
from inference.interface.model import ServedModel
from inference.routes.responses.images import ImageAt, read_images, with_urls
from inference.routes.responses.items import Item, holders_of, measure, read_items
from inference.routes.responses.members import RESPONSE_MEMBERS
from inference.routes.responses.tools import check_tools, holders_in
from inference.rules.caching import NOTHING, Caching, read_caching
from inference.rules.input_bound import bound_input, estimate_input, is_explained
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, read_flag, refuse_members

METADATA_MAX_PAIRS = 16
METADATA_NAME_MAX_CHARACTERS = 64
METADATA_VALUE_MAX_CHARACTERS = 512

_OURS = frozenset({"previous_response_id", "store", "stream"})


class Recorder(Protocol):
    """Converts a response for the client to the record that the closing statement stores under this id."""

    response_id: str

    def record(self, response: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Return the record, or None if it cannot be stored."""


@dataclass(frozen=True, slots=True)
class ResponseRequest:
    """A valid request. `body` is sent upstream, except for model and limits; `items` is the whole input, including that
    of earlier responses, of about `size_bytes`. `input_bound` is the maximum of its tokens, `input_estimate` the
    expected number.

    `stores`: the client wants it stored; `recorder` makes its record. `output_limit` is the client's own, if any.
    `remote_images` are to be fetched. `service_tier` is as it was sent; the price decides about it, and about `caching`.
    """

    body: Mapping[str, Any]
    is_large: bool
    items: Sequence[Item]
    size_bytes: int
    input_bound: int
    input_estimate: int
    output_limit: int | None
    streams: bool
    stores: bool
    previous_id: str | None
    remote_images: tuple[ImageAt, ...] = ()
    recorder: Recorder | None = None
    service_tier: Any = None
    caching: Caching = NOTHING

    @property
    def ours(self) -> dict[str, Any]:
        """Return the members of a response that repeat parameters for the gateway, not for the upstream."""
        return {
            "previous_response_id": self.previous_id,
            "store": self.stores,
            "background": False,
            "metadata": self.body.get("metadata") or {},
        }


def read_request(
    sent: JsonBody, model: ServedModel, history: Sequence[Item] = (), history_max_bytes: int = 0
) -> ResponseRequest:
    """Validate a request that continues `history`, or raise the error that names the member at fault."""
    body = sent.members
    _check_members(body)
    items = [*history, *read_items(body.get("input"))]
    size_bytes = sent.size_bytes + _size_of(history, history_max_bytes, IMAGE_BODY_MAX_BYTES - sent.size_bytes)
    measured = measure(items, size_bytes, len(history))
    relabelled, remote = read_images(items, len(history), model=model)
    items = with_urls(items, relabelled) if relabelled else items
    return ResponseRequest(
        body=_sent_on(body, items),
        is_large=sent.is_large,
        items=items,
        size_bytes=size_bytes,
        input_bound=bound_input(model, size_bytes, measured.other_part, _preambles(body)),
        input_estimate=estimate_input(model, measured.text_bytes, measured.other_parts),
        output_limit=read_count(body, "max_output_tokens", most=model.max_output_tokens or QUANTITY_MAX),
        streams=read_flag(body, "stream"),
        stores=body.get("store") is None or read_flag(body, "store"),
        previous_id=body.get("previous_response_id"),
        remote_images=remote,
        service_tier=body.get("service_tier"),
        caching=read_caching(body, [*holders_of(items, len(history)), *holders_in(body)]),
    )


def _preambles(body: Mapping[str, Any]) -> int:
    """Count what the vendor of Messages adds a text of its own for: tools, and the format of the answer."""
    text = body.get("text")
    return bool(body.get("tools")) + is_explained(text.get("format") if isinstance(text, dict) else None)


def input_of(items: Sequence[Item]) -> list[dict[str, Any]]:
    """Build the input for the upstream, without ids, which mean nothing there because nothing is stored there."""
    return [_without_records(item) for item in items if _says_something(item)]


def _sent_on(body: Mapping[str, Any], items: Sequence[Item]) -> dict[str, Any]:
    """Build the upstream's input: a single text unchanged, anything else as items."""
    sent = {name: value for name, value in body.items() if name not in _OURS}
    if not isinstance(body["input"], str) or len(items) > 1:
        sent["input"] = input_of(items)
    return {**sent, "store": False}


def _without_records(item: Item) -> dict[str, Any]:
    return {name: value for name, value in item.items() if name not in ("id", "status")}


def _says_something(item: Item) -> bool:
    """Return whether an item contains its content: reasoning without content refers to a stored record."""
    return item.get("type") != "reasoning" or bool(item.get("encrypted_content") or item.get("content"))


def _check_members(body: Mapping[str, Any]) -> None:
    refuse_members(body, RESPONSE_MEMBERS)
    check_tools(body)
    _check_texts(body)
    _check_metadata(body.get("metadata"))
    _check_reasoning(body.get("reasoning"))


def _size_of(history: Sequence[Item], max_bytes: int, room_bytes: int) -> int:
    """Return how many bytes the responses before take, or raise InputTooLarge where there is no room for them."""
    size_bytes = len(written(history, max_bytes)) if history else 0
    if history and size_bytes > room_bytes:
        message = f"The conversation is larger than {IMAGE_BODY_MAX_BYTES} bytes. Begin a new one."
        raise InputTooLarge(message, param="previous_response_id", details={"limitBytes": IMAGE_BODY_MAX_BYTES})
    return size_bytes


def _check_texts(body: Mapping[str, Any]) -> None:
    for name in ("instructions", "previous_response_id"):
        value = body.get(name)
        if not (value is None or isinstance(value, str)):
            raise InvalidRequest(f"{name} must be a text.", param=name)
    if body.get("truncation") not in (None, "auto", "disabled"):
        raise InvalidRequest("truncation must be auto or disabled.", param="truncation")
    for name in ("text", "stream_options"):
        value = body.get(name)
        if not (value is None or isinstance(value, dict)):
            raise InvalidRequest(f"{name} must be an object.", param=name)
    text_format = (body.get("text") or {}).get("format")
    if not (text_format is None or isinstance(text_format, dict)):
        raise InvalidRequest("text.format must be an object.", param="text.format")


def _check_metadata(metadata: Any) -> None:
    if metadata is None:
        return
    if not isinstance(metadata, dict) or len(metadata) > METADATA_MAX_PAIRS:
        raise InvalidRequest(f"metadata must be an object of at most {METADATA_MAX_PAIRS} pairs.", param="metadata")
    for name, value in metadata.items():
        is_short = isinstance(value, str) and len(value) <= METADATA_VALUE_MAX_CHARACTERS
        if not is_short or len(name) > METADATA_NAME_MAX_CHARACTERS:
            raise InvalidRequest(
                f"metadata takes names of {METADATA_NAME_MAX_CHARACTERS} and texts of "
                f"{METADATA_VALUE_MAX_CHARACTERS} characters at most.",
                param="metadata",
            )


def _check_reasoning(reasoning: Any) -> None:
    if reasoning is None:
        return
    if not isinstance(reasoning, dict):
        raise InvalidRequest("reasoning must be an object.", param="reasoning")
    if reasoning.get("mode") not in (None, "standard"):
        raise InvalidRequest(
            "reasoning.mode must be standard: others run more than one answer.", param="reasoning.mode"
        )
