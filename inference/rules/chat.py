"""`POST /v1/chat/completions`."""

from collections.abc import Mapping
from typing import Any

from billing.rules.prices import PriceBook
from billing.rules.quantities import QUANTITY_MAX, Quantities
from gateway.contract.aliases import Route
from gateway.contract.errors import InvalidRequest
from gateway.contract.limits import MODEL_BODY_MAX_BYTES
from inference.rules.chat_content import PART_TOKENS_ESTIMATE, ChatContent, read_content
from inference.rules.chat_events import chat_events
from inference.rules.delivery import tokens_of_bytes
from inference.rules.demand import Demand
from inference.rules.members import read_count, read_flag, refuse_members
from inference.rules.model import ServedModel
from inference.rules.usage import read_part, read_total

CHOICES_MAX = 128
LIMITS = ("max_completion_tokens", "max_tokens")


class ChatRules:
    """Metered by tokens in and out."""

    route = Route.CHAT_COMPLETIONS
    body_max_bytes = MODEL_BODY_MAX_BYTES
    id_prefix = "chatcmpl"

    def read(self, body: Mapping[str, Any], size_bytes: int, model: ServedModel) -> Demand:
        """Validate a chat request, or raise InvalidRequest naming the member at fault."""
        refuse_members(body)
        content = read_content(body)
        _check_modalities(body)
        stream = read_flag(body, "stream")
        choices = read_count(body, "n", most=CHOICES_MAX) or 1
        limit = _output_limit(body, model)
        return Demand(
            body=body,
            bound=Quantities(input_tokens=_input_bound(content, size_bytes, model)),
            estimate=Quantities(input_tokens=_input_estimate(content, model)),
            choices=choices,
            output_limit=limit,
            limit_field=_limit_field(model),
            stream=stream,
            show_usage=_shows_usage(body, stream),
            has_sound=content.has_audio,
        )

    def read_usage(self, usage: Mapping[str, Any], demand: Demand, prices: PriceBook) -> Quantities:
        """Read `prompt_tokens`, `completion_tokens` and what of them was cached or sound."""
        if not prices.needs_token_usage and not usage:
            return Quantities()
        return Quantities(
            input_tokens=read_total(usage, "prompt_tokens"),
            cached_input_tokens=read_part(usage, "prompt_tokens_details", "cached_tokens"),
            input_audio_tokens=read_part(usage, "prompt_tokens_details", "audio_tokens"),
            output_tokens=read_total(usage, "completion_tokens"),
        )

    def as_events(self, body: Mapping[str, Any], demand: Demand) -> bytes:
        """Render a whole completion as one chunk with everything in it."""
        return chat_events(body, show_usage=demand.show_usage)


def _check_modalities(body: Mapping[str, Any]) -> None:
    if body.get("modalities") not in (None, ["text"]):
        raise InvalidRequest("Only the modality text is supported.", param="modalities")


def _shows_usage(body: Mapping[str, Any], stream: bool) -> bool:
    options = body.get("stream_options")
    if options is None:
        return False
    if not stream or not isinstance(options, dict):
        raise InvalidRequest("stream_options must be an object, and goes with stream alone.", param="stream_options")
    shown = options.get("include_usage")
    if not (shown is None or isinstance(shown, bool)):
        raise InvalidRequest("include_usage must be true or false.", param="stream_options.include_usage")
    return bool(shown)


def _output_limit(body: Mapping[str, Any], model: ServedModel) -> int | None:
    """Read the client's limit; a greater one than the alias allows is refused rather than cut in silence."""
    most = model.max_output_tokens or QUANTITY_MAX
    sent = {limit for name in LIMITS if (limit := read_count(body, name, most=most)) is not None}
    if len(sent) > 1:
        raise InvalidRequest("max_tokens and max_completion_tokens differ; send one.", param="max_tokens")
    return sent.pop() if sent else None


def _limit_field(model: ServedModel) -> str:
    """Name the member that the upstream reads a limit from: the vendor's present one, or the older `max_tokens`."""
    fields = {deployment.upstream.options.get("output_limit_field") for deployment in model.deployments}
    return "max_tokens" if "max_tokens" in fields else "max_completion_tokens"


def _input_bound(content: ChatContent, size_bytes: int, model: ServedModel) -> int:
    """Bound the input: no tokenizer makes more tokens of a text than it has bytes, and the JSON has more than the text.

    What a vendor adds of its own (a preamble before tools) is the alias's option `input_overhead_tokens`. The size of
    images, sound and files says nothing about their tokens; the model's context does.
    """
    if content.other_part is None:
        bound = size_bytes + _overhead_tokens(model)
        return min(bound, model.context_tokens or bound)
    if model.context_tokens is None and model.is_served:
        raise InvalidRequest("This model takes text alone.", param=content.other_part)
    return min(model.context_tokens or size_bytes, QUANTITY_MAX)


def _overhead_tokens(model: ServedModel) -> int:
    """Return the alias's option, which can only raise the bound; what is no count is none."""
    tokens = model.options.get("input_overhead_tokens")
    return max(tokens, 0) if type(tokens) is int else 0


def _input_estimate(content: ChatContent, model: ServedModel) -> int:
    estimate = tokens_of_bytes(content.text_bytes) + content.other_parts * PART_TOKENS_ESTIMATE
    return min(estimate, model.context_tokens or estimate)
