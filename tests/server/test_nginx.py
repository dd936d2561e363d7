"""The nginx block of docs/operations.md, as it stands there, in front of a gateway."""

import json
import os
import re
import shutil
import socket
import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
from websockets.sync.client import connect

from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.inference.adapters.certificates import write_certificate
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.sessions import PATH, Session, headers_of, live_model, settled, talker
from tests.support.stage import Stage, chat

HOST = "gateway.example"
MAIN = """daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{}}
http {{
    access_log off;
    client_body_temp_path {folder}/body;
    proxy_temp_path {folder}/proxy;
    {block}
}}
"""


def documented_block() -> str:
    """Return the block of the page."""
    (block,) = re.findall(r"```nginx\n(.*?)```", (PROJECT_DIR / "docs" / "operations.md").read_text(), re.DOTALL)
    return str(block)


def on_this_machine(block: str, port: int, upstream: str, pem: Path) -> str:
    """Replace the ports and the certificate, each of which the block has once."""
    for pattern, replacement in (
        (r"listen 443 ssl;", f"listen 127.0.0.1:{port} ssl;"),
        (r"proxy_pass http://127.0.0.1:8000;", f"proxy_pass {upstream};"),
        (r"ssl_certificate +\S+;", f"ssl_certificate {pem};"),
        (r"ssl_certificate_key +\S+;", f"ssl_certificate_key {pem};"),
    ):
        block, found = re.subn(pattern, replacement, block)
        assert found == 1, pattern
    return block


class Way(httpx.HTTPTransport):
    """Connects to the proxy for requests to its public name."""

    def __init__(self, port: int, context: ssl.SSLContext) -> None:
        super().__init__(verify=context)
        self._port = port

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send a request for the name to this machine."""
        request.extensions["sni_hostname"] = HOST
        request.url = request.url.copy_with(host="127.0.0.1", port=self._port)
        return super().handle_request(request)


@pytest.fixture
def port(stage: Stage, tmp_path: Path) -> Iterator[int]:
    """Run nginx in front of the gateway, which the stage's calls then go through; yield its port."""
    program = shutil.which("nginx", path=f"{os.environ.get('PATH', '')}:/usr/sbin")
    assert program, "nginx is not installed; .ci/run installs it"
    pem, port = write_certificate(tmp_path / "server.pem", HOST), free_port()
    config = tmp_path / "nginx.conf"
    block = on_this_machine(documented_block(), port, stage.origin, pem)
    config.write_text(MAIN.format(folder=tmp_path, block=block))
    process = subprocess.Popen([program, "-c", config, "-e", tmp_path / "error.log"])
    stage.client = httpx.Client(timeout=30, transport=Way(port, ssl.create_default_context(cafile=str(pem))))
    stage.origin = f"https://{HOST}"
    try:
        eventually(lambda: answers(stage) or process.poll() is not None)
        assert process.poll() is None, (tmp_path / "error.log").read_text()
        yield port
    finally:
        process.terminate()
        process.wait(timeout=30)


def answers(stage: Stage) -> bool:
    try:
        return stage.client.get(f"{stage.origin}/healthz").status_code == 200
    except httpx.ConnectError:
        return False


@pytest.mark.usefixtures("port")
def test_a_call_is_proven_and_charged(stage: Stage) -> None:
    caller = stage.caller()
    answer = caller.post(chat(stage.model(max_output_tokens=20)))
    assert answer.status_code == 200
    assert int(answer.headers["x-service-charge-microusd"]) == caller.only_call.charge_microusd


@pytest.mark.usefixtures("port")
def test_the_events_of_a_stream_are_not_held_back(stage: Stage) -> None:
    caller, alias = stage.caller(), stage.model("small-1?tokens=20")
    with stage.upstream.holding(), caller.stream(chat(alias)) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        assert caller.only_call.state == "dispatched"
        stage.upstream.release()
        rest = [line for line in lines if line]
    assert rest[-2] == "data: [DONE]"
    assert json.loads(rest[-1].removeprefix(": service "))["charge_microusd"] == caller.only_call.charge_microusd


def test_a_live_session_is_opened(stage: Stage, port: int, tmp_path: Path) -> None:
    caller, alias = talker(stage), live_model(stage)
    context = ssl.create_default_context(cafile=str(tmp_path / "server.pem"))
    url, way = f"wss://{HOST}{PATH}?model={alias}", socket.create_connection(("127.0.0.1", port))
    headers = headers_of(caller)
    with connect(url, sock=way, ssl=context, additional_headers=headers, open_timeout=PATIENCE_SECONDS) as opened:
        session = Session(opened)
        session.say(HELLO)
    assert settled(caller).charge_microusd == cost(4, 0, 8)
