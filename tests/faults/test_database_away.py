"""The database crashes, hangs, refuses writes or runs out of connections, and recovers: every process survives.

The limits in seconds are those that operators are promised, not measures of speed.
"""

import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests
from celery import Celery

from account_gateway_client import Gateway, GatewayError, ProductKey, ProductServer, ProofKey
from gateway.core.jobs import filequeue
from tests.faults.crashing_database import CrashingDatabase, until
from tests.support.demo_gateway import ALICE, ISSUER
from tests.support.gateways import ForkedGateway

ANSWERED_SECONDS = 10.0
HEALED_SECONDS = 5.0
HEALTH_SECONDS = 2.0

EXPIRED_PROOF = """
    INSERT INTO accounts_proof_replay (digest, expires_at)
    VALUES (decode(md5(random()::text), 'hex'), now() - interval '1 hour')
"""


@dataclass(frozen=True)
class Answer:
    """A response, and the seconds until it arrived."""

    status: int
    retry_after: str | None
    text: str
    seconds: float


@dataclass
class World:
    """A whole gateway as `make run` starts it, with a database that can fail."""

    database: CrashingDatabase
    gateway: ForkedGateway
    product: ProductServer
    alice: Gateway
    queue: Celery

    def exchange(self) -> requests.Response:
        """Request a token as a product server does."""
        key = ProofKey.generate()
        members = {"assertion": self.product.assertion(ALICE, ["wallet:read"], key), "dpop_jwk": key.jwk}
        return requests.post(f"{self.gateway.base_url}/v1/auth/token/exchange", json=members, timeout=60)

    def wallet(self) -> requests.Response:
        """Read a wallet through the API."""
        return self.alice.request("GET", "/v1/wallet", timeout=60)

    def page(self) -> requests.Response:
        """Open a page of the portal with a session's cookie."""
        cookies = {"sessionid": "a" * 32}
        return requests.get(f"{self.gateway.base_url}/developers", cookies=cookies, timeout=60, allow_redirects=False)

    def models(self) -> requests.Response:
        """List the models, which uses the process's cached catalogue."""
        return self.alice.request("GET", "/v1/models", timeout=60)

    def health(self) -> requests.Response:
        """Query the process's readiness."""
        return requests.get(f"{self.gateway.base_url}/healthz", timeout=60)

    def is_served(self) -> bool:
        """Return whether each kind of route answers normally."""
        calls = (self.exchange, self.wallet, self.models, self.health, self.page)
        return [ask().status_code for ask in calls] == [200, 200, 200, 200, 302]

    def purges(self) -> bool:
        """Return whether the worker completes a task that writes to the database."""
        self.database.execute(EXPIRED_PROOF)
        self.queue.send_task("accounts.tasks.purge_proofs")
        until(lambda: self.expired_proofs() == 0)
        return True

    def expired_proofs(self) -> int:
        """Count the rows that the task deletes."""
        [(count,)] = self.database.execute("SELECT count(*) FROM accounts_proof_replay WHERE expires_at < now()")
        return int(str(count))

    @property
    def threads(self) -> int:
        """Count the server's threads."""
        return len(list(Path(f"/proc/{self.gateway.children()['server']}/task").iterdir()))


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    database = CrashingDatabase(max_connections="40")
    gateway = ForkedGateway(settings={"DATABASE_URL": database.url, "WEB_CONCURRENCY": "1"}).start()
    try:
        gateway.wait_until_ready()
        until(lambda: gateway.health() == 200)  # the demo waits a few seconds for its first answer
        finished = gateway.manage("demo")
        assert finished.returncode == 0, finished.stdout + finished.stderr
        yield _world(database, gateway)
    finally:
        gateway.stop()
        database.stop()


def _world(database: CrashingDatabase, gateway: ForkedGateway) -> World:
    key = ProductKey.load(gateway.data_dir / "demo-product.pem")
    product = ProductServer(gateway.base_url, issuer=ISSUER, product="studio", key=key)
    alice = Gateway(gateway.base_url, product.tokens_for(ALICE, ["wallet:read"]))
    return World(database, gateway, product, alice, _queue(gateway.data_dir))


def _queue(data_dir: Path) -> Celery:
    filequeue.register()
    messages, control = str(data_dir / "celery" / "messages"), str(data_dir / "celery" / "control")
    queue = Celery("test", broker="files://localhost", set_as_current=False)
    queue.conf.broker_transport_options = {
        "data_folder_in": messages,
        "data_folder_out": messages,
        "control_folder": control,
    }
    queue.conf.task_ignore_result = True
    return queue


@pytest.fixture(autouse=True)
def same_processes(world: World) -> Iterator[None]:
    """Check that everything works before, and that no process was restarted."""
    warm(world)
    processes = world.gateway.children()
    yield
    assert until(world.is_served) < HEALED_SECONDS
    assert world.purges()
    assert world.gateway.children() == processes


def warm(world: World) -> None:
    """Make the server open its whole pool."""
    with ThreadPoolExecutor(16) as threads:
        assert {answer.status for answer in threads.map(lambda _: timed(world.exchange), range(32))} == {200}
    assert world.is_served()


def timed(ask: Callable[[], requests.Response]) -> Answer:
    began = time.monotonic()
    response = ask()
    return Answer(response.status_code, response.headers.get("Retry-After"), response.text, time.monotonic() - began)


def ask_all(world: World, times: int) -> list[Answer]:
    """Send many requests of each synchronous kind concurrently."""
    kinds = [world.exchange, world.wallet, world.page]
    with ThreadPoolExecutor(times) as threads:
        return list(threads.map(timed, [kinds[number % len(kinds)] for number in range(times)]))


def assert_not_ready(answers: list[Answer]) -> None:
    assert {answer.status for answer in answers} == {503}
    assert {answer.retry_after for answer in answers} == {"1"}
    assert max(answer.seconds for answer in answers) < ANSWERED_SECONDS
    pages = [answer.text for answer in answers if answer.text.startswith("<!DOCTYPE")]
    assert len(pages) == len(answers) // 3
    assert all("Temporarily unavailable" in page for page in pages)
    assert all("not_ready" in answer.text for answer in answers if answer.text not in pages)


def test_a_killed_backend(world: World) -> None:
    world.database.kill_a_backend()


def test_a_crash(world: World) -> None:
    stop, answers = threading.Event(), list[Answer]()

    def load() -> None:
        while not stop.is_set():
            answers.append(timed(world.exchange))

    callers = [threading.Thread(target=load) for _ in range(8)]
    for caller in callers:
        caller.start()
    until(lambda: answers)
    # Long enough that a delay that doubles with each failure would exceed the five seconds.
    world.database.crash(away_seconds=8.0)
    back = until(world.is_served)
    stop.set()
    for caller in callers:
        caller.join()
    assert back < HEALED_SECONDS
    assert {answer.status for answer in answers} == {200, 503}
    assert max(answer.seconds for answer in answers) < ANSWERED_SECONDS


def test_a_database_that_hangs(world: World) -> None:
    threads = world.threads
    with world.database.hanging(), ThreadPoolExecutor() as health:
        world.queue.send_task("accounts.tasks.purge_proofs")
        health_answers = health.submit(lambda: [timed(world.health) for _ in range(5)])
        assert_not_ready(ask_all(world, 60))
        ready = health_answers.result()
        assert_not_ready(ask_all(world, 30))
    assert {answer.status for answer in ready} == {503}
    assert max(answer.seconds for answer in ready) < HEALTH_SECONDS
    assert until(world.is_served) < HEALED_SECONDS
    warm(world)
    assert world.threads <= threads + 20  # pools start theirs when they need them; 90 requests have hung


def test_a_database_that_refuses_writes(world: World) -> None:
    with world.database.read_only():
        answers = [timed(ask) for ask in (world.exchange, world.wallet, world.health)]
    assert [answer.status for answer in answers] == [503, 503, 503]
    assert [answer.retry_after for answer in answers[:2]] == ["1", "1"]


def test_a_database_without_a_free_connection(world: World) -> None:
    with world.database.full():
        assert_not_ready(ask_all(world, 30))


def test_a_call_is_answered_with_not_ready_while_writes_are_refused(world: World) -> None:
    with world.database.read_only(), pytest.raises(GatewayError) as refused:
        world.alice.wallet()
    assert (refused.value.status, refused.value.code) == (503, "not_ready")
