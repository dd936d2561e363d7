"""The server that the browser comes back to takes the one answer that was asked for."""

import socket
from collections.abc import Iterator
from urllib.parse import urlencode

import httpx
import pytest

from account_gateway_client.cli.callback import Callback
from account_gateway_client.cli.errors import CommandError, NotSignedIn, TimedOut
from tests.support.concurrency import PATIENCE_SECONDS

GATEWAY = "https://gateway.example"
GOOD = {"code": "the code", "state": "the state", "iss": GATEWAY}


@pytest.fixture
def callback() -> Iterator[Callback]:
    with Callback(state="the state", issuer=GATEWAY) as callback:
        yield callback


def visit(callback: Callback, **changes: str | None) -> httpx.Response:
    query = {name: value for name, value in (GOOD | changes).items() if value is not None}
    return httpx.get(f"{callback.redirect_uri}?{urlencode(query)}", timeout=PATIENCE_SECONDS)


def test_takes_the_code_and_shows_a_page(callback: Callback) -> None:
    page = visit(callback)
    assert page.status_code == 200
    assert "Back to the terminal" in page.text
    assert "the code" not in page.text
    assert page.headers["Cache-Control"] == "no-store"
    assert page.headers["Referrer-Policy"] == "no-referrer"
    assert "default-src 'none'" in page.headers["Content-Security-Policy"]
    assert callback.code(PATIENCE_SECONDS) == "the code"


def test_answers_that_nobody_asked_for_change_nothing(callback: Callback) -> None:
    for changes in ({"state": "other"}, {"state": None}, {"state": ""}, {"state": "\u00fc"}):
        assert visit(callback, code="stolen", **changes).status_code == 404
    twice = httpx.get(f"{callback.redirect_uri}?state=the%20state&state=other&code=a", timeout=PATIENCE_SECONDS)
    elsewhere = httpx.get(f"http://127.0.0.1:{callback.port}/?{urlencode(GOOD)}", timeout=PATIENCE_SECONDS)
    posted = httpx.post(f"{callback.redirect_uri}?{urlencode(GOOD)}", timeout=PATIENCE_SECONDS)
    assert (twice.status_code, elsewhere.status_code, posted.status_code) == (404, 404, 501)
    visit(callback)
    visit(callback, code="another")
    assert callback.code(PATIENCE_SECONDS) == "the code"


def test_idle_connections_hold_nobody_up(callback: Callback) -> None:
    with socket.create_connection(("127.0.0.1", callback.port)), socket.create_connection(("127.0.0.1", callback.port)):
        visit(callback)
    assert callback.code(PATIENCE_SECONDS) == "the code"


@pytest.mark.parametrize("iss", ["https://evil.example", "", None, GATEWAY + "/"])
def test_an_answer_of_another_gateway_is_refused(callback: Callback, iss: str | None) -> None:
    visit(callback, iss=iss)
    with pytest.raises(CommandError, match="another gateway"):
        callback.code(PATIENCE_SECONDS)


def test_a_refusal_is_told(callback: Callback) -> None:
    assert "Nothing was allowed" in visit(callback, code=None, error="access_denied").text
    with pytest.raises(NotSignedIn, match="refused on the portal"):
        callback.code(PATIENCE_SECONDS)


def test_an_error_is_told_with_its_reason(callback: Callback) -> None:
    visit(callback, code=None, error="invalid_scope", error_description="infer:x cannot be granted")
    with pytest.raises(NotSignedIn, match="invalid_scope, infer:x cannot be granted"):
        callback.code(PATIENCE_SECONDS)


def test_nobody_comes(callback: Callback) -> None:
    with pytest.raises(TimedOut, match="agw login"):
        callback.code(0.01)


def test_only_this_computer_can_come(callback: Callback) -> None:
    assert callback.redirect_uri.startswith("http://127.0.0.1:")
    assert callback.port > 0
