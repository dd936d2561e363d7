"""The demo backend under the contract of all adapters."""

import asyncio
import base64
import struct
import time
from dataclasses import replace
from typing import Any

import orjson
import pytest

from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Rejected
from tests.inference.adapters.attempts import PUBLIC_ID, Endpoints, chat, embedding, opened, read_all, reporting

adapter = Endpoints("demo")
FAST: dict[str, Any] = {"options": {"token_seconds": 0}}
WEATHER = {
    "type": "function",
    "function": {
        "name": "get_weather",
        "parameters": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]},
    },
}


def saying(text: str, role: str = "user", **body: Any) -> dict[str, Any]:
    return {"messages": [{"role": role, "content": text}], "max_completion_tokens": None, **body}


async def answer(body: dict[str, Any]) -> dict[str, Any]:
    outcome = await adapter.send(chat("", body=body))
    assert isinstance(outcome, Answer), outcome
    assert outcome.usage == outcome.body["usage"]
    return outcome.body


async def stream(body: dict[str, Any], **changes: Any) -> list[Chunk]:
    attempt = chat("", body={"stream": True, **body}, **FAST, **changes)
    return await read_all(await opened(await adapter.open_stream(attempt)))


def events_of(chunks: list[Chunk]) -> list[Any]:
    data = b"".join(chunk.data for chunk in chunks).removesuffix(b"\n\n")
    return [orjson.loads(event.removeprefix(b"data: ")) for event in data.split(b"\n\n")]


async def test_it_says_that_it_is_a_demo_and_counts_tokens_by_its_rule() -> None:
    body = await answer(saying("good day"))
    [choice] = body["choices"]
    text = choice["message"]["content"]
    assert text.startswith("This is the gateway's demo backend: no model was asked. You wrote “good day”.")
    assert (body["id"], body["model"], choice["finish_reason"]) == (PUBLIC_ID, "fast", "stop")
    assert body["usage"]["prompt_tokens"] == 2
    assert body["usage"]["total_tokens"] == 2 + body["usage"]["completion_tokens"]


@pytest.mark.parametrize("kind", ["send", "open_stream"])
async def test_it_calls_on_send(kind: str) -> None:
    seen: list[str] = []
    await getattr(adapter, kind)(reporting(chat(""), on_send=lambda: seen.append("sent")))
    assert seen == ["sent"]


async def test_it_is_deterministic() -> None:
    bodies = [await answer(saying("good day")) for _ in range(2)]
    assert bodies[0]["choices"] == bodies[1]["choices"]


@pytest.mark.parametrize("limit", ["max_tokens", "max_completion_tokens"])
async def test_it_stops_at_the_limit(limit: str) -> None:
    request = saying("good day") | {"max_completion_tokens": 5, "n": 3} if limit == "max_completion_tokens" else None
    attempt = chat("", body=request or {"n": 3})
    if limit == "max_tokens":
        body = {name: value for name, value in attempt.request.body.items() if name != "max_completion_tokens"}
        attempt = replace(attempt, request=replace(attempt.request, body={**body, "max_tokens": 5}))
    outcome = await adapter.send(attempt)
    assert isinstance(outcome, Answer)
    assert [choice["finish_reason"] for choice in outcome.body["choices"]] == ["length"] * 3
    assert outcome.body["choices"][0]["message"]["content"] == "This is the gateway's"
    assert outcome.body["usage"]["completion_tokens"] == 15


async def test_it_stops_before_a_stop_sequence() -> None:
    body = await answer(saying("good day", stop=["no model", "zzz"]))
    assert body["choices"][0]["message"]["content"] == "This is the gateway's demo backend: "


async def test_it_streams_what_it_answers() -> None:
    request = saying("good day", n=2)
    body, chunks = await answer(request), await stream(request)
    for index in range(2):
        deltas = [
            choice["delta"].get("content") or ""
            for event in events_of(chunks)
            for choice in event["choices"]
            if choice["index"] == index
        ]
        assert "".join(deltas) == body["choices"][index]["message"]["content"]
    assert chunks[-1].data == b""
    assert chunks[-1].usage == body["usage"]
    assert sum(chunk.output_deltas for chunk in chunks) == body["usage"]["completion_tokens"]
    assert {event["id"] for event in events_of(chunks)} == {PUBLIC_ID}


async def test_it_sends_usage_only_if_requested() -> None:
    events = events_of(await stream(saying("good day"), show_usage=True))
    assert all(event["usage"] is None for event in events[:-1])
    assert events[-1]["choices"] == []
    assert events[-1]["usage"]["completion_tokens"] > 0


@pytest.mark.parametrize(
    "body",
    [
        saying("hello", tools=[WEATHER], tool_choice="required"),
        saying("hello", tools=[WEATHER], tool_choice={"type": "function", "function": {"name": "get_weather"}}),
        saying("please get weather for Oslo", tools=[WEATHER]),
        saying("call get_weather", tools=[WEATHER], tool_choice="auto"),
    ],
)
async def test_it_calls_a_tool_that_is_required_or_mentioned(body: dict[str, Any]) -> None:
    [choice] = (await answer(body))["choices"]
    [call] = choice["message"]["tool_calls"]
    assert choice["finish_reason"] == "tool_calls"
    assert choice["message"]["content"] is None
    assert call["function"] == {"name": "get_weather", "arguments": '{"city":"demo"}'}
    streamed = [
        part
        for event in events_of(await stream(body))
        for choice in event["choices"]
        for part in choice["delta"].get("tool_calls", [])
    ]
    assert streamed[0]["id"] == call["id"]
    assert "".join(part["function"]["arguments"] for part in streamed) == '{"city":"demo"}'


@pytest.mark.parametrize(
    "body",
    [
        saying("hello", tools=[WEATHER]),
        saying("call get_weather", tools=[WEATHER], tool_choice="none"),
        saying("the get_weather result", role="tool", tools=[WEATHER]),
    ],
)
async def test_it_calls_no_tool_otherwise(body: dict[str, Any]) -> None:
    [choice] = (await answer(body))["choices"]
    assert "tool_calls" not in choice["message"]
    assert choice["finish_reason"] == "stop"


async def test_it_answers_in_json_if_requested() -> None:
    plain = await answer(saying("hi", response_format={"type": "json_object"}))
    assert orjson.loads(plain["choices"][0]["message"]["content"])["you_wrote"] == "hi"
    schema = {"type": "object", "properties": {"score": {"type": "integer", "minimum": 4}}, "required": ["score"]}
    shaped = await answer(saying("hi", response_format={"type": "json_schema", "json_schema": {"schema": schema}}))
    assert orjson.loads(shaped["choices"][0]["message"]["content"]) == {"score": 4}


@pytest.mark.parametrize(
    "body",
    [
        {"messages": []},
        {"messages": "hello"},
        {"messages": [7]},
        {"messages": [None]},
        {"tools": [{"type": "function"}], "tool_choice": "required"},
        {"tools": "all"},
        {"response_format": {"type": "json_schema"}},
        {"response_format": {"type": "json_schema", "json_schema": {"schema": {"$ref": "#/nowhere"}}}},
        {"stop": 7},
    ],
)
async def test_an_invalid_request_is_refused(body: dict[str, Any]) -> None:
    for outcome in (await adapter.send(chat("", body=body)), await adapter.open_stream(chat("", body=body))):
        assert isinstance(outcome, Rejected)
        assert outcome.error.code == "invalid_request"


async def test_it_streams_with_pauses_and_stops_when_closed() -> None:
    opened_stream = await opened(await adapter.open_stream(chat("", body=saying("hello"))))
    started, seen = time.monotonic(), 0
    async for chunk in opened_stream:
        seen += chunk.output_deltas
        if seen == 5:
            break
    await opened_stream.close()
    assert 0.08 <= time.monotonic() - started < 10
    assert [chunk async for chunk in opened_stream] == []


async def test_it_stops_when_cancelled() -> None:
    opened_stream = await opened(
        await adapter.open_stream(chat("", body=saying("hello"), options={"token_seconds": 60}))
    )
    reading = asyncio.create_task(read_all(opened_stream))
    await asyncio.sleep(0.01)
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading


async def embed(body: dict[str, Any]) -> Any:
    return await adapter.send(embedding("", body))


async def test_it_embeds_texts_and_token_lists() -> None:
    outcome = await embed({"input": ["good day", "good night"]})
    assert [item["index"] for item in outcome.body["data"]] == [0, 1]
    assert {len(item["embedding"]) for item in outcome.body["data"]} == {256}
    assert outcome.body["model"] == "embedding"
    assert outcome.usage == {"prompt_tokens": 4, "total_tokens": 4}
    assert (await embed({"input": [10, 20, 30]})).usage == {"prompt_tokens": 3, "total_tokens": 3}


async def test_it_embeds_in_base64_and_in_other_dimensions() -> None:
    plain = await embed({"input": "good day", "dimensions": 12})
    packed = await embed({"input": "good day", "dimensions": 12, "encoding_format": "base64"})
    vector = plain.body["data"][0]["embedding"]
    assert struct.unpack("<12f", base64.b64decode(packed.body["data"][0]["embedding"])) == tuple(vector)


@pytest.mark.parametrize(
    ("body", "param"),
    [({"input": "word " * 9000}, "input"), ({"input": "x", "dimensions": 4000}, "dimensions")],
)
async def test_embeddings_beyond_its_limits_are_refused(body: dict[str, Any], param: str) -> None:
    outcome = await embed(body)
    assert isinstance(outcome, Rejected)
    assert (outcome.error.code, outcome.error.param) == ("invalid_request", param)


async def test_a_large_batch_does_not_block_the_event_loop() -> None:
    lags: list[float] = []

    async def watch() -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0)
            lags.append(time.monotonic() - before)

    watcher = asyncio.create_task(watch())
    await embed({"input": ["a few words to embed"] * 300})
    watcher.cancel()
    assert len(lags) > 100


async def test_a_route_that_does_not_stream_says_so() -> None:
    outcome = await adapter.open_stream(embedding("", {"input": "x"}))
    assert isinstance(outcome, Rejected)
