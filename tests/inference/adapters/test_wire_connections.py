"""Connections to an upstream are opened, reused and closed without hanging, leaking, or sending anything twice."""

import asyncio
import contextlib
import os
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import aiohttp
import pytest
from yarl import URL

from gateway.core.outbound.client import client, close_client
from gateway.core.outbound.timeouts import answer_timeout
from inference.adapters.exchange import get_object
from inference.interface.answer import Answer
from inference.interface.upstream import Unreachable
from tests.inference.adapters.attempts import API_KEY, Endpoints, assert_ambiguous, chat, reporting
from tests.inference.adapters.certificates import self_signed
from tests.inference.adapters.wire import GOOD, chunked_head, response, serving, until_set_and_noticed
from tests.support.concurrency import eventually_async
from tests.support.upstream import FakeUpstream

adapter = Endpoints("openai")


async def test_an_unsolicited_answer_does_not_reach_the_next_call() -> None:
    late, is_written = response(GOOD.replace(b'"ok"', b'"evil"')), asyncio.Event()

    async def answer_twice(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD))
        await writer.drain()
        await asyncio.sleep(0.03)
        writer.write(late)
        await writer.drain()
        is_written.set()

    async with serving(answer_twice) as wire:
        for _ in range(3):
            outcome = await adapter.send(chat(wire.base_url))
            assert isinstance(outcome, Answer)
            assert outcome.body["choices"][0]["message"]["content"] == "ok"
            await until_set_and_noticed(is_written)
        assert [request.connection for request in wire.requests] == [1, 2, 3]


@pytest.mark.parametrize("fields", [b"", b"Upgrade: h2c\r\n", b"Connection: keep-alive\r\n"])
async def test_a_connection_that_switched_protocols_does_not_serve_the_next_call(fields: bytes) -> None:
    switching = b"HTTP/1.1 101 Switching Protocols\r\n%b\r\n" % fields
    late = response(GOOD.replace(b'"ok"', b'"evil"'))  # to the first request, in whatever protocol it is by now

    async def answer_by_connection(writer: asyncio.StreamWriter) -> None:
        writer.write(late if wire.requests[-1].connection == 1 else response(GOOD))
        await writer.drain()

    async with serving(switching, answer_by_connection) as wire:
        assert_ambiguous(await adapter.send(chat(wire.base_url)), "upstream_invalid")
        outcome = await adapter.send(chat(wire.base_url))
        assert isinstance(outcome, Answer)
        assert outcome.body["choices"][0]["message"]["content"] == "ok"


async def test_a_reused_connection_that_dies_under_a_call_is_not_sent_again() -> None:
    async def hang_up(writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serving(response(GOOD), hang_up, response(GOOD)) as wire:
        assert isinstance(await adapter.send(chat(wire.base_url)), Answer)
        assert_ambiguous(await adapter.send(chat(wire.base_url)), "upstream_error")
        assert [request.connection for request in wire.requests] == [1, 1]


async def test_a_look_up_whose_connection_is_lost_is_sent_once() -> None:
    async def hang_up(writer: asyncio.StreamWriter) -> None:
        writer.close()

    async with serving(response(GOOD), hang_up, response(GOOD)) as wire:
        target = chat(wire.base_url).target
        await get_object(target, "/generation", {"id": "1"}, 5.0)
        with pytest.raises(aiohttp.ClientError):
            await get_object(target, "/generation", {"id": "1"}, 5.0)
        assert [request.connection for request in wire.requests] == [1, 1]


async def test_an_idle_connection_that_was_closed_is_replaced() -> None:
    async def answer_and_close(writer: asyncio.StreamWriter) -> None:
        writer.write(response(GOOD))
        await writer.drain()
        writer.close()

    async with serving(answer_and_close) as wire:
        for _ in range(3):
            assert isinstance(await adapter.send(chat(wire.base_url)), Answer)
            await until_set_and_noticed(wire.left)
        assert [request.connection for request in wire.requests] == [1, 2, 3]


async def test_calls_share_a_connection_one_after_another() -> None:
    async with serving(response(GOOD)) as wire:
        for _ in range(5):
            assert isinstance(await adapter.send(chat(wire.base_url)), Answer)
        assert {request.connection for request in wire.requests} == {1}


async def test_connections_send_small_packets_at_once() -> None:
    async with serving(chunked_head()) as wire:
        answer = await client().send("GET", URL(wire.base_url), {}, None, answer_timeout(5.0))
        assert answer._connection is not None
        transport = answer._connection.transport
        assert transport is not None
        raw: socket.socket = transport.get_extra_info("socket")
        answer.close()
        assert raw.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0


async def test_cookies_are_not_stored() -> None:
    async with serving(response(GOOD, extra="Set-Cookie: session=1; Path=/\r\n")) as wire:
        for _ in range(2):
            await adapter.send(chat(wire.base_url))
    assert all("Cookie" not in request.headers for request in wire.requests)


async def test_the_environment_names_no_proxy_and_no_credentials(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    netrc = tmp_path / "netrc"
    netrc.write_text("default login evil password evil\n")
    netrc.chmod(0o600)
    async with serving(response(GOOD)) as proxy, serving(response(GOOD)) as wire:
        for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
            monkeypatch.setenv(name, proxy.base_url.removesuffix("/v1"))
        monkeypatch.setenv("NETRC", os.fspath(netrc))
        outcome = await adapter.send(chat(wire.base_url, api_key=""))
        assert proxy.requests == []
    assert isinstance(outcome, Answer)
    assert "Authorization" not in wire.requests[0].headers


async def test_an_upstreams_organization_and_project_go_with_the_call() -> None:
    options = {"organization": "org-1", "project": "proj-2"}
    async with serving(response(GOOD)) as wire:
        await adapter.send(chat(wire.base_url, options=options))
    headers = wire.requests[0].headers
    assert (headers["OpenAI-Organization"], headers["OpenAI-Project"]) == ("org-1", "proj-2")
    assert wire.requests[0].line == "POST /v1/chat/completions HTTP/1.1"


@pytest.mark.parametrize(
    ("options", "header", "value"),
    [
        ({}, "Authorization", f"Bearer {API_KEY}"),
        ({"auth": "bearer"}, "Authorization", f"Bearer {API_KEY}"),
        ({"auth": "api-key"}, "api-key", API_KEY),
    ],
)
async def test_a_key_goes_in_the_header_of_the_row(options: dict[str, str], header: str, value: str) -> None:
    async with serving(response(GOOD)) as wire:
        await adapter.send(chat(wire.base_url, options=options))
    headers = wire.requests[0].headers
    assert headers[header] == value
    assert {name for name, sent in headers.items() if API_KEY in sent} == {header}


async def test_the_query_of_the_row_ends_the_url() -> None:
    async with serving(response(GOOD)) as wire:
        await adapter.send(chat(wire.base_url, options={"query": {"api-version": "preview"}}))
    assert wire.requests[0].line == "POST /v1/chat/completions?api-version=preview HTTP/1.1"


async def test_tls_to_a_server_without_it_took_nothing() -> None:
    async with serving(response(GOOD)) as wire:
        outcome = await adapter.send(chat(wire.base_url.replace("http://", "https://")))
    assert isinstance(outcome, Unreachable)
    assert wire.requests == []


@pytest.mark.parametrize("kind", ["send", "open_stream"])
async def test_on_send_is_called_before_the_first_byte(kind: str) -> None:
    async with serving(response(GOOD)) as wire:
        seen: list[int] = []
        attempt = reporting(chat(wire.base_url), on_send=lambda: seen.append(len(wire.requests)))
        await getattr(adapter, kind)(attempt)
    assert seen == [0]
    assert len(wire.requests) == 1


async def test_on_send_is_not_called_where_no_connection_was_made() -> None:
    seen: list[str] = []
    attempt = reporting(chat("http://127.0.0.1:1/v1"), on_send=lambda: seen.append("sent"))
    assert isinstance(await adapter.send(attempt), Unreachable)
    assert seen == []


async def test_a_certificate_that_nobody_vouches_for_took_nothing(tmp_path: Path) -> None:
    server = await asyncio.start_server(lambda reader, writer: None, "127.0.0.1", 0, ssl=self_signed(tmp_path))
    port = server.sockets[0].getsockname()[1]
    try:
        outcome = await adapter.send(chat(f"https://127.0.0.1:{port}/v1"))
    finally:
        server.close()
    assert isinstance(outcome, Unreachable)


async def test_a_connection_that_never_comes_took_nothing(full_port: int, settings: Any) -> None:
    settings.UPSTREAM_CONNECT_SECONDS = 0.2
    outcome = await adapter.send(chat(f"http://127.0.0.1:{full_port}/v1", timeout_seconds=2))
    assert isinstance(outcome, Unreachable)


async def test_waiting_for_a_free_connection_took_nothing(upstream: FakeUpstream, settings: Any) -> None:
    settings.UPSTREAM_CONNECTIONS_MAX, settings.UPSTREAM_CONNECT_SECONDS = 1, 0.2
    await close_client()
    held = asyncio.create_task(adapter.send(chat(upstream.base_url, "small-1?delay_ms=2000", timeout_seconds=60)))
    await asyncio.sleep(0.05)
    assert isinstance(await adapter.send(chat(upstream.base_url)), Unreachable)
    assert isinstance(await held, Answer)
    await close_client()
    assert len(list(upstream.ledger)) == 1


async def test_cancelling_a_call_hangs_up() -> None:
    async def stay_silent(writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(0)

    async with serving(stay_silent) as wire:
        call = asyncio.create_task(adapter.send(chat(wire.base_url, timeout_seconds=30)))
        await eventually_async(lambda: bool(wire.requests))
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await call
        async with asyncio.timeout(60):
            await wire.left.wait()


@pytest.fixture
def full_port() -> Iterator[int]:
    """Listen on a port whose backlog is full, so that further connections get no response."""
    with contextlib.ExitStack() as opened:
        listener = opened.enter_context(socket.socket())
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        for _ in range(8):
            client = opened.enter_context(socket.socket())
            client.setblocking(False)
            client.connect_ex(listener.getsockname())
        yield listener.getsockname()[1]
