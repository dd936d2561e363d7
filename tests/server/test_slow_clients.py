"""Two thousand clients that never do their part, on one server process."""

import itertools
import uuid
from collections.abc import Iterator

import httpx
import psutil
import pytest

from gateway.core.runtime.descriptors import raise_descriptor_limit
from tests.factories.accounts import make_account, make_integration
from tests.factories.proofs import ProductServer, Signer
from tests.server.crowd import count_open, crowd
from tests.server.test_worst_bodies import peak_kib
from tests.support.concurrency import eventually
from tests.support.processes import gateway_process
from tests.support.stage import Caller, Stage, chat

CLIENTS = 2_000
CLIENT_MAX_KIB = 64
"""What the server may keep for each of them, whatever it does."""

LIMIT_SECONDS = 15
LIMITS = {
    name: str(LIMIT_SECONDS)
    for name in ("HEAD_SECONDS", "BODY_SECONDS", "BODY_IDLE_SECONDS", "WRITE_SECONDS", "KEEP_ALIVE_SECONDS")
}
SERVER = [
    "gateway.asgi:application",
    "--log-level",
    "warning",
    "--port",
    "{port}",
    "--loop",
    "uvloop",
    "--no-access-log",
]
BOUNDED = ["--http", "gateway.server.protocol:Bounded"]

EXCHANGE = "/v1/auth/token/exchange"
BIG_FILE = "/static/scalar/scalar.standalone.js"
HEAD = f"POST {EXCHANGE} HTTP/1.1\r\nHost: gateway\r\nContent-Type: application/json\r\n"
OPENINGS = {
    "nothing": "",
    "half a head": "GET /healthz HTTP/1.1\r\nHost: gate",
    "no body": f"{HEAD}Content-Length: 400\r\n\r\n",
    "half a body": f'{HEAD}Content-Length: 400\r\n\r\n{{"assertion": "',
    "half a chunk": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n40\r\n{{",
    "no trailer": f"{HEAD}Transfer-Encoding: chunked\r\n\r\n2\r\n{{}}\r\n0\r\nX-More: ",
    "the body of an answered request": "POST /v1/chat/completions HTTP/1.1\r\nHost: gateway\r\nContent-Length: 40\r\n\r\n",
    "answers that nobody reads": 4 * f"GET {BIG_FILE} HTTP/1.1\r\nHost: gateway\r\n\r\n",
}
RARE = "answers that nobody reads"  # 1.5 MB each, of which the system's own buffers take the first two or three


def openings() -> Iterator[bytes]:
    """Yield one opening for each client."""
    often = itertools.cycle(text for name, text in OPENINGS.items() if name != RARE)
    for number in range(CLIENTS):
        yield (OPENINGS[RARE] if number % 100 == 0 else next(often)).encode()


@pytest.fixture
def product_server(stage: Stage) -> ProductServer:
    server = ProductServer(issuer=f"https://{uuid.uuid4().hex}.example")
    make_integration(server)
    return server


def sign_in(origin: str, email: str, password: str) -> httpx.Response:
    with httpx.Client(base_url=origin, timeout=30) as browser:
        page = browser.get("/account/login/")
        token = page.text.partition('name="csrfmiddlewaretoken" value="')[2].partition('"')[0]
        form = {"login": email, "password": password, "csrfmiddlewaretoken": token}
        return browser.post("/account/login/", data=form, headers={"Referer": f"{origin}/account/login/"})


def exchange(origin: str, server: ProductServer) -> httpx.Response:
    body = {"assertion": server.assertion(jti=uuid.uuid4().hex), "dpop_jwk": Signer().jwk}
    return httpx.post(origin + EXCHANGE, json=body, timeout=30)


def assert_serves(caller: Caller, alias: str, server: ProductServer, email: str) -> None:
    """Check that whoever does its part is served."""
    assert httpx.get(f"{caller.origin}/healthz", timeout=30).json() == {"status": "ok"}
    assert sign_in(caller.origin, email, "correct horse").status_code == 303
    assert exchange(caller.origin, server).status_code == 200
    assert caller.post(chat(alias)).status_code == 200


def test_two_thousand_slow_clients_keep_nobody_waiting_and_are_gone(
    stage: Stage, product_server: ProductServer
) -> None:
    raise_descriptor_limit()  # this process has their other ends
    email = f"{uuid.uuid4().hex}@person.example"
    make_account(uuid.uuid4().hex, email=email, password="correct horse")
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    environment = {**LIMITS, "LARGE_BODY_WAIT_SECONDS": "1", "CONNECTIONS_PER_ADDRESS_MAX": "100000"}
    with gateway_process("uvicorn", SERVER + BOUNDED, **environment) as (caller.origin, process):
        assert_serves(caller, alias, product_server, email)
        server = psutil.Process(process.pid)
        before, before_kib = server.num_fds(), peak_kib(process.pid)
        with crowd(caller.origin, openings()) as clients:
            assert count_open(clients) == CLIENTS
            assert_serves(caller, alias, product_server, email)
            assert peak_kib(process.pid) < before_kib + CLIENTS * CLIENT_MAX_KIB
            eventually(lambda: count_open(clients) == 0)
            assert server.num_fds() < before + 50
            assert_serves(caller, alias, product_server, email)
