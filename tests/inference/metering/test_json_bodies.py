"""Reading a JSON body."""

import asyncio
import hashlib
from typing import Any

import pytest

from gateway.core.contract.errors import UnsupportedMediaType
from gateway.core.http.multipart import Form
from inference.metering.bodies import read_json
from inference.rules.json_body import JsonBody

LARGE = b'{"a":[' + b"[]," * 5_000 + b"[]]}"


class Request:
    """A request with the members that the reader uses."""

    method, raw_path, request_id = "POST", b"/", "req_1"

    def __init__(self, body: bytes, content_type: bytes = b"application/json") -> None:
        self.body = body
        self.raw_headers = [(b"content-type", content_type)]

    async def read_body(self, limit_bytes: int) -> bytes:
        """Return the body."""
        return self.body

    async def read_form(self, limit_bytes: int) -> Form:
        """Raise, because there is no form."""
        raise UnsupportedMediaType

    def take_memory(self, size_bytes: int) -> None:
        """Accept any size."""


@pytest.mark.parametrize(("body", "is_large"), [(b'{"a":[1]}', False), (LARGE, True)])
def test_parsing_a_large_body_does_not_block_the_event_loop(body: bytes, is_large: bool) -> None:
    async def read() -> tuple[JsonBody, bool]:
        went_on = asyncio.Event()
        asyncio.get_running_loop().call_soon(went_on.set)
        return await read_json(Request(body)), went_on.is_set()

    members: dict[str, Any] = {"a": [1]} if not is_large else {"a": [[]] * 5_001}
    digest = hashlib.sha256(body).digest()  # the body is compact, so that both are the same
    assert asyncio.run(read()) == (JsonBody(members, len(body), digest, digest, is_large), is_large)


def test_the_digest_ignores_the_order_of_members_and_whitespace() -> None:
    bodies = (b'{"a":1,"b":[2]}', b' {"b": [2], "a": 1}', b'{"a":1,"b":[3]}')
    first, again, other = read = [asyncio.run(read_json(Request(body))) for body in bodies]
    assert [one.body_sha256 for one in read] == [hashlib.sha256(body).digest() for body in bodies]
    assert (first.digest, first.size_bytes) == (again.digest, again.size_bytes)
    assert first.digest != other.digest


@pytest.mark.parametrize("content_type", [b"text/plain", b"application/json; charset=latin-1", b""])
def test_another_media_type_is_refused(content_type: bytes) -> None:
    with pytest.raises(UnsupportedMediaType):
        asyncio.run(read_json(Request(b"{}", content_type)))
