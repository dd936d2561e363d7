"""nginx, HAProxy and Caddy with the files of `deploy/proxies`, in front of two nodes."""

import json
import signal
import socket
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any

import pytest
from websockets.sync.client import connect

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import PATIENCE_SECONDS, eventually
from tests.support.fronts import HOST, KINDS, Front, front
from tests.support.processes import gateway_process
from tests.support.sessions import PATH, Session, headers_of, live_model, settled, talker
from tests.support.stage import Caller, Stage, chat
from tests.support.stage_fixtures import API_KEY
from tests.support.upstream import FakeUpstream

SERVER = (
    "gateway.asgi:application",
    "--port={port}",
    "--loop=uvloop",
    "--http=gateway.server.protocol:Bounded",
    "--ws=gateway.server.sockets:BoundedSocket",
    "--no-proxy-headers",
    "--log-level=warning",
)
SETTINGS = {"TRUSTED_PROXIES": "127.0.0.1", "KEEP_ALIVE_SECONDS": "150", "DRAIN_SECONDS": "3600"}


@dataclass(frozen=True)
class Site:
    """Two nodes, each proxy in front of both, and the models that they know."""

    processes: list["subprocess.Popen[bytes]"]
    ports: list[int]
    fronts: Mapping[str, Front]
    stage: Stage
    model: str
    live: str

    def through(self, kind: str) -> Front:
        """Send the stage's calls through a proxy."""
        self.stage.client, self.stage.origin = self.fronts[kind].client(), f"https://{HOST}"
        return self.fronts[kind]


@pytest.fixture(scope="module")
def site(
    django_db_setup: None, django_db_blocker: Any, upstream: FakeUpstream, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Site]:
    """Start the nodes once they can find the models at their start."""
    folder = tmp_path_factory.mktemp("proxies")
    with django_db_blocker.unblock(), ExitStack() as stack:
        stage = Stage("", upstream, API_KEY)
        stack.callback(stage.close)
        model, live = stage.model("small-1?tokens=20", max_output_tokens=20), live_model(stage)
        nodes = [
            stack.enter_context(gateway_process("uvicorn", SERVER, CALL_JOURNAL_DIR=str(folder / name), **SETTINGS))
            for name in ("one", "two")
        ]
        origins, processes = [origin for origin, _ in nodes], [process for _, process in nodes]
        fronts = {kind: stack.enter_context(front(kind, folder / kind, origins)) for kind in KINDS}
        site = Site(processes, [int(origin.rpartition(":")[2]) for origin in origins], fronts, stage, model, live)
        stage.client.close()
        for kind in fronts:
            site.through(kind)
            with stage.client:
                eventually(lambda: stage.client.get(f"{stage.origin}/readyz").status_code == 200)
        yield site


@pytest.fixture(params=KINDS)
def through(request: pytest.FixtureRequest, site: Site) -> Iterator[Front]:
    """Send calls through a proxy."""
    yield site.through(request.param)
    site.stage.client.close()


@pytest.mark.usefixtures("through")
def test_a_call_is_proven_and_charged(site: Site) -> None:
    caller = site.stage.caller()
    answer = caller.post(chat(site.model))
    assert answer.status_code == 200
    assert int(answer.headers["x-service-charge-microusd"]) == caller.only_call.charge_microusd


@pytest.mark.usefixtures("through")
def test_the_events_of_a_stream_are_not_held_back(site: Site) -> None:
    caller = site.stage.caller()
    with site.stage.upstream.holding(), caller.stream(chat(site.model)) as answer:
        lines = answer.iter_lines()
        assert next(lines).startswith("data: ")
        assert caller.only_call.state == "dispatched"
        site.stage.upstream.release()
        assert receipt(list(lines))["charge_microusd"] == caller.only_call.charge_microusd


def test_a_live_session_is_opened(site: Site, through: Front) -> None:
    caller = talker(site.stage)
    with connect(
        f"wss://{HOST}{PATH}?model={site.live}",
        sock=through.connection(),
        ssl=through.context,
        additional_headers=headers_of(caller),
        open_timeout=PATIENCE_SECONDS,
    ) as opened:
        session = Session(opened)
        session.say(HELLO)
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_a_node_that_drains_ends_its_streams_and_every_other_call_is_answered(site: Site) -> None:
    """Each proxy has a stream at both nodes. The second node does not come back, so this is the file's last test."""
    callers, leaving = [], site.processes[1]
    with ExitStack() as stack:
        for kind in KINDS:
            site.through(kind)
            stack.enter_context(site.stage.client)
            callers.append(site.stage.caller())
        stack.enter_context(site.stage.upstream.holding())
        opened = [stack.enter_context(each.stream(chat(site.model))).iter_lines() for each in callers for _ in "12"]
        assert all(next(lines).startswith("data: ") for lines in opened)
        leaving.send_signal(signal.SIGTERM)
        while not is_closed(site.ports[1]):
            assert statuses(callers) == {200}
        assert statuses(callers * 5) == {200}
        assert leaving.poll() is None
        site.stage.upstream.release()
        assert all(receipt(list(lines))["charge_microusd"] > 0 for lines in opened)
        eventually(lambda: leaving.poll() is not None)
        assert leaving.poll() == -signal.SIGTERM, "uvicorn ends by the signal, once it has drained"
        assert {caller.post(chat(site.model)).status_code for caller in callers} == {200}


def statuses(callers: Sequence[Caller]) -> set[int]:
    """Make a call by each caller, which is proven and costs nothing."""
    return {caller.get("/v1/models").status_code for caller in callers}


def receipt(lines: list[str]) -> Any:
    """Return the receipt of a stream that ended whole."""
    rest = [line for line in lines if line]
    assert rest[-2] == "data: [DONE]"
    return json.loads(rest[-1].removeprefix(": service "))


def is_closed(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) != 0
