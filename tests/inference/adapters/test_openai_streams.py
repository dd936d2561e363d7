"""An upstream's streams as the client receives them, over real sockets."""

import asyncio
from itertools import pairwise
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.core.contract.errors import UpstreamTimeout
from gateway.core.outbound.client import close_client
from inference.interface.answer import Chunk
from inference.interface.upstream import Ambiguous, StreamBroken
from tests.inference.adapters.attempts import (
    PUBLIC_ID,
    Endpoints,
    chat,
    chat_request,
    opened,
    read_all,
    read_until_broken,
)
from tests.inference.adapters.wire import chunk, chunked_head, serving, until_set_and_noticed
from tests.support.concurrency import eventually_async
from tests.support.upstream import LEAKS, FakeUpstream

adapter = Endpoints("openai")

FRAMINGS = [
    "small-1",
    "sse-bytewise",
    "sse-coalesced",
    "sse-comments",
    "sse-crlf",
    "sse-multiline",
    "sse-split-lines",
    "sse-split-utf8",
]


async def stream(upstream: FakeUpstream, model: str, body: dict[str, Any] | None = None, **changes: Any) -> list[Chunk]:
    attempt = chat(upstream.base_url, model, {"stream": True, **(body or {})}, **changes)
    return await read_all(await opened(await adapter.open_stream(attempt)))


def events_of(chunks: list[Chunk]) -> list[Any]:
    data = b"".join(part.data for part in chunks)
    assert data.endswith(b"\n\n")
    lines = data.removesuffix(b"\n\n").split(b"\n\n")
    assert all(line.startswith(b"data: ") and b"\n" not in line for line in lines)
    return [orjson.loads(line[6:]) for line in lines]


def text_of(events: list[Any]) -> str:
    return "".join(choice["delta"].get("content") or "" for event in events for choice in event["choices"])


@pytest.mark.parametrize("model", FRAMINGS)
async def test_every_framing_gives_the_same_stream(upstream: FakeUpstream, model: str) -> None:
    text = "naïve 日本語 🙂🙃 fin"
    chunks = await stream(upstream, f"{model}?text={text.replace(' ', '+')}")
    events = events_of(chunks)
    assert text_of(events) == text
    assert {(event["id"], event["model"], event["object"]) for event in events} == {
        (PUBLIC_ID, "fast", "chat.completion.chunk")
    }
    assert [event["choices"][0]["finish_reason"] for event in events] == [None] * 5 + ["stop"]
    assert sum(part.output_deltas for part in chunks) == 4
    assert sum(part.output_bytes for part in chunks) == len(text.encode())
    assert [part.usage["completion_tokens"] for part in chunks if part.usage] == [4]
    assert not any(leak.encode() in part.data for leak in LEAKS for part in chunks)


async def test_usage_is_always_requested_and_sent_only_to_clients_that_request_it(upstream: FakeUpstream) -> None:
    hidden = events_of(await stream(upstream, "small-1"))
    assert all("usage" not in event for event in hidden)
    assert all(event["choices"] for event in hidden)
    options = {"stream_options": {"include_usage": True, "include_obfuscation": False}}
    shown = events_of(await stream(upstream, "small-1", options, show_usage=True))
    assert [event["usage"] for event in shown[:-1]] == [None] * (len(shown) - 1)
    assert shown[-1]["choices"] == []
    assert shown[-1]["usage"]["completion_tokens"] == 16
    sent = [entry.body["stream_options"] for entry in upstream.ledger if entry.body]
    assert sent == [{"include_usage": True}, {"include_usage": True, "include_obfuscation": False}]


async def test_missing_usage_is_not_sent(upstream: FakeUpstream) -> None:
    for form in ("missing", "null"):
        chunks = await stream(upstream, f"small-1?usage={form}")
        assert all(part.usage is None for part in chunks)
        assert all(event["choices"] and "usage" not in event for event in events_of(chunks))


async def test_usage_in_ordinary_chunks_is_reported_as_it_grows(upstream: FakeUpstream) -> None:
    def event(tokens: int) -> bytes:
        choice = {"index": 0, "delta": {"content": "x"}, "finish_reason": None}
        return b"data: %b\n\n" % orjson.dumps({"choices": [choice], "usage": {"completion_tokens": tokens}})

    async with serving(sse(b"".join(event(tokens) for tokens in (1, 2, 3)) + b"data: [DONE]\n\n")) as wire:
        chunks = await read_all(await opened(await adapter.open_stream(chat(wire.base_url))))
    assert chunks[-1].usage == {"completion_tokens": 3}
    assert sum(part.output_deltas for part in chunks) == 3
    assert b"usage" not in b"".join(part.data for part in chunks)


async def test_events_that_arrive_together_are_forwarded_a_few_at_a_time() -> None:
    event = b'data: {"choices":[{"index":0,"delta":{"content":"ab"}}]}\n\n'
    async with serving(sse(event * 20 + b"data: [DONE]\n\n")) as wire:
        chunks = await read_all(await opened(await adapter.open_stream(chat(wire.base_url))))
    assert [part.output_deltas for part in chunks] == [8, 8, 4]
    assert [part.output_bytes for part in chunks] == [16, 16, 8]


async def test_streamed_tool_calls_keep_one_id(upstream: FakeUpstream) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    chunks = await stream(upstream, "small-1", {"tools": tools, "tool_choice": "required", "n": 2})
    calls = [
        (choice["index"], call.get("id"))
        for event in events_of(chunks)
        for choice in event["choices"]
        for call in choice["delta"].get("tool_calls", [])
    ]
    named = [(choice, name) for choice, name in calls if name]
    assert named == [(index, f"call_01k6wq5zj3y8r2v7n4m9tbcdef_{index}_0") for index in (0, 1)]
    assert sum(part.output_bytes for part in chunks) > 0
    assert not any(leak.encode() in part.data for leak in LEAKS for part in chunks)


@pytest.mark.parametrize(
    ("model", "code", "reason"),
    [
        ("cut-first-event", "upstream_error", "connection lost"),
        ("cut-mid-stream", "upstream_error", "connection lost"),
        ("cut-mid-stream?reset=1", "upstream_error", "connection lost"),
        ("cut-mid-event", "upstream_error", "connection lost"),
        ("cut-before-done", "upstream_error", "connection lost"),
        ("no-done", "upstream_error", "connection lost"),
        ("hang-first-event", "upstream_timeout", "timed out"),
        ("hang-mid-body", "upstream_timeout", "timed out"),
        ("usage-infinite", "upstream_invalid", "malformed"),
        ("error-event", "upstream_error", "the upstream broke its stream off with an error"),
    ],
)
async def test_a_stream_without_an_end_breaks_after_what_was_delivered(
    upstream: FakeUpstream, model: str, code: str, reason: str
) -> None:
    attempt = chat(upstream.base_url, model, timeout_seconds=1.5 if model.startswith("hang") else 30)
    chunks, broken = await read_until_broken(await opened(await adapter.open_stream(attempt)))
    assert (broken.error.code, broken.reason) == (code, reason)
    [entry] = upstream.ledger
    assert sum(part.output_deltas for part in chunks) == entry.completion_tokens
    assert not any(leak.encode() in part.data for leak in LEAKS for part in chunks)


@pytest.mark.parametrize(
    "first",
    [
        b"data: {not json}\n\n",
        b"data: []\n\n",
        b'data: {"choices":"none"}\n\n',
        b'data: {"choices":[1]}\n\n',
        b'data: {"hello":"world"}\n\n',
        b'data: {"choices":[],"usage":7}\n\n',
        b"data: " + b"[" * 300 + b"]" * 300 + b"\n\n",
        b'data: {"choices":[],"deep":' + b"[" * 300 + b"]" * 300 + b"}\n\n",
        b"data: \xff\xfe\n\n",
        b'data: {"choices":[{"index":0,"delta":{"content":"\\ud800"}}]}\n\n',
        b"data: " + b"x" * (2 * 1024 * 1024),
        b"",
    ],
)
async def test_a_failure_before_the_first_event_is_an_outcome(first: bytes) -> None:
    async with serving(sse(first)) as wire:
        outcome = await adapter.open_stream(chat(wire.base_url))
    assert isinstance(outcome, Ambiguous)
    assert outcome.error.code == ("upstream_invalid" if first else "upstream_error")


async def test_an_error_event_before_anything_else_is_an_outcome() -> None:
    async with serving(
        sse(b'event: error\ndata: {"error":{"message":"host-7 is down","code":"overloaded"}}\n\n')
    ) as wire:
        outcome = await adapter.open_stream(chat(wire.base_url))
    assert isinstance(outcome, Ambiguous)
    assert outcome.error.code == "upstream_error"
    assert "host-7" not in outcome.error.message


async def test_the_events_before_a_broken_one_are_delivered() -> None:
    good = b'data: {"choices":[{"index":0,"delta":{"content":"ok"}}]}\n\n'
    async with serving(sse(good * 2 + b"data: {broken\n\n" + good)) as wire:
        opened_stream = await opened(await adapter.open_stream(chat(wire.base_url)))
        chunks = [await anext(opened_stream.__aiter__())]
        with pytest.raises(StreamBroken):
            await anext(opened_stream.__aiter__())
        await opened_stream.close()
    assert sum(part.output_deltas for part in chunks) == 2


async def test_nothing_after_the_end_is_delivered() -> None:
    good = b'data: {"choices":[{"index":0,"delta":{"content":"ok"}}]}\n\n'
    async with serving(sse(good + b"data: [DONE]\n\n" + good)) as wire:
        chunks = await read_all(await opened(await adapter.open_stream(chat(wire.base_url))))
    assert len(events_of(chunks)) == 1


async def test_a_filter_notice_without_choices_is_forwarded(upstream: FakeUpstream) -> None:
    notice = b'data: {"id":"","choices":[],"usage":null,"prompt_filter_results":[{"prompt_index":0}]}\n\n'
    async with serving(sse(notice + b"data: [DONE]\n\n")) as wire:
        [event] = events_of(await read_all(await opened(await adapter.open_stream(chat(wire.base_url)))))
    assert event == {"id": PUBLIC_ID, "choices": [], "prompt_filter_results": [{"prompt_index": 0}], "model": "fast"}


async def test_closing_a_stream_closes_the_upstreams_connection(upstream: FakeUpstream) -> None:
    opened_stream = await opened(await adapter.open_stream(chat(upstream.base_url, "endless")))
    async for _ in opened_stream:
        break
    await opened_stream.close()
    await opened_stream.close()
    [entry] = upstream.ledger
    await eventually_async(lambda: entry.outcome == "left")


async def test_cancelling_while_a_stream_opens_closes_the_connection(upstream: FakeUpstream) -> None:
    attempt = chat(upstream.base_url, "hang-before-headers", timeout_seconds=30)
    opening = asyncio.create_task(adapter.open_stream(attempt))
    await eventually_async(lambda: len(list(upstream.ledger)) == 1)
    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening
    [entry] = upstream.ledger
    await eventually_async(lambda: entry.outcome == "left")


async def test_a_streams_first_byte_timeout_is_longer_than_its_idle_timeout(
    upstream: FakeUpstream, settings: Any
) -> None:
    settings.UPSTREAM_IDLE_SECONDS = 1.0
    thoughtful = await stream(upstream, "small-1?delay_ms=1500&tokens=2", timeout_seconds=30)
    assert sum(part.output_deltas for part in thoughtful) == 2
    opened_stream = await opened(
        await adapter.open_stream(chat(upstream.base_url, "small-1?tokens=3&token_delay_ms=9000", timeout_seconds=30))
    )
    with pytest.raises(StreamBroken) as broken:
        await read_all(opened_stream)
    assert broken.value.error.code == "upstream_timeout"


async def test_a_steady_stream_outlasts_the_upstreams_timeout(upstream: FakeUpstream) -> None:
    chunks = await stream(upstream, "small-1?tokens=10&token_delay_ms=250", timeout_seconds=2.0)
    assert sum(part.output_deltas for part in chunks) == 10


async def test_a_finished_stream_releases_its_connection_for_reuse(upstream: FakeUpstream) -> None:
    good = b'data: {"choices":[{"index":0,"delta":{"content":"ok"}}]}\n\ndata: [DONE]\n\n'

    async def end_late(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head() + chunk(good))
        await writer.drain()
        await asyncio.sleep(0.02)
        writer.write(chunk(b""))
        await writer.drain()
        is_closed.set()

    is_closed = asyncio.Event()
    async with serving(end_late) as wire:
        for _ in range(3):
            await read_all(await opened(await adapter.open_stream(chat(wire.base_url))))
            await until_set_and_noticed(is_closed)
        assert [request.connection for request in wire.requests] == [1, 1, 1]


def test_the_gateways_terminal_events_have_the_vendors_shapes() -> None:
    request = chat_request({"n": 2})
    layout = request.stream_format("fast", PUBLIC_ID, request.meter())
    assert layout.terminator == b"data: [DONE]\n\n"
    error = orjson.loads(layout.error(UpstreamTimeout(), "req_1").removeprefix(b"data: "))
    assert error == UpstreamTimeout().body("req_1")
    cut = orjson.loads(layout.cut().removeprefix(b"data: "))
    assert isinstance(cut.pop("created"), int)
    assert cut == {
        "id": PUBLIC_ID,
        "object": "chat.completion.chunk",
        "model": "fast",
        "choices": [{"index": index, "delta": {}, "finish_reason": "length"} for index in (0, 1)],
    }


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cuts=st.lists(st.integers(1, 900), max_size=12))
def test_chunk_boundaries_in_the_upstreams_bytes_change_nothing(cuts: list[int]) -> None:
    choices = [{"index": 0, "delta": {"content": text}} for text in ("né", "日本", "🙂", " fin")]
    events: list[Any] = [{"id": "upstream-1", "choices": [choice], "usage": None} for choice in choices]
    events.append({"choices": [], "usage": {"completion_tokens": 4}})
    raw = b"".join(b"data: %b\r\n\r\n" % orjson.dumps(event) for event in events) + b"data: [DONE]\n\n"

    async def deliver(cut: list[int]) -> tuple[bytes, int, int, Any]:
        at = [0, *sorted({place for place in cut if place < len(raw)}), len(raw)]
        pieces = [raw[start:end] for start, end in pairwise(at)]
        async with serving(sse(*pieces)) as wire:
            chunks = await read_all(await opened(await adapter.open_stream(chat(wire.base_url))))
        await close_client()
        usage = [part.usage for part in chunks if part.usage]
        return (
            b"".join(part.data for part in chunks),
            sum(part.output_deltas for part in chunks),
            sum(part.output_bytes for part in chunks),
            usage,
        )

    assert asyncio.run(deliver(cuts)) == asyncio.run(deliver([]))


def sse(*pieces: bytes) -> Any:
    """Answer with an event stream in these pieces, each in its own TCP segment, then close."""

    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(chunked_head())
        for piece in pieces:
            if piece:
                writer.write(chunk(piece))
                await writer.drain()
                await asyncio.sleep(0)
        writer.write(chunk(b""))
        await writer.drain()

    return answer
