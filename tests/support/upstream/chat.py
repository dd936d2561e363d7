"""Chat completions in the vendor's format: one body, or the chunks of a stream."""

import time
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from tests.support.upstream.answers import Answer, ToolCall
from tests.support.upstream.behaviours import Behaviour
from tests.support.upstream.stream import Frame
from tests.support.upstream.usage import ABSENT, Usage, of_input, report, tier_of, tiers_of, with_counted

FINGERPRINT = "fp_upstream-1"
EXPIRES_AT = 1_795_000_000


def usage_of(answer: Answer, behaviour: Behaviour) -> Usage:
    """Return the true usage of an output."""
    unseen = behaviour.reasoning_tokens + behaviour.rejected_tokens + behaviour.spoken_tokens
    completion_tokens = output_tokens_of(answer, behaviour) + unseen
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
    """Count the words of every choice, and of every call in it."""
    return answer.tokens * answer.choices * _calls_of(answer, behaviour)


def render(entry_id: str, body: Mapping[str, Any], answer: Answer, behaviour: Behaviour) -> Any:
    """Build the complete chat completion."""
    completion = {
        "id": entry_id,
        "object": "chat.completion",
        "created": int(time.time()),
        "model": body["model"],
        "choices": [_choice(entry_id, answer, index, behaviour, body) for index in range(answer.choices)],
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
    for number in range(_calls_of(answer, behaviour)):
        if number:
            yield chunk([_delta(index, _call(entry_id, answer, number)) for index in range(answer.choices)])
        for position in range(answer.tokens):
            for index in range(answer.choices):
                yield chunk([_delta(index, _piece(answer, position, number))], 1)
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


def _calls_of(answer: Answer, behaviour: Behaviour) -> int:
    """Return how many calls a choice has; words count as one."""
    return behaviour.calls if answer.tool_call else 1


def _choice(entry_id: str, answer: Answer, index: int, behaviour: Behaviour, body: Mapping[str, Any]) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": None, "refusal": None}
    if audio := _audio_of(body, behaviour):
        spoken = {"id": f"audio-{entry_id}", "expires_at": EXPIRES_AT, "data": b64encode(audio).decode()}
        message["audio"] = {**spoken, "transcript": "".join(answer.words())}
    elif answer.tool_call:
        called, arguments = answer.tool_call, answer.tool_call.arguments
        message["tool_calls"] = [_tool_call(entry_id, called, arguments, at) for at in range(behaviour.calls)]
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
    return {"role": "assistant", "content": None, **_call(entry_id, answer, 0)}


def _call(entry_id: str, answer: Answer, number: int) -> Any:
    assert answer.tool_call is not None
    call = _tool_call(entry_id, answer.tool_call, "", number)
    return {"tool_calls": [{"index": number, **call}]}


def _piece(answer: Answer, position: int, number: int) -> Any:
    word = answer.word(position)
    if answer.tool_call:
        return {"tool_calls": [{"index": number, "function": {"arguments": word}}]}
    return {"content": word}


def _tool_call(entry_id: str, call: ToolCall, arguments: str, number: int) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": f"call_{entry_id}{number or ''}", "type": "function", "function": function}
