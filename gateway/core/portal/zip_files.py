"""Sends several files as one ZIP archive, streamed: only a piece of it is in memory at a time."""

from collections.abc import Iterable, Iterator
from io import RawIOBase
from typing import Any, NamedTuple
from zipfile import ZIP_DEFLATED, ZipFile

from django.http import StreamingHttpResponse

from gateway.core.portal.streams import file_response

PIECE_BYTES = 64 * 1024


class ArchivedFile(NamedTuple):
    """A file of an archive; its pieces are made when they are sent."""

    name: str
    pieces: Iterable[str]


def zip_response(name: str, files: Iterable[ArchivedFile]) -> StreamingHttpResponse:
    """Respond with an archive of that name. No database connection is held while it is sent."""
    return file_response(f"{name}.zip", "application/zip", zip_pieces(files))


def zip_pieces(files: Iterable[ArchivedFile]) -> Iterator[bytes]:
    """Write an archive of the files, whose text is UTF-8, in pieces of about 64 KiB."""
    sink = _Sink()
    with ZipFile(sink, "w", ZIP_DEFLATED) as archive:
        for name, pieces in files:
            with archive.open(name, "w", force_zip64=True) as file:
                for piece in pieces:
                    file.write(piece.encode())
                    if sink.size >= PIECE_BYTES:
                        yield sink.taken()
    yield sink.taken()


class _Sink(RawIOBase):
    """What the archive writes to: it collects bytes until they are taken. It cannot seek, so the archive does not."""

    def __init__(self) -> None:
        super().__init__()
        self._written: list[bytes] = []
        self.size = 0

    def write(self, written: Any, /) -> int:
        self._written.append(bytes(written))
        self.size += len(self._written[-1])
        return len(self._written[-1])

    def taken(self) -> bytes:
        """Return what was written since it was last called."""
        whole = b"".join(self._written)
        self._written.clear()
        self.size = 0
        return whole
