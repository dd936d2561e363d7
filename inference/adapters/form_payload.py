"""Builds a multipart form whose file stays on disk and is read in pieces while it is sent."""

import io
from collections.abc import Iterable

import aiohttp

from gateway.core.outbound.client import Body
from inference.rules.form_body import SpooledFile


class _Reader(io.RawIOBase):
    """A reader of a file with its own position, because several attempts may send the same file."""

    def __init__(self, file: SpooledFile) -> None:
        self._file = file
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._file.read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._file.size_bytes}[whence]
        self._position = start + offset
        return self._position

    def fileno(self) -> int:
        """Return the descriptor. The HTTP client only reads its size."""
        return self._file.fileno()


def form_payload(fields: Iterable[tuple[str, str]], file: SpooledFile, *, filename: str, content_type: str) -> Body:
    """Build a form of fields and the file, named `file`. Its length is known, so that it is sent without chunked encoding."""
    form = aiohttp.FormData(quote_fields=False)
    for name, value in fields:
        form.add_field(name, value)
    form.add_field("file", _Reader(file), filename=filename, content_type=content_type)
    written = form()
    return Body(written.headers["Content-Type"], written)
