"""A multipart form with a file that stays on disk: it is read while it is sent, a little at a time."""

import io
from collections.abc import Iterable

import aiohttp

from inference.rules.form_body import KeptFile


class _Reader(io.RawIOBase):
    """One reading of a file, with a position of its own: several attempts may send the same file."""

    def __init__(self, file: KeptFile) -> None:
        self._kept = file
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        data = self._kept.read_at(self._position, len(buffer))
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._kept.size_bytes}[whence]
        self._position = start + offset
        return self._position

    def fileno(self) -> int:
        """Return the descriptor, of which the client only asks the size."""
        return self._kept.fileno()


def form_payload(
    fields: Iterable[tuple[str, str]], file: KeptFile, *, filename: str, content_type: str
) -> aiohttp.FormData:
    """Build a form of fields and the file, named `file`. Its length is known, so that it is not sent in chunks."""
    form = aiohttp.FormData(quote_fields=False)
    for name, value in fields:
        form.add_field(name, value)
    form.add_field("file", _Reader(file), filename=filename, content_type=content_type)
    return form
