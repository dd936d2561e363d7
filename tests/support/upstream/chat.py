"""Chat completions in the vendor's format: one body, or the chunks of a stream."""

import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.support.upstream.answers import Answer
from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.stream import Frame
from tests.support.upstream.usage import ABSENT, Usage, of_input, report, tier_of, tiers_of, with_counted

FINGERPRINT = "fp_upstream-1"
EXPIRES_AT = 1_795_000_000


def usage_of(answer: Answer, behaviour: Behaviour) -> Usage:
    """Return the true usage of an output."""
    unseen = behaviour.reasoning_tokens + behaviour.rejected_tokens + behaviour.spoken_tokens
    completion_tokens = answer.tokens * answer.choices + unseen
    usage = {
        "prompt_tokens": answer.prompt_tokens,
        "completion_tokens": completion_tokens,
        "total_tokens": answer.prompt_tokens + completion_tokens,
        "prompt_tokens_details": {
            **of_input(behaviour),
            "audio_tokens": behaviour.audio_tokens,
        },
        "completion_tokens_details": {
            "reasoning_tokens": behaviour.reasoning_tokens,
            "accepted_prediction_tokens": behaviour.accepted_tokens,
            "rejected_prediction_tokens": behaviour.rejected_tokens,
            "audio_tokens": behaviour.spoken_tokens,
        },
    }
    return with_counted(usage, behaviour)


def output_tokens_of(answer: Answer, behaviour: Behaviour) -> int:
    """Count the words of every choice."""
    return answer.tokens * answer.choices


def render(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Any:
    """Build the complete chat completion."""
    completion = {
        "id": entry_id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [_choice(entry_id, answer, index, _audio_of(body, behaviour)) for index in range(answer.choices)],
        "system_fingerprint": FINGERPRINT,
        "service_tier": tier_of(body, behaviour),
    }
    usage = report(usage_of(answer, behaviour), behaviour.usage)
    return completion if usage is ABSENT else {**completion, "usage": usage}


def stream(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Iterator[Frame]:
    """Return the chunks of a streamed chat completion, the usage chunk last if requested."""
    wants_usage = bool((body.get("stream_options") or {}).get("include_usage"))
    head = {
        "id": entry_id,
        "object": "chat.completion.chunk",
        "created": int(time.time()),
        "model": body["model"],
        "system_fingerprint": FINGERPRINT,
    }
    tiers = tiers_of(body, behaviour)
    tail = {"usage": None} if wants_usage else {}

    def chunk(choices: list[Any], tokens: int = 0) -> Frame:
        return Frame({**head, "service_tier": next(tiers), "choices": choices, **tail}, tokens)

    yield chunk([_delta(index, _opening(entry_id, answer)) for index in range(answer.choices)])
    if audio := _audio_of(body, behaviour):
        yield from _spoken(entry_id, audio, chunk)
    for position in range(answer.tokens):
        for index in range(answer.choices):
            yield chunk([_delta(index, _piece(answer, position))], 1)
    yield chunk([_delta(index, {}, answer.finish_reason) for index in range(answer.choices)])
    usage = report(usage_of(answer, behaviour), behaviour.usage)
    if wants_usage and usage is not ABSENT:
        yield Frame({**head, "service_tier": next(tiers), "choices": [], "usage": usage})


SAMPLES_PER_TOKEN = b"\0\1" * 1200
"""The bytes of 50 ms of 16-bit audio at 24 kHz, which count as one token."""


def _audio_of(body: Mapping[str, Any], behaviour: Behaviour) -> bytes:
    """Return the audio that a request asks for."""
    return SAMPLES_PER_TOKEN * behaviour.spoken_tokens if "audio" in (body.get("modalities") or ()) else b""


def _spoken(entry_id: str, audio: bytes, chunk: Callable[[list[Any]], Frame]) -> Iterator[Frame]:
    """Stream audio, one token per event, between its id and its expiry."""
    pieces = [audio[at : at + len(SAMPLES_PER_TOKEN)] for at in range(0, len(audio), len(SAMPLES_PER_TOKEN))]
    yield chunk([_delta(0, {"audio": {"id": f"audio-{entry_id}"}})])
    for piece in pieces:
        yield chunk([_delta(0, {"audio": {"data": b64encode(piece).decode()}})])
    yield chunk([_delta(0, {"audio": {"expires_at": EXPIRES_AT}})])


def _choice(entry_id: str, answer: Answer, index: int, audio: bytes) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if audio:
        spoken = {"id": f"audio-{entry_id}", "expires_at": EXPIRES_AT, "data": b64encode(audio).decode()}
        message["audio"] = {**spoken, "transcript": "".join(answer.words())}
    elif answer.tool_call:
        function = {"name": answer.tool_call.name, "arguments": answer.tool_call.arguments}
        message["tool_calls"] = [{"id": _call_id(entry_id), "type": "function", "function": function}]
    else:
        message["content"] = "".join(answer.words())
    return {
        "index": index,
        "message": message,
        "logprobs": None,
        "finish_reason": answer.finish_reason,
    }


def _delta(index: int, delta: Mapping[str, Any], finish_reason: str | None = None) -> Any:
    return {"index": index, "delta": delta, "logprobs": None, "finish_reason": finish_reason}


def _opening(entry_id: str, answer: Answer) -> Any:
    if not answer.tool_call:
        return {"role": "assistant", "content": "", "refusal": None}
    function = {"name": answer.tool_call.name, "arguments": ""}
    call = {"index": 0, "id": _call_id(entry_id), "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _piece(answer: Answer, position: int) -> Any:
    word = answer.word(position)
    if answer.tool_call:
        return {"tool_calls": [{"index": 0, "function": {"arguments": word}}]}
    return {"content": word}


def _call_id(entry_id: str) -> str:
    return f"call_{entry_id}"
