"""Proofs through the ASGI application, with the path exactly as received."""

import json
from typing import Any

import pytest
from asgiref.sync import sync_to_async
from asgiref.testing import ApplicationCommunicator
from django.db import connections

from gateway.asgi import application
from tests.factories.accounts import Caller, make_caller
from tests.factories.proofs import BASE_URL
from tests.support.concurrency import PATIENCE_SECONDS

pytestmark = pytest.mark.django_db(transaction=True)

ACCOUNT = "/v1/account"


async def get(path: str, headers: list[tuple[str, str]], *, query: str = "", http: str = "1.1") -> tuple[int, Any]:
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": http,
        "method": "GET",
        "scheme": "http",
        "path": path.partition("%")[0] if "%" in path else path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "root_path": "",
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
        "server": ("10.0.0.7", 8000),
        "client": ("10.0.0.1", 40000),
    }
    app = ApplicationCommunicator(application, scope)
    await app.send_input({"type": "http.request", "body": b"", "more_body": False})
    start = await app.receive_output(PATIENCE_SECONDS)
    body = await app.receive_output(PATIENCE_SECONDS)
    await sync_to_async(connections.close_all)()
    return start["status"], json.loads(body["body"])


@pytest.fixture
def caller() -> Caller:
    return make_caller()


async def test_a_good_request_passes(caller: Caller) -> None:
    status, body = await get(ACCOUNT, list(caller.headers("GET", ACCOUNT).items()))
    assert (status, body.get("did")) == (200, caller.account.did), body


async def test_two_headers_of_one_name_are_refused(caller: Caller) -> None:
    good = caller.headers("GET", ACCOUNT)
    other = caller.headers("GET", ACCOUNT)
    for name, code in (("DPoP", "invalid_dpop_proof"), ("Authorization", "invalid_token")):
        for twin in (good[name], other[name], ""):
            status, body = await get(ACCOUNT, [*good.items(), (name, twin)])
            assert (status, body["error"]["code"]) == (401, code)


async def test_the_servers_own_address_does_not_count(caller: Caller) -> None:
    for url in ("http://10.0.0.7:8000", "http://evil.example", "https://evil.example"):
        headers = caller.signer.headers("GET", url + ACCOUNT, caller.token)
        status, _ = await get(
            ACCOUNT, [*headers.items(), ("Host", "evil.example"), ("X-Forwarded-Host", "evil.example")]
        )
        assert status == 401
    status, _ = await get(ACCOUNT, [*caller.headers("GET", ACCOUNT).items(), ("Host", "evil.example")])
    assert status == 200


async def test_the_query_does_not_count(caller: Caller) -> None:
    for htu in (ACCOUNT, ACCOUNT + "?a=b", ACCOUNT + "?x=y"):
        headers = caller.signer.headers("GET", BASE_URL + htu, caller.token)
        status, _ = await get(ACCOUNT, list(headers.items()), query="a=b")
        assert status == 200


async def test_header_bytes_beyond_ascii_are_refused(caller: Caller) -> None:
    good = caller.headers("GET", ACCOUNT)
    for name in good:
        for text, expected in (("\xff", 401), ("\x00", 400)):
            status, _ = await get(ACCOUNT, list({**good, name: good[name] + text}.items()))
            assert status == expected
