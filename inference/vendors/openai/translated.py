"""Translates a stream of one of the vendor's two APIs, for a client that uses the other."""

from abc import abstractmethod
from collections.abc import Sequence
from typing import Any, Protocol

from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_off
from inference.adapters.exchange import NotJSONError, parse_object
from inference.adapters.streams import EventStream
from inference.adapters.templates import Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.translation.answer import MalformedAnswer
from inference.translation.events import Event, Failed, TextDelta, output_bytes

_DONE = b"[DONE]"

Written = list[dict[str, Any]]


class Reader(Protocol):
    """Reads the upstream's format; see `inference.translation`."""

    is_complete: bool

    def read(self, sent: dict[str, Any], /) -> Sequence[Event]: ...

    def done(self) -> None: ...


class Writer(Protocol):
    """Writes the client's format; see `inference.translation`."""

    def begin(self) -> Written: ...

    def write(self, event: Event, /) -> Written: ...

    def repeat(self, text: str, count: int, /) -> int: ...

    def finish(self) -> Written: ...


class TranslatedStream(EventStream):
    """Translates events from one format to the other. Data after the last event is not read."""

    def __init__(
        self,
        attempt: Attempt[Any],
        response: Response,
        reader: Reader,
        writer: Writer,
        templates: Templates,
    ) -> None:
        super().__init__(attempt, response)
        self._reader = reader
        self._writer = writer
        self.templates: Templates = templates
        self._begun = writer.begin()

    @abstractmethod
    def chunk(self, written: Written, size: int) -> Chunk:
        """Build a chunk from written events, with `size` bytes of output."""

    @abstractmethod
    def last_chunk(self, written: Written, size: int) -> Chunk:
        """Build the last chunk of the stream, with `size` bytes of output."""

    def repeated(self, run: Run) -> Chunk:
        number = self._writer.repeat(run.text, run.deltas)
        return Chunk(run.written(number), run.deltas, run.size_bytes)

    def translate(self, data: bytes) -> Chunk | None:
        if self._ended:
            return None
        try:
            return self._translate(data)
        except MalformedAnswer as error:
            raise NotJSONError(str(error)) from error

    def _translate(self, data: bytes) -> Chunk:
        written, size = self._begun, 0
        self._begun = []
        events = self._read_event(data)
        for event in events:
            size += output_bytes(event)
            written += self._writer.write(event)
        if len(events) == len(written) == 1 and _is_plain(events[0]):
            self.plain = written[0]
        else:
            self.templates.forget()  # another part or item may be open now
        if not self._reader.is_complete:
            return self.chunk(written, size)
        self._ended = True
        return self.last_chunk(written + self._writer.finish(), size)

    def _read_event(self, data: bytes) -> Sequence[Event]:
        if data == _DONE:
            self._reader.done()
            return ()
        events = self._reader.read(parse_object(data))
        if events and type(events[0]) is Failed:
            raise broken_off(self._attempt, events[0].cause)
        return events


def _is_plain(event: Event) -> bool:
    return type(event) is TextDelta and event.logprobs is None
