"""Images that an upstream's answer names by URL: fetched by the gateway, within its limits, and never named to the client."""

import base64
import socket
from typing import Any

import pytest

from inference.adapters import fetched_images
from inference.vendors.openai.images import endpoint
from tests.factories.images import GIF, JPEG, PNG, WEBP
from tests.support.image_host import NAME, ImageHost, answer
from tests.support.stage import Caller, Stage

pytestmark = pytest.mark.usefixtures("host")

PATH = "/v1/images/generations"


def ask(stage: Stage, url: str, **members: Any) -> tuple[Caller, Any]:
    stage.upstream.script(image_url=url)
    alias = stage.model(price={"image": "40"}, options={"routes": ["images.generations"]})
    caller = stage.caller()
    return caller, caller.post({"model": alias, "prompt": "A badger", **members}, path=PATH)


@pytest.mark.parametrize("data", [PNG, JPEG, WEBP])
def test_the_client_gets_the_bytes(stage: Stage, host: ImageHost, data: bytes) -> None:
    host.pages["/made.png?sig=secret"] = answer(data)
    caller, response = ask(stage, host.url("/made.png?sig=secret"), n=2)
    images = response.json()["data"]
    assert [base64.b64decode(image["b64_json"]) for image in images] == [data, data]
    assert images[0] == {"b64_json": images[0]["b64_json"], "revised_prompt": "a badger"}
    assert NAME not in response.text
    assert "secret" not in response.text
    assert len(host.requests) == 2
    assert "authorization" not in host.requests[0].lower()
    assert caller.wallet == {"balance": 1_000_000 - 80, "held": 0, "debt": 0}


def test_a_data_url_needs_no_fetch(stage: Stage, host: ImageHost) -> None:
    _caller, response = ask(stage, f"data:image/png;base64,{base64.b64encode(PNG).decode()}")
    assert base64.b64decode(response.json()["data"][0]["b64_json"]) == PNG
    assert host.requests == []


def left_to_review(caller: Caller, response: Any) -> None:
    """Work may have been done and paid upstream: the hold stands, and the client learns no address."""
    error = response.json()["error"]
    assert (response.status_code, error["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"
    assert caller.wallet == {"balance": 1_000_000, "held": 40, "debt": 0}


@pytest.mark.parametrize(
    "url",
    [
        "http://images.example/a.png",
        "https://127.0.0.1/a.png",
        "https://0x7f.1/a.png",
        "https://2130706433/a.png",
        "https://017700000001/a.png",
        "https://[::ffff:127.0.0.1]/a.png",
        "https://169.254.169.254/latest/meta-data",
        "https://user:word@images.example/a.png",
        "https://10.0.0.5/a.png",
        "file:///etc/passwd",
        "ftp://images.example/a.png",
        "https://",
        "data:image/png;base64,!!!",
        "data:text/html;base64,PGh0bWw+",
        "nowhere",
    ],
)
def test_an_address_that_is_not_public_is_not_fetched(
    stage: Stage, host: ImageHost, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gateway.core.outbound.public_addresses import is_public

    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(allowed=is_public))
    caller, response = ask(stage, url)
    left_to_review(caller, response)
    assert host.requests == []


def test_an_address_with_credentials_is_not_fetched_even_of_a_public_place(stage: Stage, host: ImageHost) -> None:
    host.pages["/a.png"] = answer(PNG)
    caller, response = ask(stage, host.url("/a.png").replace("https://", "https://user:word@"))
    left_to_review(caller, response)
    assert host.requests == []


def test_a_name_that_resolves_to_a_private_address_is_not_fetched(
    stage: Stage, host: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    from gateway.core.outbound.public_addresses import is_public

    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(allowed=is_public))
    caller, response = ask(stage, host.url("/a.png"))
    left_to_review(caller, response)
    assert host.requests == []


@pytest.mark.parametrize(
    "page",
    [
        answer(b"", status="302 Found", headers="Location: https://images.example/b.png\r\n"),
        answer(b"gone", status="404 Not Found"),
        answer(b"<html>"),
        answer(GIF),
        answer(b""),
        answer(PNG, length=13 * 1024 * 1024),
        answer(PNG, headers="Content-Encoding: gzip\r\n"),
    ],
)
def test_what_is_no_image_is_left_to_review(stage: Stage, host: ImageHost, page: bytes) -> None:
    host.pages["/a.png"] = page
    left_to_review(*ask(stage, host.url("/a.png")))


def test_images_that_are_too_large_together_are_left_to_review(
    stage: Stage, host: ImageHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(endpoint, "ALL_MAX_BYTES", 2 * len(PNG))
    host.pages["/a.png"] = answer(PNG)
    _, response = ask(stage, host.url("/a.png"), n=2)
    assert response.status_code == 200
    caller, response = ask(stage, host.url("/a.png"), n=3)
    assert (response.status_code, response.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


def test_an_endless_body_is_given_up(stage: Stage, host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + PNG)
        while not host.closing.is_set():
            connection.sendall(b"\0" * 65536)

    host.pages["/a.png"] = endless
    left_to_review(*ask(stage, host.url("/a.png")))


def test_a_silent_host_is_given_up(stage: Stage, host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> None:
    host.pages["/a.png"] = lambda connection: host.closing.wait()  # type: ignore[assignment]
    monkeypatch.setattr(fetched_images, "FETCHER", host.fetcher(seconds=0.2))
    left_to_review(*ask(stage, host.url("/a.png")))
