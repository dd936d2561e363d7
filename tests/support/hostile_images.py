"""Image addresses and servers that attack the fetcher, for every route that accepts images."""

import gzip
import socket
from collections.abc import Callable, Mapping
from typing import Any

from tests.factories.images import GIF, PNG
from tests.support.image_host import ImageHost, Page, answer, resolving

MEGABYTE = 1024 * 1024
PATIENCE_SECONDS = 0.5
"""How long a fetcher waits for `SLOW_PAGES`."""

URLS = [
    "http://images.example/a.png",
    "file:///etc/passwd",
    "https://localhost/a.png",
    "https://images.localhost/a.png",
    "https://images.internal/a.png",
    "https://127.0.0.1/a.png",
    "https://127.1/a.png",
    "https://10.0.0.1/a.png",
    "https://2130706433/a.png",
    "https://017700000001/a.png",
    "https://0177.0.0.1/a.png",
    "https://0x7f000001/a.png",
    "https://0x7f.0x0.0x0.0x1/a.png",
    "https://[::1]/a.png",
    "https://[::ffff:127.0.0.1]/a.png",
    "https://[::ffff:7f00:1]/a.png",
    "https://[64:ff9b::7f00:1]/a.png",
    "https://[fe80::1]/a.png",
    "https://[fe80::1%25eth0]/a.png",
    "https://169.254.1.1/a.png",
    "https://169.254.169.254/latest/meta-data/",
    "https://0xa9fea9fe/latest/meta-data/",
    "https://2852039166/latest/meta-data/",
    "https://[::ffff:169.254.169.254]/latest/meta-data/",
    "https://[fd00:ec2::254]/latest/meta-data/",
    "https://100.100.100.200/latest/meta-data/",
    "https://metadata.google.internal/computeMetadata/v1/",
    "https://user:word@images.example/a.png",
    "https://images.example@127.0.0.1/a.png",
    "https://images.example\\@127.0.0.1/a.png",
    "https://images.example:0/a.png",
]
"""Refused by the URL alone: decimal, octal, hexadecimal and mapped forms, link-local and metadata addresses,
credentials."""

RESOLVED: Mapping[str, list[str]] = {
    "loopback": ["127.0.0.2"],
    "metadata": ["169.254.169.254"],
    "link-local": ["fe80::1"],
    "mapped": ["::ffff:10.0.0.1"],
    "one of several": ["127.0.0.1", "10.0.0.1"],
    "nothing": [],
}
"""Addresses that a public-looking name may resolve to; 127.0.0.1 stands for the public internet in tests."""


def _endless(host: ImageHost) -> Page:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n" + PNG)
        while not host.closing.is_set():
            connection.sendall(b"\0" * 65_536)

    return serve


def _silent(host: ImageHost) -> Page:
    def serve(connection: socket.socket) -> None:
        connection.recv(1)  # until the other side leaves

    return serve


def _dripping(host: ImageHost) -> Page:
    def serve(connection: socket.socket) -> None:
        connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + PNG)
        while not host.closing.wait(0.02):
            connection.sendall(b"\0")

    return serve


def _bomb(host: ImageHost) -> Page:
    packed = gzip.compress(PNG + b"\0" * 30 * MEGABYTE, 9)
    return answer(packed, headers="Content-Type: image/png\r\nContent-Encoding: gzip\r\n")


PAGES: Mapping[str, Callable[[ImageHost], Page]] = {
    "redirect": lambda host: answer(b"", status="302 Found", headers=f"Location: {host.url('/b')}\r\n"),
    "not there": lambda host: answer(PNG, status="404 Not Found"),
    "no image": lambda host: answer(b"<html>", headers="Content-Type: image/png\r\n"),
    "another image": lambda host: answer(GIF, headers="Content-Type: image/png\r\n"),
    "empty": lambda host: answer(b""),
    "cut short": lambda host: answer(PNG, length=len(PNG) + 1),
    "too large": lambda host: answer(PNG + b"\0" * 5 * MEGABYTE),
    "said to be huge": lambda host: answer(PNG, length=10**15),
    "endless": _endless,
    "compressed bomb": _bomb,
}
SLOW_PAGES: Mapping[str, Callable[[ImageHost], Page]] = {"silent": _silent, "dripping": _dripping}
"""The pages that are given up at the fetcher's timeout."""


def noting(looked_up: list[str]) -> Callable[..., list[Any]]:
    """Build a resolver that returns the tests' public address for everything; `asked` records each query."""

    def look_up(name: str, port: int, *_: Any) -> list[Any]:
        looked_up.append(name)
        return resolving("127.0.0.1")(name, port)

    return look_up


def rebinding(looked_up: list[str]) -> Callable[..., list[Any]]:
    """Build a resolver that returns the tests' public address first and a private one afterwards; `asked` records each
    name."""

    def look_up(name: str, port: int, *_: Any) -> list[Any]:
        looked_up.append(name)
        return resolving("127.0.0.1" if len(looked_up) == 1 else "127.0.0.2")(name, port)

    return look_up
