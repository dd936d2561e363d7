"""Any bytes from an upstream, stopping anywhere, result in an outcome or a stream that ends, never in an exception."""

import asyncio
import contextlib

from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.outbound.client import close_client
from inference.interface.answer import Answer
from inference.interface.upstream import Outcome, StreamBroken
from tests.inference.adapters.attempts import Endpoints, chat
from tests.inference.adapters.wire import GOOD, chunk, chunked_head, response, serving

adapter = Endpoints("openai")

EVENT = b'data: {"choices":[{"index":0,"delta":{"content":"ok"}}],"usage":null}\n\n'
HONEST = [
    response(GOOD),
    response(b'{"error":{"code":"invalid_value","param":"messages"}}', status="400 Bad Request"),
    response(b'{"error":{"code":"overloaded"}}', status="503 Busy", extra="Retry-After: 0\r\n"),
    chunked_head() + chunk(EVENT) * 3 + chunk(b"data: [DONE]\n\n") + chunk(b""),
    chunked_head("application/json") + chunk(GOOD[:30]) + chunk(GOOD[30:]) + chunk(b""),
]
CHANGES = st.lists(st.tuples(st.integers(0, 400), st.integers(0, 8), st.binary(max_size=6)), max_size=6)


def changed(answer: bytes, changes: list[tuple[int, int, bytes]]) -> bytes:
    """Replace bytes at some places."""
    for at, length, new in changes:
        answer = answer[:at] + new + answer[at + length :]
    return answer


async def call_both_ways(raw: bytes, pause_at: int) -> None:
    async def answer(writer: asyncio.StreamWriter) -> None:
        writer.write(raw[:pause_at])
        await writer.drain()
        await asyncio.sleep(0.001)
        writer.write(raw[pause_at:])
        await writer.drain()
        writer.close()

    async with serving(answer) as wire:
        outcome = await adapter.send(chat(wire.base_url, timeout_seconds=5))
        assert isinstance(outcome, Outcome)
        assert not isinstance(outcome, Answer) or outcome.body["model"] == "fast"
        stream = await adapter.open_stream(chat(wire.base_url, timeout_seconds=5))
        if not isinstance(stream, Outcome):
            with contextlib.suppress(StreamBroken):
                async for part in stream:
                    assert part.data.endswith(b"\n\n") or part.data == b""
            await stream.close()
    await close_client()


@settings(max_examples=150, deadline=None)
@given(answer=st.sampled_from(HONEST), changes=CHANGES, pause_at=st.integers(0, 400))
def test_damaged_answers_are_outcomes(answer: bytes, changes: list[tuple[int, int, bytes]], pause_at: int) -> None:
    async def within_seconds() -> None:
        async with asyncio.timeout(30):  # both calls may last as long as their own timeouts
            await call_both_ways(changed(answer, changes), pause_at)

    asyncio.run(within_seconds())


@settings(max_examples=30, deadline=None)
@given(raw=st.binary(max_size=400), pause_at=st.integers(0, 400))
def test_any_bytes_are_an_outcome(raw: bytes, pause_at: int) -> None:
    asyncio.run(call_both_ways(raw, pause_at))
