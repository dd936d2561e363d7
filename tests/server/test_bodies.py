"""Bodies of management and token routes, however they are framed."""

import socket
from collections.abc import Iterator
from typing import Any

import httpx
import orjson
import pytest

from gateway.core.contract.limits import CONSOLE_BODY_MAX_BYTES, JSON_BODY_MAX_BYTES, WEBHOOK_BODY_MAX_BYTES
from tests.support.concurrency import eventually
from tests.support.stage import Caller, Stage, chat

ORGANIZATIONS = "/v1/organizations"
OAUTH = "/v1/oauth/token"


@pytest.fixture
def caller(stage: Stage) -> Caller:
    return stage.caller(scopes=("orgs:read", "orgs:manage"))


def chunks(body: bytes) -> Iterator[bytes]:
    """Make httpx send a body without Content-Length."""
    for start in range(0, len(body), 1000):
        yield body[start : start + 1000]


def post(caller: Caller, body: bytes, *, chunked: bool) -> httpx.Response:
    headers = caller.headers(ORGANIZATIONS) | {"Content-Type": "application/json"}
    content = chunks(body) if chunked else body
    return caller.client.post(caller.origin + ORGANIZATIONS, content=content, headers=headers)


def code(answer: httpx.Response) -> tuple[int, str]:
    return answer.status_code, answer.json()["error"]["code"]


def test_a_chunked_body_is_read(caller: Caller) -> None:
    answer = post(caller, orjson.dumps({"name": "Badgers"}), chunked=True)
    assert (answer.status_code, answer.json()["name"]) == (201, "Badgers")


@pytest.mark.parametrize("chunked", [False, True])
@pytest.mark.parametrize(
    ("body", "expected"),
    [
        (b"", (400, "invalid_json")),
        (b"{", (400, "invalid_json")),
        (b'{"name": "Badgers", "nane": 1}', (400, "invalid_request")),
        (b'{"name":"Badgers","a":[' + b"1," * 9_999 + b"1]}", (400, "invalid_json")),
        (b'{"name":"' + b"x" * JSON_BODY_MAX_BYTES + b'"}', (413, "request_too_large")),
    ],
    ids=["empty", "broken", "misspelt", "many values", "large"],
)
def test_a_body_is_checked_however_it_comes(caller: Caller, body: bytes, expected: Any, chunked: bool) -> None:
    assert code(post(caller, body, chunked=chunked)) == expected


def test_a_chunked_form_of_a_token_route_is_read(stage: Stage) -> None:
    headers = {"Content-Type": "application/x-www-form-urlencoded"}
    answer = stage.client.post(stage.origin + OAUTH, content=chunks(b"grant_type=badger"), headers=headers)
    assert (answer.status_code, answer.json()["error"]) == (400, "unsupported_grant_type")


def test_a_token_route_refuses_a_large_body_in_its_own_shape(stage: Stage) -> None:
    answer = stage.client.post(stage.origin + OAUTH, content=chunks(b"x" * (JSON_BODY_MAX_BYTES + 1)))
    assert (answer.status_code, answer.json()["error"]) == (413, "request_too_large")
    assert answer.headers["x-request-id"] == answer.json()["request_id"]


def test_an_integer_beyond_64_bits_is_named(caller: Caller) -> None:
    answer = post(caller, b'{"name": %b}' % (b"9" * 30), chunked=False)
    assert (*code(answer), answer.json()["error"]["param"]) == (400, "invalid_request", "name")


@pytest.mark.parametrize("extra_bytes", [1, 600 * 1024 * 1024])
@pytest.mark.parametrize(
    ("path", "limit_bytes"),
    [
        ("/account/login/", JSON_BODY_MAX_BYTES),
        ("/admin/login/", CONSOLE_BODY_MAX_BYTES),
        ("/webhooks/stripe", WEBHOOK_BODY_MAX_BYTES),
        ("/v1/public/device/revoke", JSON_BODY_MAX_BYTES),
    ],
)
def test_a_body_is_refused_before_any_of_it_is_sent(
    stage: Stage, path: str, limit_bytes: int, extra_bytes: int
) -> None:
    host, port = stage.origin.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=60) as raw:
        size_bytes = limit_bytes + extra_bytes
        raw.sendall(f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Length: {size_bytes}\r\n\r\n".encode())
        answer = raw.makefile("rb").read()
    assert answer.startswith(b"HTTP/1.1 413 "), answer


def test_the_health_check_answers_without_a_body_that_is_announced_and_hangs_up(stage: Stage) -> None:
    host, port = stage.origin.removeprefix("http://").split(":")

    def answer() -> bytes:
        with socket.create_connection((host, int(port)), timeout=30) as raw:
            raw.sendall(b"GET /healthz HTTP/1.1\r\nHost: x\r\nContent-Length: 629145600\r\n\r\n")
            return raw.makefile("rb").read()

    # On a busy machine the database may take longer than the health check waits.
    eventually(lambda: answer().startswith(b"HTTP/1.1 200 "))


@pytest.mark.parametrize("charset", ["rot13", "utf-16", "base64", "idna", "undefined", "latin-1"])
@pytest.mark.parametrize("kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x"])
def test_a_form_is_utf_8_whatever_its_charset_says(stage: Stage, kind: str, charset: str) -> None:
    address = f"{stage.origin}/account/login/?next=%2Fdevelopers"
    headers = {"Content-Type": f"{kind}; charset={charset}"}
    token = stage.client.get(address, headers=headers).cookies["csrftoken"]
    body = "login=Z%C3%BC"
    if kind.startswith("multipart"):
        body = '--x\r\nContent-Disposition: form-data; name="login"\r\n\r\nZü\r\n--x--'
    assert stage.client.post(address, content=body, headers=headers).status_code == 403
    page = stage.client.post(address, content=body, headers={**headers, "X-CSRFToken": token})
    assert page.status_code == 200
    assert 'value="Zü"' in page.text
    assert 'value="/developers"' in page.text


UNREADABLE_TYPES = [
    "application/json; charset*=none''utf-8",
    "text/html; q*=undefined''1",
    "multipart/form-data; boundary*=idna''x",
]


@pytest.mark.parametrize("content_type", UNREADABLE_TYPES)
def test_a_content_type_that_cannot_be_read_counts_as_absent(stage: Stage, caller: Caller, content_type: str) -> None:
    headers = {"Content-Type": content_type}
    sign_in = f"{stage.origin}/account/login/"
    assert stage.client.get(sign_in, headers=headers).status_code == 200
    assert stage.client.post(sign_in, content=b"login=x", headers=headers).status_code == 403
    unsupported = 415, "unsupported_media_type"
    managed = caller.headers(ORGANIZATIONS) | headers
    assert code(stage.client.post(stage.origin + ORGANIZATIONS, content=b"{}", headers=managed)) == unsupported
    assert code(caller.post(chat("any"), headers={**headers, "Origin": "https://app.example"})) == unsupported
