"""Transcriptions and translations at upstreams that implement the public vendor API."""

import io
from collections.abc import Iterable
from typing import Any, ClassVar

import aiohttp

from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import Body
from gateway.core.outbound.response import Response
from inference.adapters.exchange import ANSWER_MAX_BYTES, NotJSONError, read_object
from inference.adapters.http_endpoint import PRIVATE_MEMBERS, HttpEndpoint
from inference.adapters.streams import EventStream, LastEventStream
from inference.interface.answer import Answer, Chunk
from inference.interface.upstream import Attempt
from inference.routes.transcriptions.bound import BoundedTranscription
from inference.routes.transcriptions.stream import DONE, render
from inference.rules.audio.length import MEDIA_TYPES
from inference.rules.form_body import SpooledFile

TEXT_TYPES = frozenset({"text/plain", "text/vtt", "text/srt", "text/x-srt", "text/x-subrip", "application/x-subrip"})
"""The media types of text and subtitles. A proxy's error page is refused, and so is a stream that was not requested."""


class TranscriptStream(LastEventStream):
    """Forwards the vendor's events."""

    def rewrite(self, event: dict[str, Any]) -> Chunk:
        if not isinstance(event.get("type"), str):
            raise NotJSONError("an event without a type")
        _make_ours(self._attempt, event)
        if event["type"] == DONE:
            if not isinstance(event.get("text"), str) or not isinstance(event.get("usage"), dict | None):
                raise NotJSONError("a last event without its text, or whose usage is not an object")
            self._ended = True
            return Chunk(b"", events=(event,))
        delta = event.get("delta")
        size = len(delta.encode()) if isinstance(delta, str) else 0
        return Chunk(render(event), int(size > 0), size)


class OpenAITranscriptions(HttpEndpoint[BoundedTranscription]):
    """`POST /audio/transcriptions`. The answer is JSON, or text in one of three layouts."""

    path = "/audio/transcriptions"
    stream: ClassVar[type[EventStream] | None] = TranscriptStream

    async def payload(self, attempt: Attempt[BoundedTranscription], *, streams: bool) -> Body:
        """Build the form. The file is read from disk while it is sent."""
        params = attempt.request.params
        fields = [("model", attempt.upstream_model), *params.fields, *([("stream", "true")] if streams else [])]
        container = params.container
        return form_payload(fields, params.file, filename=f"audio.{container}", content_type=MEDIA_TYPES[container])

    async def read(self, attempt: Attempt[BoundedTranscription], response: Response) -> Answer:
        """Read the text, or a JSON object that contains it."""
        if attempt.request.params.is_text:
            return Answer(await _read_text(response), None)
        body = await read_object(response)
        usage = body.get("usage")
        if body.get("error") or not isinstance(body.get("text"), str):
            raise NotJSONError("no text")
        if not isinstance(usage, dict | None):
            raise NotJSONError("usage is not an object")
        _make_ours(attempt, body)
        return Answer(body, usage)


class OpenAITranslations(OpenAITranscriptions):
    """`POST /audio/translations`."""

    path = "/audio/translations"
    stream = None


def _make_ours(attempt: Attempt[Any], body: dict[str, Any]) -> None:
    """Remove what reveals the upstream's infrastructure, and replace its id and model if present. A segment keeps its id."""
    for member in PRIVATE_MEMBERS:
        body.pop(member, None)
    if "model" in body:
        body["model"] = attempt.call.public_model
    if "id" in body and body.get("type") is None:
        body["id"] = attempt.call.public_id


async def _read_text(response: Response) -> str:
    """Read an answer that is text. Raises NotJSONError if it is not."""
    media_type = response.headers.get("Content-Type", "text/plain").partition(";")[0].strip().lower()
    if media_type not in TEXT_TYPES:
        raise NotJSONError(f"content type {media_type}")
    try:
        return (await read_bounded(response.content, ANSWER_MAX_BYTES)).decode()
    except UnicodeDecodeError as error:
        raise NotJSONError("the text is not UTF-8") from error


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
