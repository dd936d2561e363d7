"""What a server and a worker log with LOG_FORMAT=json and LOG_REQUESTS=true: objects, and one line for each request."""

import json
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.database import database_url
from tests.support.processes import ServerProcess, worker_process
from tests.support.stage import CHAT, Stage, chat

PROMPT, MAIL = "a-prompt-that-nobody-logs", "somebody@mail.example"
SETTINGS = {"LOG_FORMAT": "json", "LOG_REQUESTS": "true", "DRAIN_NOTICE_SECONDS": "0"}


@contextmanager
def server(workers: int) -> Iterator[ServerProcess]:
    """Run the server as the supervisor starts it, on uvicorn's port."""
    command = (sys.executable, "-m", "uvicorn", "gateway.asgi:application", "--loop=uvloop", f"--workers={workers}")
    protocols = ("--http=gateway.server.protocol:Bounded", "--ws=gateway.server.sockets:BoundedSocket")
    running = ServerProcess(settings={**os.environ, "DATABASE_URL": database_url(), **SETTINGS})
    running.command = (*command, *protocols, "--no-proxy-headers", "--log-level=warning", f"--port={running.port}")
    with running:
        eventually(lambda: running.health() == 200)
        yield running


def objects(running: ServerProcess) -> list[dict[str, Any]]:
    return [json.loads(line) for line in running.stderr.splitlines() if line.startswith("{")]


def requests_of(running: ServerProcess) -> list[dict[str, Any]]:
    """Return the lines of requests, but those of the probe that waits for the start."""
    lines = [each for each in objects(running) if each["logger"] == "gateway.requests"]
    return [each for each in lines if each["route"] != "/healthz"]


def test_each_request_is_one_line_without_what_it_carries(stage: Stage) -> None:
    alias = stage.model(max_output_tokens=20)
    caller = stage.caller()
    with server(1) as running:
        origin = f"http://127.0.0.1:{running.port}"
        with httpx.Client(base_url=origin, timeout=PATIENCE_SECONDS) as client:
            caller.client, caller.origin = client, origin
            body = {**chat(alias), "messages": [{"role": "user", "content": PROMPT}]}
            answer = caller.post(body, headers={"X-Request-Id": "req_mine"})
            assert answer.status_code == 200
            refused = client.get("/v1/organizations/org_1?q=" + PROMPT, headers={"Authorization": "DPoP a-token"})
            client.get(f"/nothing/{MAIL}?q={PROMPT}")
            client.request("PROPFIND", "/livez")
            client.get("/v1/realtime")
            client.get("/admin/accounts/account/17/change/")
        with pytest.raises(InvalidStatus):
            connect(f"ws://127.0.0.1:{running.port}/ws/{PROMPT}")
        eventually(lambda: len(requests_of(running)) >= 7)
        lines = requests_of(running)
        found = [(each["method"], each["route"], each.get("status")) for each in lines]
        assert found == [
            ("POST", CHAT, 200),
            ("GET", "/v1/organizations/<str:org_id>", 401),
            ("GET", "-", 404),
            ("OTHER", "/livez", 405),
            ("GET", "/v1/realtime", found[4][2]),
            ("GET", "/admin/accounts/account/<path:object_id>/change/", 302),
            ("GET", "-", 404),
        ]
        assert all(each["level"] == "INFO" and each["duration_ms"] >= 0 for each in lines)
        assert lines[0]["request_id"] == "req_mine"
        assert lines[1]["request_id"] == refused.headers["x-request-id"]
        secrets = (PROMPT, MAIL, caller.token, "a-token", stage.api_key, "org_1")
        assert [secret for secret in secrets if secret in running.log] == []
        assert [line for line in running.stderr.splitlines() if not line.startswith("{")] == []


def test_every_line_of_two_workers_is_an_object(stage: Stage) -> None:
    with server(2) as running:
        running.stop()
        assert [line for line in running.stderr.splitlines() if not line.startswith("{")] == []


def test_every_line_of_a_worker_is_an_object() -> None:
    with worker_process("celery@", LOG_FORMAT="json", LOG_LEVEL="INFO") as worker:
        eventually(lambda: '" ready.' in worker.log or " ready." in worker.log)
        logged = [line for line in worker.stderr.splitlines() if line and not line.startswith("{")]
        assert logged == []
        assert {"celery.worker.consumer.connection", "celery.apps.worker"} & {
            json.loads(line)["logger"] for line in worker.stderr.splitlines() if line
        }
