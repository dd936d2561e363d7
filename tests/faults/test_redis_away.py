"""Redis, as the message broker, is killed, hangs, and comes back: pages and calls are served as if nothing had happened."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as RedisAway

from billing import tasks
from gateway.celery import app
from gateway.core.jobs.operations.messages import sender
from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.portal.browser import Browser
from tests.server.test_draining import UVICORN
from tests.support.concurrency import at_once, eventually
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage

PASSWORD = "a badger in the rain"
PRINT_OPTIONS = (
    "import json; from gateway.settings import base; print(json.dumps(base.CELERY_BROKER_TRANSPORT_OPTIONS))"
)
PATIENT_SECONDS = 8.0
"""For 20 messages at a broker that hangs: one waits 0.8 s, if the machine is not busy. One after another would take 16 s."""

SLOWER_SECONDS = 1.0
"""By which a request may be slower without the broker than at a gateway whose broker is there, on the same busy machine."""


class Broker:
    """A real Redis."""

    def __init__(self, folder: Path) -> None:
        self._folder, self.port = folder, free_port()
        self.url = f"redis://127.0.0.1:{self.port}/0"
        self.process = self.start()

    def start(self) -> "subprocess.Popen[bytes]":
        """Start it, and wait until it responds."""
        program = shutil.which("redis-server")
        assert program, "redis-server is not installed; .ci/run installs it"
        command = [program, "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", "--dir", str(self._folder)]
        self.process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
        eventually(self.responds)
        return self.process

    def responds(self) -> bool:
        """Return whether it responds."""
        try:
            with Redis(port=self.port, socket_timeout=5) as client:
                return bool(client.ping())
        except RedisAway:
            return False

    def messages(self) -> int:
        """Return how many messages wait for a worker."""
        with Redis(port=self.port) as client:
            return int(client.llen("celery"))

    def hang(self) -> None:
        """Stop responding, with connections open."""
        self.process.send_signal(signal.SIGSTOP)

    def go_on(self) -> None:
        """Respond again."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """End without a word."""
        self.process.kill()
        self.process.wait(timeout=60)


@pytest.fixture
def broker(tmp_path: Path) -> Iterator[Broker]:
    """Run a Redis."""
    broker = Broker(tmp_path)
    yield broker
    broker.kill()


@pytest.fixture
def other_broker(tmp_path: Path) -> Iterator[Broker]:
    """Run a Redis that a test leaves alone."""
    broker = Broker(tmp_path)
    yield broker
    broker.kill()


@pytest.fixture
def sending(broker: Broker, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Send this process's tasks to the broker, with the options that a gateway has for it."""
    settings = {"task_always_eager": False, "broker_transport_options": options_for(broker.url)}
    settings |= dict.fromkeys(("broker_url", "broker_read_url", "broker_write_url"), broker.url)
    for name, value in settings.items():
        monkeypatch.setitem(app.conf, name, value)
    monkeypatch.setattr(app, "_pool", None)
    monkeypatch.setattr(app.amqp, "_producer_pool", None)
    yield
    app.pool.force_close_all()


def options_for(url: str) -> Any:
    """Return the options that a gateway's settings have for a broker."""
    environment = {**os.environ, "REDIS_URL": url}
    return json.loads(subprocess.check_output([sys.executable, "-c", PRINT_OPTIONS], env=environment, cwd=PROJECT_DIR))


def send_many(count: int) -> float:
    """Send messages at once; return how long that took."""
    began = time.monotonic()
    at_once(*[lambda: sender.send(tasks.handle_event, "a test's event", args=(0,)) for _ in range(count)])
    return time.monotonic() - began


@pytest.mark.usefixtures("sending")
def test_messages_are_given_up_soon_and_sent_again_when_it_is_back(broker: Broker) -> None:
    send_many(3)
    assert broker.messages() == 3
    broker.hang()
    assert send_many(20) < PATIENT_SECONDS
    broker.go_on()
    sender.forget()  # as five seconds later
    before = broker.messages()  # one that hung may have arrived
    send_many(1)
    assert broker.messages() == before + 1
    broker.kill()
    assert send_many(20) < PATIENT_SECONDS
    broker.start()
    sender.forget()
    send_many(1)
    assert broker.messages() == 1


def test_people_sign_in_and_callers_read_their_wallet(stage: Stage, broker: Broker, other_broker: Broker) -> None:
    caller = stage.caller(scopes=("wallet:read",))
    requests: tuple[Callable[[str], bool], ...] = (
        lambda origin: sign_in(origin) == 200,
        lambda origin: sign_up(origin) == 303,
        lambda origin: read_wallet(caller, origin) == 200,
    )
    with (
        gateway_process("uvicorn", UVICORN, REDIS_URL=broker.url) as (origin, _),
        gateway_process("uvicorn", UVICORN, REDIS_URL=other_broker.url) as (undisturbed, _),
    ):
        for change in (broker.hang, broker.go_on, broker.kill):
            change()
            for request in requests:
                assert quickest(request, origin) < quickest(request, undisturbed) + SLOWER_SECONDS


def quickest(request: Callable[[str], bool], origin: str) -> float:
    """Send a request three times, each of which must be served; return the seconds of the quickest."""
    seconds = []
    for _ in range(3):
        began = time.monotonic()
        assert request(origin)
        seconds.append(time.monotonic() - began)
    return min(seconds)


def read_wallet(caller: Caller, origin: str) -> int:
    """Read a caller's wallet; return the status."""
    caller.origin = origin
    return caller.get("/v1/wallet").status_code


def sign_in(origin: str) -> int:
    """Send a wrong password, which is counted; return the status."""
    with Browser(origin) as browser:
        return browser.sign_in(f"{uuid.uuid4().hex}@example.com", "wrong").status_code


def sign_up(origin: str) -> int:
    """Sign up; return the status."""
    with Browser(origin) as browser:
        form = {"email": f"{uuid.uuid4().hex}@example.com", "password1": PASSWORD, "password2": PASSWORD}
        return browser.submit("/account/signup/", form).status_code
