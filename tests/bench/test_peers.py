"""Peers are asked as they want to be asked, and pinned from no particular place."""

import json
from pathlib import Path

from bench.lanes import portkey_lane
from bench.processes import ROOT
from bench.servers import UpstreamServer


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
