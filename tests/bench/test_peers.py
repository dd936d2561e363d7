"""Peers are asked as they want to be asked, and pinned from no particular place."""

import json
from pathlib import Path

import pytest
from aiohttp import web

from bench.peer_lanes import RUST_HEADER, RustLane, answered_by_rust, portkey_lane
from bench.processes import ROOT
from bench.servers import UpstreamServer
from tests.support.server_thread import ServerThread


class Messages(ServerThread):
    """Answers messages, where `kinds` says so in the name of LiteLLM's Rust core."""

    def __init__(self, *kinds: bool) -> None:
        super().__init__()
        self.kinds = kinds

    def application(self) -> web.Application:
        app = web.Application()
        app.router.add_post("/v1/messages", self._answer)
        return app

    async def _answer(self, request: web.Request) -> web.Response:
        stream = (await request.json()).get("stream", False)
        return web.Response(headers={RUST_HEADER: "true"} if stream in self.kinds else {})


def test_headers_say_where_portkey_sends_a_request(tmp_path: Path) -> None:
    server = UpstreamServer(tmp_path)
    [request] = portkey_lane(8787, "http://127.0.0.1:9000", server).render(1, stream=True)
    head, _, content = request.partition(b"\r\n\r\n")
    assert b"\r\nx-portkey-provider: openai\r\nx-portkey-custom-host: http://127.0.0.1:9000/v1" in head
    assert json.loads(content)["stream"] is True


def test_the_lock_pins_what_streams_need_and_names_no_registry() -> None:
    packages = json.loads((ROOT / "bench" / "package-lock.json").read_text())["packages"]
    versions = {name.removeprefix("node_modules/"): package.get("version") for name, package in packages.items()}
    assert versions["@portkey-ai/gateway"] == "1.15.2"
    assert versions["hono"] == "4.9.7"
    assert versions["@hono/node-server"] == "1.3.3"
    assert not [name for name, package in packages.items() if "resolved" in package]
    assert all("integrity" in package for name, package in packages.items() if name)


def test_a_kind_is_measured_only_where_rust_answers_it() -> None:
    with Messages(False) as server:
        assert [answered_by_rust(server.port, stream=stream) for stream in (False, True)] == [True, False]
        lane = RustLane(server.port, [False], None)
        assert [lane.takes(stream=stream, concurrency=16) for stream in (False, True)] == [True, False]
        with lane.conditions():
            pass


def test_an_answer_in_python_ends_the_run_before_and_after_a_measurement() -> None:
    with Messages(False, True) as server:
        lane = RustLane(server.port, [False, True], None)
        with pytest.raises(RuntimeError, match="streams were answered in Python"), lane.conditions():
            server.kinds = (False,)
        with pytest.raises(RuntimeError, match="streams were answered in Python"), lane.conditions():
            pytest.fail("it was measured")
