"""An upstream that sends more than was requested is reported, every process stops reusing its connections, and an operator
decides when they are reused again."""

import json
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from gateway.core.outbound.distrust import distrust
from inference.models import Upstream
from inference.queries import catalogue
from tests.gateway.operators import address, clerk
from tests.support.concurrency import eventually
from tests.support.server_thread import http_server
from tests.support.stage import Caller, Stage, chat

ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [{"index": 0, "message": {"role": "assistant", "content": "ok"}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
    }
).encode()


class Surplus:
    """An upstream that answers `answers` times, and what each request's Connection header said."""

    def __init__(self) -> None:
        self.answers = 2
        self.connections: list[str | None] = []


@pytest.fixture
def surplus() -> Surplus:
    return Surplus()


@pytest.fixture
def base_url(surplus: Surplus) -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            surplus.connections.append(self.headers["Connection"])
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(ANSWER)
            self.wfile.write((head + ANSWER) * surplus.answers)

        def log_message(self, *arguments: Any) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    with http_server(server) as origin:
        yield f"{origin}/v1"


@pytest.fixture(autouse=True)
def _clean_process() -> Iterator[None]:
    distrust.forget()
    yield
    distrust.forget()


def call(caller: Caller, alias: str) -> None:
    assert caller.post(chat(alias)).json()["choices"][0]["message"]["content"] == "ok"


def reuse(client: Any, row: Upstream) -> Any:
    return client.post(
        f"{address('inference_upstream_changelist')}{row.pk}/reuse/", {"_form_submitted": "on", "reason": "fixed"}
    )


def test_the_operator_and_all_processes_are_notified(
    stage: Stage, surplus: Surplus, base_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    row, other = stage.upstream_row(base_url=base_url), stage.upstream_row(base_url=f"{base_url}/other")
    apart, caller = stage.upstream_row(), stage.caller()
    alias = stage.model("m", upstream=row)
    call(caller, alias)
    eventually(lambda: Upstream.objects.filter(pk__in=(row.pk, other.pk), out_of_turn_at__isnull=False).count() == 2)
    for each in (row, other):
        each.refresh_from_db()
        assert each.alarms == 1
        assert each.last_alarm.endswith("each of its connections is used for one call")
    apart.refresh_from_db()
    assert (apart.alarms, apart.out_of_turn_at) == (0, None)
    assert [record.levelname for record in caplog.records if record.name == "inference.alarms"] == ["ERROR"]

    surplus.answers = 1
    distrust.forget()  # as in another process
    catalogue.forget()
    call(caller, alias)
    assert surplus.connections == [None, "close"]


def test_an_operator_allows_the_connections_to_be_reused(stage: Stage, surplus: Surplus, base_url: str) -> None:
    row, other = stage.upstream_row(base_url=base_url), stage.upstream_row(base_url=f"{base_url}/other")
    alias, caller = stage.model("m", upstream=row), stage.caller()
    operator = clerk("view_upstream", "change_upstream", name=f"decides-{other.name}")
    page = address("inference_upstream_change", other.pk)
    assert reuse(operator, other).status_code == 403
    call(caller, alias)
    eventually(lambda: Upstream.objects.filter(pk=other.pk, out_of_turn_at__isnull=False).exists())
    assert "Each is used for one call until" in operator.get(page).content.decode()
    assert reuse(clerk("view_upstream", name=f"looks-{other.name}"), other).status_code == 403

    surplus.answers = 1
    assert reuse(operator, other)["HX-Redirect"] == page
    assert "Reused" in operator.get(page).content.decode()
    catalogue.forget()
    for _ in range(2):
        call(caller, alias)
    assert surplus.connections == [None, None, None]
    assert not distrust.covers(row.origin or "")
