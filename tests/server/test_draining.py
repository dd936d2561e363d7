"""A server that is told to stop: it says so, serves on, closes its port, and ends what is still open in order."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest

from billing.queries import audit
from gateway.run.children import signal_group
from tests.factories.audio import wav
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.inference.routes.test_image_streams import PATH as IMAGES
from tests.inference.routes.test_image_streams import draw, model_at
from tests.inference.routes.test_speech import SPEECH, model_of, speech
from tests.inference.routes.test_transcriptions import TRANSCRIPTIONS
from tests.inference.routes.test_transcriptions import model_of as transcriber
from tests.run.machine import workers_of
from tests.support import plain_http
from tests.support.concurrency import eventually
from tests.support.forms import form
from tests.support.processes import gateway_process
from tests.support.sessions import live_model, opened, talker
from tests.support.stage import CHAT, MESSAGE, RESPONSES, Caller, Stage, ask, chat, message

UVICORN = (
    "gateway.asgi:application",
    "--port={port}",
    "--loop=uvloop",
    "--http=gateway.server.protocol:Bounded",
    "--ws=gateway.server.sockets:BoundedSocket",
    "--no-proxy-headers",
    "--log-level=warning",
)
BALANCE = 1_000_000


@contextmanager
def server(stage: Stage, **settings: str) -> Iterator["subprocess.Popen[bytes]"]:
    """Run the documented command, and send the stage's calls to it."""
    environment = {"DRAIN_NOTICE_SECONDS": "0", "DRAIN_SECONDS": "3600", **settings}
    with gateway_process("uvicorn", UVICORN, **environment) as (stage.origin, process):
        yield process


def status(stage: Stage, path: str) -> int:
    return plain_http.get(stage.origin + path, headers={"Host": "10.0.0.1"}, timeout=30).status_code


def is_closed(stage: Stage) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", int(stage.origin.rpartition(":")[2]))) != 0


def rest_of(answer: Any) -> list[str]:
    return [line for line in answer.iter_lines() if line]


def receipt_of(lines: list[str]) -> Any:
    return json.loads(lines[-1].removeprefix(": service "))


def test_it_serves_on_while_it_says_that_it_is_not_ready_and_a_second_signal_ends_it(stage: Stage) -> None:
    alias = stage.model(max_output_tokens=20)
    with server(stage, DRAIN_NOTICE_SECONDS="3600") as process:
        caller = stage.caller()
        eventually(lambda: [status(stage, path) for path in ("/readyz", "/healthz", "/livez")] == [200, 200, 200])
        assert caller.post(chat(alias)).headers.get("connection") is None
        process.terminate()
        eventually(lambda: status(stage, "/readyz") == 503)
        assert plain_http.get(f"{stage.origin}/readyz", timeout=30).json() == {"status": "not_ready"}
        eventually(lambda: [status(stage, path) for path in ("/healthz", "/livez")] == [200, 200])
        with httpx.Client(timeout=30) as caller.client:
            answer = caller.post(chat(alias))
            assert (answer.status_code, answer.headers["connection"]) == (200, "close")
        process.terminate()
        assert process.wait(timeout=60) == -signal.SIGTERM


def test_an_interrupt_gives_no_notice_but_the_time_to_end(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    with server(stage, DRAIN_NOTICE_SECONDS="3600") as process, ExitStack() as open_:
        caller.origin = stage.origin
        open_.enter_context(stage.upstream.holding())
        answer = open_.enter_context(caller.stream(chat(alias)))
        process.send_signal(signal.SIGINT)
        eventually(lambda: is_closed(stage))
        stage.upstream.release()
        assert rest_of(answer)[-2] == "data: [DONE]"
        assert process.wait(timeout=60) == 0


def test_each_of_two_workers_says_that_it_is_not_ready_and_serves_on(stage: Stage) -> None:
    arguments = (*UVICORN, "--workers=2")
    with gateway_process("uvicorn", arguments, DRAIN_NOTICE_SECONDS="3600") as (stage.origin, process):
        eventually(lambda: len(workers_of(process.pid)) == 2)
        eventually(lambda: [status(stage, "/readyz") for _ in range(20)] == [200] * 20)
        process.terminate()
        eventually(lambda: [status(stage, "/readyz") for _ in range(20)] == [503] * 20)
        assert {status(stage, path) for path in ("/livez", "/healthz")} == {200}


def test_an_interrupt_of_the_group_ends_two_workers(stage: Stage) -> None:
    arguments = (*UVICORN, "--workers=2")
    with gateway_process("uvicorn", arguments, DRAIN_NOTICE_SECONDS="3600") as (stage.origin, process):
        eventually(lambda: status(stage, "/readyz") == 200)
        workers = workers_of(process.pid)
        signal_group(process.pid, signal.SIGINT)
        process.wait(timeout=60)
        eventually(lambda: not [pid for pid in workers if Path(f"/proc/{pid}").exists()])


def test_a_stream_and_a_session_that_end_in_time_are_whole(stage: Stage) -> None:
    alias, caller, speaker = stage.model(max_output_tokens=20), stage.caller(), talker(stage)
    live = live_model(stage)
    with server(stage) as process, ExitStack() as open_:
        caller.origin = speaker.origin = stage.origin
        open_.enter_context(stage.upstream.holding())
        answer = open_.enter_context(caller.stream(chat(alias)))
        session = open_.enter_context(opened(speaker, live))
        process.terminate()
        eventually(lambda: is_closed(stage))
        session.say(HELLO)
        session.socket.close()
        stage.upstream.release()
        lines = rest_of(answer)
        assert lines[-2] == "data: [DONE]"
        assert receipt_of(lines) == {
            "usage_id": caller.only_call.id,
            "charge_microusd": caller.only_call.charge_microusd,
        }
        assert process.wait(timeout=60) == -signal.SIGTERM
    assert speaker.only_call.charge_microusd == cost(4, 0, 8)
    assert audit.findings() == []


def messenger(stage: Stage) -> str:
    return stage.model("small-1?tokens=20", upstream=stage.upstream_row(adapter="anthropic"))


STREAMS = {
    "chat": (CHAT, lambda stage: chat(stage.model("small-1?tokens=20"))),
    "messages": (MESSAGE, lambda stage: message(messenger(stage))),
    "responses": (RESPONSES, lambda stage: ask(stage.model("small-1?tokens=20"))),
    "images": (IMAGES, lambda stage: draw(model_at(stage), partial_images=2)),
    "speech": (SPEECH, lambda stage: speech(model_of(stage), stream_format="sse")),
    "transcriptions": (
        TRANSCRIPTIONS,
        lambda stage: form(wav(1.2), [("model", transcriber(stage)), ("stream", "true")]),
    ),
}


def error_of(route: str, lines: list[str]) -> Any:
    """Return the error of a stream's last event: for a response, of the one before `response.failed`."""
    events = [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]
    if route == "responses":
        assert (events[-1]["type"], events[-1]["response"]["status"]) == ("response.failed", "failed")
        return events[-2]["error"]
    assert "error" in events[-1], (route, lines)
    return events[-1]["error"]


def is_settled(caller: Caller) -> bool:
    return bool(caller.only_call.state == "settled")


def test_what_is_open_after_the_time_to_drain_ends_with_an_error_and_its_receipt(stage: Stage) -> None:
    home = stage.origin
    callers = {route: stage.caller(balance=BALANCE) for route in (*STREAMS, "sound", "plain")}
    speaker, live = talker(stage, balance=BALANCE), live_model(stage)
    bodies = {route: body(stage) for route, (_, body) in STREAMS.items()}
    speaking, plain = speech(model_of(stage)), chat(stage.model())
    with server(stage, DRAIN_SECONDS="1") as process, ExitStack() as open_:
        for caller in (*callers.values(), speaker):
            caller.origin = stage.origin
        open_.enter_context(stage.upstream.holding())
        answers = {
            route: open_.enter_context(callers[route].stream(bodies[route], path=path))
            for route, (path, _) in STREAMS.items()
        }
        raw = open_.enter_context(callers["sound"].stream(speaking, path=SPEECH))
        session = open_.enter_context(opened(speaker, live))
        session.say(HELLO)
        pending = open_.enter_context(ThreadPoolExecutor()).submit(callers["plain"].post, plain, key="plain")
        eventually(lambda: len(stage.upstream.ledger) == 8)
        process.terminate()
        for route, answer in answers.items():
            lines, caller = rest_of(answer), callers[route]
            error = error_of(route, lines)
            assert (route, error["code"], error["message"]) == (route, "not_ready", ENDED)
            assert is_settled(caller)
            receipt = {"usage_id": caller.only_call.id, "charge_microusd": caller.only_call.charge_microusd}
            assert (route, receipt_of(lines)) == (route, receipt)
        with pytest.raises(httpx.RemoteProtocolError):  # sound has no event for an error
            raw.read()
        code, events = session.ending()
        assert (code, events[-1]["error"]["code"]) == (1012, "not_ready")
        refused = pending.result()
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
        assert refused.headers["retry-after"] == "1"
        stage.upstream.release()
        assert process.wait(timeout=60) == -signal.SIGTERM
    assert all(is_settled(caller) for caller in (*callers.values(), speaker))
    assert callers["chat"].only_call.usage_record.basis == "delivered"
    assert callers["chat"].only_call.usage_record.output_tokens == 1
    assert speaker.only_call.charge_microusd == cost(4, 0, 8)
    again = callers["plain"]
    again.origin = home
    assert again.post(plain, key="plain").headers["idempotent-replayed"] == "true"
    for caller in (*callers.values(), speaker):
        assert caller.wallet == {"balance": BALANCE - caller.only_call.charge_microusd, "held": 0, "debt": 0}
    assert audit.findings() == []


ENDED = "This server was stopped before the end. Another one serves new requests."
