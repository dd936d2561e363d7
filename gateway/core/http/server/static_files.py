"""Static files: compressed and named by content hash when they are collected, and served on the event loop."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

from asgiref.sync import sync_to_async
from django.core.handlers.asgi import ASGIRequest
from django.http import FileResponse, HttpRequest
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.storage import CompressedManifestStaticFilesStorage

CHUNK_BYTES = 64 * 1024


class CollectedFiles(CompressedManifestStaticFilesStorage):
    """Names each file by its content's hash, so that a browser may cache it forever. Scripts are kept as they are: the one
    address that would be replaced in them, their source map's, names a file that packages leave out."""

    patterns = tuple(pattern for pattern in CompressedManifestStaticFilesStorage.patterns if pattern[0] != "*.js")

    def stored_name(self, name: str) -> str:
        """Return the name with its hash, or the plain one in a process for which nothing was collected (a command)."""
        return super().stored_name(name) if self.hashed_files else name

    def _save(self, name: str, content: Any) -> str:
        """Write a file under another name, and rename it once it is complete. A process that is killed while it collects would
        otherwise leave half a file, which is not written again, or half a list of names, with which no server starts."""
        unfinished = super()._save(f"{name}.unfinished", content)
        Path(self.path(unfinished)).replace(self.path(name))
        return name


class StaticFilesMiddleware(WhiteNoiseMiddleware):
    """Serves static files in pieces on an event loop; Django would read the whole file and issue a warning."""

    @staticmethod
    def serve(static_file: Any, request: HttpRequest) -> FileResponse:
        """Return WhiteNoise's response, with a body that can be read without blocking."""
        response: FileResponse = WhiteNoiseMiddleware.serve(static_file, request)
        if isinstance(request, ASGIRequest):
            response.streaming_content = _pieces(response.file_to_stream)
        return response


async def _pieces(file: Any) -> AsyncIterator[bytes]:
    """Yield the file's content, nothing if there is no file (HEAD); the response closes the file."""
    if file is None:
        return
    read = sync_to_async(file.read, thread_sensitive=False)
    while piece := await read(CHUNK_BYTES):
        yield piece
