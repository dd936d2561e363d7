"""Validates a Messages request, and bounds its input."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.interface.model import ServedModel
from inference.routes.messages.content import MessageContent, read_content
from inference.routes.messages.context import check_edits
from inference.routes.messages.documents import Documents, read_documents
from inference.routes.messages.headers import LONG_CONTEXT_BETA, LONG_CONTEXT_TOKENS, MessageBody
from inference.routes.messages.images import read_images
from inference.routes.messages.members import MESSAGE_MEMBERS
from inference.routes.messages.sources import SourceAt, with_sources
from inference.rules.caching import Caching, read_caching
from inference.rules.input_bound import bound_input, estimate_input
from inference.rules.members import read_count, read_flag, refuse_members

THINKING_MIN_TOKENS = 1024
"""The vendor's smallest budget of thinking."""

DEFAULT_TIER = "standard_only"
_DEFAULT_TIERS = (None, "auto", DEFAULT_TIER)


@value_class(frozen=True, slots=True)
class MessageRequest:
    """A valid request. `input_bound` is the maximum of its input tokens, `input_estimate` the expected number.

    `max_tokens` is the client's, `thinking_tokens` its budget of thinking, None if it has none. `service_tier` is what it
    asks for beyond the default, `caching` what it asks to be written to the upstream's cache. `has_foreign_thinking`: no provider
    takes all of its thinking back.
    """

    body: Mapping[str, Any]
    is_large: bool
    input_bound: int
    input_estimate: int
    max_tokens: int
    streams: bool
    thinking_tokens: int | None
    service_tier: str | None
    caching: Caching
    version: str | None = None
    betas: tuple[str, ...] = ()
    remote_images: tuple[SourceAt, ...] = ()
    documents: Documents = Documents()
    has_foreign_thinking: bool = False


def read_request(sent: MessageBody, model: ServedModel) -> MessageRequest:
    """Validate a request, or raise InvalidRequest or ImageRejected naming the member at fault."""
    body = sent.members
    refuse_thread(body)
    refuse_members(body, MESSAGE_MEMBERS)
    check_edits(body)
    content = read_content(body, sent.size_bytes)
    max_tokens = read_count(body, "max_tokens", most=QUANTITY_MAX)
    if max_tokens is None:
        raise InvalidRequest("max_tokens is required.", param="max_tokens")
    relabelled, remote = read_images(body["messages"], model=model)
    documents = read_documents(body["messages"])
    return MessageRequest(
        body=with_sources(with_sources(body, relabelled), documents.to_fetch),
        is_large=sent.is_large,
        input_bound=bound_of(content, sent, model),
        input_estimate=estimate_input(model, content.text_bytes, content.other_parts),
        max_tokens=max_tokens,
        streams=read_flag(body, "stream"),
        thinking_tokens=_thinking_tokens(body, max_tokens),
        service_tier=_service_tier(body),
        caching=read_caching({}, content.holders),
        version=sent.version,
        betas=sent.betas,
        remote_images=remote,
        documents=documents,
        has_foreign_thinking=content.has_foreign_thinking,
    )


def refuse_thread(body: Mapping[str, Any]) -> None:
    """Refuse a conversation that the provider keeps, as the vendor refuses one that it cannot keep: its SDK then goes on without."""
    if body.get("thread") is not None:
        raise InvalidRequest(
            "A conversation cannot be kept at the model's provider. Send all of its messages.",
            param="thread",
            details={"error_code": "thread_unsupported_request", "unsupported": ["thread"]},
        )


def bound_of(content: MessageContent, sent: MessageBody, model: ServedModel) -> int:
    """Bound the tokens of an input. Raises InvalidRequest if a block other than text cannot be bounded."""
    if model.context_tokens and any(beta.lower().startswith(LONG_CONTEXT_BETA) for beta in sent.betas):
        model = replace(model, context_tokens=max(model.context_tokens, LONG_CONTEXT_TOKENS))
    return bound_input(model, sent.size_bytes, content.other_part, content.preambles)


def _thinking_tokens(body: Mapping[str, Any], max_tokens: int) -> int | None:
    thinking = body.get("thinking")
    if thinking is None:
        return None
    if not isinstance(thinking, dict) or not isinstance(thinking.get("type"), str):
        raise InvalidRequest("thinking must be an object with a type.", param="thinking")
    if thinking["type"] != "enabled":
        return None
    budget = thinking.get("budget_tokens")
    if type(budget) is not int or not THINKING_MIN_TOKENS <= budget < max_tokens:
        text = f"budget_tokens must be a whole number of at least {THINKING_MIN_TOKENS}, and less than max_tokens."
        raise InvalidRequest(text, param="thinking.budget_tokens")
    return budget


def _service_tier(body: Mapping[str, Any]) -> str | None:
    tier = body.get("service_tier")
    if tier is None or (isinstance(tier, str) and tier):
        return None if tier in _DEFAULT_TIERS else tier
    raise InvalidRequest("service_tier must be a text.", param="service_tier")
