"""Validates a chat request, and bounds its input."""

from collections.abc import Mapping
from typing import Any

from billing.rules.quantities import QUANTITY_MAX
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.values import value_class
from inference.interface.model import ServedModel
from inference.routes.chat.content import holders_in, read_content
from inference.routes.chat.images import ImageAt, read_images, with_urls
from inference.routes.chat.members import CHAT_MEMBERS
from inference.rules.caching import NOTHING, Caching, read_caching
from inference.rules.input_bound import bound_input, estimate_input, is_explained
from inference.rules.json_body import JsonBody
from inference.rules.members import read_count, read_flag, refuse_members

CHOICES_MAX = 128
LIMITS = ("max_completion_tokens", "max_tokens")
MODALITIES = ("text", "audio")


@value_class(frozen=True, slots=True)
class ChatRequest:
    """A valid chat request. `input_bound` is the maximum of its input tokens, `input_estimate` the expected number.

    `output_limit` is the client's own, for each of `choices`, None if it set none; `limit_field` names the member for a
    limit that the gateway sets. `predicted_tokens` is the most that a prediction can add to each choice. `speaks`: the
    answer may be spoken. `show_usage`: the client asked for a stream's usage. `remote_images` are to be fetched.
    `service_tier` is as it was sent; the price decides about it, and about `caching`.
    """

    body: Mapping[str, Any]
    is_large: bool
    input_bound: int
    input_estimate: int
    has_audio: bool
    choices: int
    output_limit: int | None
    limit_field: str
    streams: bool
    show_usage: bool
    speaks: bool = False
    predicted_tokens: int = 0
    remote_images: tuple[ImageAt, ...] = ()
    service_tier: Any = None
    caching: Caching = NOTHING


def read_request(sent: JsonBody, model: ServedModel) -> ChatRequest:
    """Validate a chat request, or raise InvalidRequest or ImageRejected naming the member at fault."""
    body = sent.members
    refuse_members(body, CHAT_MEMBERS)
    content = read_content(body, sent.size_bytes)
    streams = read_flag(body, "stream")
    predicts = body.get("prediction") is not None
    relabelled, remote = read_images(body["messages"], model=model)
    return ChatRequest(
        body=with_urls(body, relabelled),
        is_large=sent.is_large,
        input_bound=bound_input(model, sent.size_bytes, content.other_part, _preambles(body)),
        input_estimate=estimate_input(model, content.text_bytes, content.other_parts),
        has_audio=content.has_audio,
        speaks=_speaks(body),
        choices=read_count(body, "n", most=CHOICES_MAX) or 1,
        predicted_tokens=_predicted_bytes(body),
        output_limit=_output_limit(body, model),
        limit_field="max_tokens" if predicts else _limit_field(model),
        streams=streams,
        show_usage=_shows_usage(body, streams),
        remote_images=remote,
        service_tier=body.get("service_tier"),
        caching=read_caching(body, holders_in(body)),
    )


def _preambles(body: Mapping[str, Any]) -> int:
    """Count what the vendor of Messages adds a text of its own for: tools, and the format of the answer."""
    return bool(body.get("tools")) + is_explained(body.get("response_format"))


def _shows_usage(body: Mapping[str, Any], stream: bool) -> bool:
    options = body.get("stream_options")
    if options is None:
        return False
    if not stream or not isinstance(options, dict):
        raise InvalidRequest("stream_options must be an object, and is only valid with stream.", param="stream_options")
    shown = options.get("include_usage")
    if not (shown is None or isinstance(shown, bool)):
        raise InvalidRequest("include_usage must be true or false.", param="stream_options.include_usage")
    return bool(shown)


def _output_limit(body: Mapping[str, Any], model: ServedModel) -> int | None:
    """Read the client's limit; one above the alias's limit is refused instead of silently reduced."""
    most = model.max_output_tokens or QUANTITY_MAX
    sent = {limit for name in LIMITS if (limit := read_count(body, name, most=most)) is not None}
    if len(sent) > 1:
        raise InvalidRequest("max_tokens and max_completion_tokens differ; send one.", param="max_tokens")
    return sent.pop() if sent else None


def _limit_field(model: ServedModel) -> str:
    """Return the member from which the upstream reads a limit: the vendor's current one, or the older `max_tokens`."""
    fields = {deployment.upstream.options.get("output_limit_field") for deployment in model.deployments}
    return "max_tokens" if "max_tokens" in fields else "max_completion_tokens"


def _speaks(body: Mapping[str, Any]) -> bool:
    """Return whether the answer may be spoken, or raise InvalidRequest naming the member at fault."""
    modalities, audio = body.get("modalities"), body.get("audio")
    if modalities is not None and not _are_modalities(modalities):
        raise InvalidRequest("modalities must be a list of text and audio.", param="modalities")
    if audio is not None:
        _check_audio(audio)
    return audio is not None or "audio" in (modalities or ())


def _predicted_bytes(body: Mapping[str, Any]) -> int:
    """Measure a prediction in UTF-8 bytes, which its tokens cannot exceed, or raise InvalidRequest naming the member."""
    prediction = body.get("prediction")
    if prediction is None:
        return 0
    content = prediction.get("content") if isinstance(prediction, dict) else None
    texts = [content] if isinstance(content, str) else [_text_of(part) for part in _parts_of(content)]
    return sum(len(text.encode()) for text in texts)


def _are_modalities(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(one in MODALITIES for one in value)


def _check_audio(audio: Any) -> None:
    if not isinstance(audio, dict):
        raise InvalidRequest("audio must be an object.", param="audio")
    # A provider's voice id could name any voice of the operator's account, including another customer's.
    if not isinstance(audio.get("voice"), str):
        raise InvalidRequest("voice must be the name of a voice.", param="audio.voice")


def _parts_of(content: Any) -> list[Any]:
    if not isinstance(content, list):
        raise InvalidRequest("A prediction needs content, a text or a list of text parts.", param="prediction.content")
    return content


def _text_of(part: Any) -> str:
    text = part.get("text") if isinstance(part, dict) and part.get("type") == "text" else None
    if not isinstance(text, str):
        raise InvalidRequest("A prediction needs content, a text or a list of text parts.", param="prediction.content")
    return text
