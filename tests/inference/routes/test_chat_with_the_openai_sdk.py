"""Chat completions with the vendor's SDK: however a stream ends, its iterator ends normally or with the SDK's own error."""

import asyncio
from typing import Any

import openai
import pytest
from django.utils import timezone
from pydantic import BaseModel

from accounts.models import Account
from tests.inference.routes.sdk import async_sdk, sdk
from tests.support.stage import MESSAGES, Caller, Stage

MESSAGES_: Any = MESSAGES
TOOL: Any = {
    "type": "function",
    "function": {
        "name": "weather",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {name: {"type": "string"} for name in ("city", "country", "unit", "day")},
            "required": ["city", "country", "unit", "day"],
            "additionalProperties": False,
        },
    },
}


class Weather(BaseModel):
    """A structured answer."""

    city: str


def read_sync(caller: Caller, body: dict[str, Any]) -> list[Any]:
    """Read a stream as the synchronous client has it."""
    with sdk(caller) as client, client.chat.completions.create(stream=True, **body) as stream:
        return list(stream)


async def read_async(caller: Caller, body: dict[str, Any]) -> list[Any]:
    """Read a stream as the asynchronous client has it."""
    async with async_sdk(caller) as client:
        return [chunk async for chunk in await client.chat.completions.create(stream=True, **body)]


def body_for(stage: Stage, model: str, *, limit: int = 20, **members: Any) -> dict[str, Any]:
    return {"model": stage.model(model, max_output_tokens=limit), "messages": MESSAGES_, **members}


def finishes(chunks: list[Any]) -> dict[int, str]:
    return {choice.index: choice.finish_reason for chunk in chunks for choice in chunk.choices if choice.finish_reason}


@pytest.mark.parametrize("choices", [1, 3])
def test_a_stream_that_is_cut_ends_as_one_at_its_limit(stage: Stage, choices: int) -> None:
    caller = stage.caller()
    chunks = read_sync(caller, body_for(stage, "endless", n=choices))
    assert finishes(chunks) == dict.fromkeys(range(choices), "length")
    assert {chunk.object for chunk in chunks} == {"chat.completion.chunk"}
    assert caller.only_call.usage_record.basis == "delivered"


def test_a_stream_that_is_cut_ends_for_the_asynchronous_client_too(stage: Stage) -> None:
    chunks = asyncio.run(read_async(stage.caller(), body_for(stage, "endless")))
    assert finishes(chunks) == {0: "length"}


def test_the_stream_helper_ends_with_what_was_cut(stage: Stage) -> None:
    with sdk(stage.caller()) as client, client.chat.completions.stream(**body_for(stage, "endless")) as stream:
        *_, last = stream
    assert (last.type, last.content[:19]) == ("content.done", "the quick brown fox")
    assert stream.current_completion_snapshot.choices[0].finish_reason == "length"


def test_the_asynchronous_stream_helper_does(stage: Stage) -> None:
    async def read(caller: Caller, body: dict[str, Any]) -> list[Any]:
        async with async_sdk(caller) as client, client.chat.completions.stream(**body) as stream:
            return [event async for event in stream]

    events = asyncio.run(read(stage.caller(), body_for(stage, "endless")))
    assert events[-1].type == "content.done"


@pytest.mark.parametrize(
    ("model", "more"),
    [
        ("endless", {}),
        ("small-1?endless=true&token_delay_ms=1&text=[", {"response_format": Weather}),
        ("small-1", {"tools": [TOOL]}),
    ],
    ids=["text", "structured", "tool call"],
)
def test_whoever_wants_the_whole_of_what_was_cut_gets_the_sdks_own_error(
    stage: Stage, model: str, more: dict[str, Any]
) -> None:
    caller, body = stage.caller(), body_for(stage, model, limit=2, **more)
    with pytest.raises(openai.LengthFinishReasonError):
        read_whole(caller, body)
    assert caller.only_call.state == "settled"


def read_whole(caller: Caller, body: dict[str, Any]) -> Any:
    """Read a stream as the helper assembles it."""
    with sdk(caller) as client, client.chat.completions.stream(**body) as stream:
        return stream.get_final_completion()


BROKEN = {
    "cut-mid-stream": "upstream_error",
    "cut-mid-event": "upstream_error",
    "cut-before-done": "upstream_error",
    "no-done": "upstream_error",
    "error-event": "upstream_error",
    "usage-negative": "upstream_invalid",
    "usage-huge": "upstream_invalid",
}


@pytest.mark.parametrize(("preset", "code"), BROKEN.items())
def test_a_broken_stream_raises_the_sdks_error_with_our_code(stage: Stage, preset: str, code: str) -> None:
    with pytest.raises(openai.APIError) as raised:
        read_sync(stage.caller(), body_for(stage, preset))
    assert (type(raised.value), raised.value.code, raised.value.type) == (openai.APIError, code, "api_error")


def test_a_broken_stream_raises_it_in_the_asynchronous_client_too(stage: Stage) -> None:
    caller, body = stage.caller(), body_for(stage, "cut-mid-stream")
    with pytest.raises(openai.APIError) as raised:
        asyncio.run(read_async(caller, body))
    assert raised.value.code == "upstream_error"


def suspend(caller: Caller) -> None:
    Account.objects.filter(did=caller.did).update(suspended_at=timezone.now())


@pytest.mark.parametrize("helper", [False, True], ids=["create", "stream"])
def test_a_stream_whose_caller_loses_access_raises_the_sdks_error(stage: Stage, settings: Any, helper: bool) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.1
    caller = stage.caller()
    body = body_for(stage, "small-1?tokens=2000&token_delay_ms=10", limit=3000)
    with sdk(caller) as client:
        opened = (
            client.chat.completions.stream(**body) if helper else client.chat.completions.create(stream=True, **body)
        )
        with opened as stream:
            events = iter(stream)
            next(events)
            suspend(caller)
            with pytest.raises(openai.APIError) as raised:
                list(events)
    assert (raised.value.code, raised.value.type) == ("invalid_token", "authentication_error")
    assert caller.only_call.state == "settled"


REFUSED: list[tuple[str, dict[str, Any], type[openai.APIStatusError], str]] = [
    ("small-1", {"moderation": {"model": "m"}}, openai.BadRequestError, "invalid_request"),
    ("small-1", {"n": 100_000}, openai.BadRequestError, "invalid_request"),
    ("reject-context-length", {}, openai.BadRequestError, "invalid_request"),
    ("rate-limited", {}, openai.InternalServerError, "upstream_overloaded"),
    ("secret-error", {}, openai.InternalServerError, "upstream_error"),
]


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
@pytest.mark.parametrize(("model", "members", "kind", "code"), REFUSED, ids=[f"{row[0]}-{row[3]}" for row in REFUSED])
def test_a_refusal_is_the_sdks_error_of_its_status(
    stage: Stage, model: str, members: dict[str, Any], kind: type[openai.APIStatusError], code: str, streams: bool
) -> None:
    with sdk(stage.caller()) as client, pytest.raises(kind) as raised:
        client.chat.completions.create(**body_for(stage, model, **members), stream=streams)
    assert raised.value.code == code


def test_refusals_of_the_gateway_itself_have_the_sdks_classes(stage: Stage) -> None:
    with sdk(stage.caller()) as client, pytest.raises(openai.NotFoundError):
        client.chat.completions.create(model="nobody", messages=MESSAGES_)
    with sdk(stage.caller(scopes=("wallet:read",))) as client, pytest.raises(openai.PermissionDeniedError):
        client.chat.completions.create(**body_for(stage, "small-1"))
    with sdk(stage.caller(balance=0)) as client, pytest.raises(openai.APIStatusError) as raised:
        client.chat.completions.create(**body_for(stage, "small-1"))
    assert (raised.value.status_code, raised.value.code) == (402, "insufficient_funds")


def test_every_kind_of_answer_is_read(stage: Stage) -> None:
    with sdk(stage.caller()) as client:
        plain = client.chat.completions.create(**body_for(stage, "small-1?reasoning_tokens=7", reasoning_effort="low"))
        called = client.chat.completions.parse(**body_for(stage, "small-1", tools=[TOOL]))
        spoken = client.chat.completions.create(
            model=stage.model("small-1?spoken_tokens=2", price={"request": "5"}),
            messages=MESSAGES_,
            modalities=["text", "audio"],
            audio={"voice": "alloy", "format": "wav"},
        )
    assert plain.usage.completion_tokens_details.reasoning_tokens == 7
    [call] = called.choices[0].message.tool_calls
    assert set(call.function.parsed_arguments) == {"city", "country", "unit", "day"}
    audio = spoken.choices[0].message.audio
    assert (audio.id.startswith("audio_"), audio.transcript[:9], audio.expires_at) == (True, "the quick", 1_795_000_000)
