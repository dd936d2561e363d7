"""An answer of the lean handler, which is sent as it is."""

from collections.abc import Mapping
from typing import Any

import pytest
from django.http import HttpResponse
from django.http.response import BadHeaderError

from gateway.core.http.lean import LeanAnswer, LeanResponse
from gateway.core.http.lean.sending import headers_of, send_response

PLAIN = {"Content-Type": "application/json", "X-Service-Charge-Microusd": "19"}


async def sent(response: LeanAnswer) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []

    async def send(message: dict[str, Any]) -> None:
        messages.append(message)

    await send_response(send, response, [(b"vary", b"origin"), (b"x-service-charge-microusd", b"0")])
    return messages


@pytest.mark.parametrize("headers", [PLAIN, {**PLAIN, "X-Name": "Zoë"}, {**PLAIN, "X-Name": "日本"}, {}])
async def test_it_is_sent_as_django_would_send_it(headers: Mapping[str, str]) -> None:
    ours, djangos = LeanResponse(b"{}", 201, headers), HttpResponse(b"{}", status=201, headers=dict(headers))
    if headers:
        assert await sent(ours) == await sent(djangos)
    else:
        assert headers_of(ours) == [(b"content-length", b"2")]  # Django would guess a media type


async def test_what_a_middleware_adds_is_sent_too() -> None:
    response = LeanResponse(b"{}", 200, PLAIN).to_django()
    response["Access-Control-Allow-Origin"] = "https://app.example"
    response.content = b"[1]"
    start, body = await sent(response)
    assert (b"access-control-allow-origin", b"https://app.example") in start["headers"]
    assert (b"content-length", b"3") in start["headers"]
    assert body["body"] == b"[1]"


async def test_a_header_cannot_end_its_line() -> None:
    with pytest.raises(BadHeaderError):
        await sent(LeanResponse(b"{}", 200, {"Content-Type": "text/plain\r\nX: 1"}))
