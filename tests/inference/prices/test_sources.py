"""Where a catalogue is read from: a file or a public address, with limits on size and time."""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import pytest

from inference.operations import price_sources
from inference.operations.price_sources import host_of, name_of, read
from inference.rules.price_catalogues.numbers import CATALOGUE_MAX_BYTES, CatalogueError
from tests.inference.prices.excerpts import LITELLM
from tests.support.image_host import NAME, ImageHost, answer


@pytest.fixture(scope="module")
def running_host(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ImageHost]:
    with ImageHost(tmp_path_factory.mktemp("catalogues")) as running:
        yield running


@pytest.fixture
def host(running_host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> ImageHost:
    """A server that stands for the public internet."""
    running_host.empty()
    monkeypatch.setattr(price_sources, "FETCHER", running_host.fetcher())
    return running_host


@pytest.fixture
def local() -> Iterator[str]:
    """Serve a catalogue on this machine, without TLS."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.send_response(200)
            self.send_header("Content-Length", str(len(LITELLM)))
            self.end_headers()
            self.wfile.write(LITELLM)

        def log_message(self, *args: Any) -> None:
            pass

    with HTTPServer(("127.0.0.1", 0), Handler) as server:
        threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}/prices.json"
        server.shutdown()


def refusal(source: str) -> str:
    with pytest.raises(CatalogueError) as caught:
        read(source)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_catalogue_is_fetched_over_https(host: ImageHost) -> None:
    host.pages["/prices.json"] = answer(LITELLM)
    assert read(host.url("/prices.json")).form == "litellm"


@pytest.mark.parametrize(
    ("page", "words"),
    [
        (answer(b"{}", status="302 Found", headers="Location: https://127.0.0.1/\r\n"), "its host redirects"),
        (answer(b"{}", status="500 Internal Server Error"), "its host answered with status 500"),
        (answer(b"{}", status="404 Not Found"), "its host answered with status 404"),
        (answer(b"", length=CATALOGUE_MAX_BYTES + 1), f"it is larger than {CATALOGUE_MAX_BYTES} bytes"),
        (answer(b"{}", length=200 * 1024 * 1024), f"it is larger than {CATALOGUE_MAX_BYTES} bytes"),
        (answer(b"{}", headers="Content-Encoding: gzip\r\n"), "its host compressed it"),
        (answer(b"{}", length=100), "its host did not respond as expected"),
        (b"nonsense\r\n\r\n", "its host did not respond as expected"),
        (answer(b"<html>"), "it is not JSON"),
    ],
)
def test_an_answer_that_is_no_catalogue_is_refused_in_one_line(host: ImageHost, page: bytes, words: str) -> None:
    host.pages["/prices.json"] = page
    assert refusal(host.url("/prices.json")).startswith(words)


def wait_for(host: ImageHost) -> None:
    host.closing.wait(5)


def test_a_host_that_takes_too_long_is_given_up(host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_sources, "FETCHER", host.fetcher(seconds=0.2))
    host.pages["/prices.json"] = lambda connection: wait_for(host)
    assert refusal(host.url("/prices.json")) == "its host took too long"


@pytest.mark.parametrize(
    "url",
    [
        "http://prices.example/prices.json",
        "https://127.0.0.1/prices.json",
        "https://10.0.0.1/prices.json",
        "https://[::1]/prices.json",
        "https://169.254.169.254/latest",
        "https://localhost/prices.json",
        "https://prices.internal/prices.json",
        "https://user:secret@prices.example/prices.json",
        "ftp://prices.example/prices.json",
        "file:///etc/passwd",
        "https://",
        "https://[",
        "https://prices.example/\r\nX: y",
    ],
)
def test_an_address_that_is_not_public_is_not_asked(url: str) -> None:
    assert refusal(url) == "an address must be https, without credentials, and of a public host"


def test_a_name_that_leads_to_a_private_address_is_not_asked(host: ImageHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(price_sources, "FETCHER", host.fetcher(allowed=lambda address: False))
    assert refusal(host.url("/prices.json")) == "its host has no public address"
    assert host.requests == []


def test_this_machine_is_asked_in_development_alone(local: str, settings: Any) -> None:
    settings.DEMO_ADAPTER = True
    assert read(local).form == "litellm"
    for other in (local.replace("127.0.0.1", "localhost"), local.replace("http://", "http://me@")):
        assert refusal(other).startswith("an address must be https")
    settings.DEMO_ADAPTER = False
    assert refusal(local).startswith("an address must be https")


def test_a_file_is_read_to_the_limit(tmp_path: Path) -> None:
    file = tmp_path / "prices.json"
    file.write_bytes(LITELLM)
    assert read(str(file)).form == "litellm"
    with file.open("wb") as stream:
        stream.truncate(200 * 1024 * 1024)
    assert refusal(str(file)) == "it is larger than 16 MiB"
    assert refusal("a\0b") == "it is no file's name"


def test_a_source_is_named_without_its_user_and_query() -> None:
    assert name_of("https://prices.example/api.json?key=secret#x") == "https://prices.example/api.json"
    assert name_of("https://me:secret@prices.example/api.json") == "https://prices.example/api.json"
    assert name_of("https://[::1/api.json") == "the address"
    assert name_of("/srv/prices/api.json") == "api.json"
    assert host_of(f"https://{NAME}:8443/api.json") == NAME
    assert host_of("api.json") == ""
