"""Static files where nothing was collected; what a running gateway serves is in tests/run."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any, cast

from django.test import AsyncClient

from gateway.core.http.server.static_files import CHUNK_BYTES, CollectedFiles

BIG_FILE = "/static/scalar/scalar.standalone.js"


def test_a_name_stays_plain_where_nothing_was_collected(tmp_path: Path) -> None:
    files = CollectedFiles(location=str(tmp_path), base_url="/static/")
    assert files.url("portal/portal.css") == "/static/portal/portal.css"


async def pieces(response: Any) -> list[bytes]:
    """Return an answer's body in the pieces in which it is sent."""
    return [piece async for piece in cast("AsyncIterator[bytes]", response)]


async def test_a_file_comes_in_pieces() -> None:
    response = await AsyncClient().get(BIG_FILE)
    sizes = [len(piece) for piece in await pieces(response)]
    assert max(sizes) == CHUNK_BYTES
    assert sum(sizes) == int(response["Content-Length"])
    response.close()


async def test_a_range_is_answered() -> None:
    part = await AsyncClient().get(BIG_FILE, headers={"Range": "bytes=0-9"})
    assert (part.status_code, len(b"".join(await pieces(part)))) == (206, 10)
    part.close()
