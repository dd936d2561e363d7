"""Calls a route at upstreams that have it in another form, by translating request, answer and stream.

The upstream's form is a value (`UpstreamForm`), which its vendor's folder defines; the client's is a subclass of the endpoint here,
one for each route.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, Protocol

from gateway.core.contract.errors import ApiError, InvalidRequest
from gateway.core.outbound.response import Response
from inference.adapters.errors import broken_off
from inference.adapters.exchange import NotJSONError, Refusal, is_event_stream, parse_object
from inference.adapters.http_endpoint import JsonEndpoint, SentJson
from inference.adapters.streams import EventStream
from inference.adapters.templates import Form, Run, Templates
from inference.interface.answer import EVENT_STREAM_TYPE, Chunk
from inference.interface.model import UpstreamTarget
from inference.interface.upstream import Attempt, Outcome, Rejected
from inference.translation.answer import Answer, MalformedAnswer
from inference.translation.conversation import Conversation, renamed
from inference.translation.events import Event, Failed, TextDelta, output_bytes

_DONE = b"[DONE]"

Written = list[dict[str, Any]]


class Reader(Protocol):
    """Reads the upstream's stream; see `inference.translation`."""

    is_complete: bool

    def read(self, sent: dict[str, Any], /) -> Sequence[Event]: ...

    def done(self) -> None: ...


class Writer(Protocol):
    """Writes the client's stream; see `inference.translation`. `usage` and `service_tier` are what was reported, in the client's
    form."""

    service_tier: Any

    @property
    def usage(self) -> Mapping[str, Any] | None: ...

    def begin(self) -> Written: ...

    def write(self, event: Event, /) -> Written: ...

    def repeat(self, text: str, count: int, /) -> int: ...

    def finish(self) -> Written: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class UpstreamForm:
    """One route of an upstream's API, as another route is translated to it.

    `fields` maps its members to the fields of a `Conversation`. `write` builds a request, without its model, and raises
    InvalidRequest naming what it cannot express; `streamed` are the members that ask for a stream with its usage.
    """

    path: str
    fields: Mapping[str, str]
    write: Callable[[Conversation, UpstreamTarget | None], dict[str, Any]]
    read_answer: Callable[[Mapping[str, Any]], Answer]
    stream_reader: Callable[[], Reader]
    template: Form
    streamed: Mapping[str, Any] = field(default_factory=lambda: {"stream": True})
    headers: Mapping[str, str] = field(default_factory=dict)


class TranslatedEndpoint(JsonEndpoint[SentJson]):
    """A route's requests at upstreams that have it in another form."""

    translates = True
    fields: ClassVar[Mapping[str, str]]
    template: ClassVar[Form]

    def __init__(self, upstream: UpstreamForm) -> None:
        self.path = upstream.path
        self.upstream = upstream

    @abstractmethod
    def read_request(self, body: Mapping[str, Any]) -> Conversation:
        """Read the client's request. Raises InvalidRequest."""

    @abstractmethod
    def write_answer(self, answer: Answer, attempt: Attempt[SentJson]) -> dict[str, Any]:
        """Write an answer for the client."""

    @abstractmethod
    def stream_writer(self, attempt: Attempt[SentJson]) -> Writer:
        """Return the writer of a stream for the client."""

    @abstractmethod
    def render(self, event: Mapping[str, Any]) -> bytes:
        """Render one event of the client's stream."""

    @abstractmethod
    def chunk(self, written: Written, size: int) -> Chunk:
        """Build a chunk from written events, with `size` bytes of output."""

    @abstractmethod
    def last_chunk(self, written: Written, size: int, usage: Mapping[str, Any] | None) -> Chunk:
        """Build the last chunk of a stream, with `size` bytes of output and the reported usage."""

    def repeated(self, run: Run, number: int) -> Chunk:
        """Build the chunk of consecutive text events, which are numbered from `number` on."""
        return Chunk(run.written(number), run.deltas, run.size_bytes)

    def refusal(self, valid: Any) -> ApiError | None:
        """Return the error that names the member that the upstream's form cannot express."""
        try:
            self.upstream.write(self.read_request(valid.body), None)
        except InvalidRequest as error:
            return error
        return None

    def headers(self, attempt: Attempt[SentJson]) -> Mapping[str, str]:
        return self.upstream.headers

    def body(self, attempt: Attempt[SentJson], *, streams: bool) -> dict[str, Any]:
        """Build the equivalent request."""
        body = self.upstream.write(self.read_request(attempt.request.body), attempt.target)
        body["model"] = attempt.upstream_model
        return {**body, **self.upstream.streamed} if streams else body

    def stream_accept(self, attempt: Attempt[SentJson]) -> str:
        return EVENT_STREAM_TYPE

    def stream_of(self, attempt: Attempt[SentJson], response: Response) -> "TranslatedStream | None":
        return TranslatedStream(attempt, response, self) if is_event_stream(response) else None

    def refused(self, attempt: Attempt[SentJson], refusal: Refusal) -> Outcome:
        """Return the outcome of a refusal, with the member at fault under the client's name."""
        outcome = super().refused(attempt, refusal)
        if isinstance(outcome, Rejected):
            outcome.error.param = renamed(outcome.error.param, self.upstream.fields, self.fields)
        return outcome

    def convert_answer(self, attempt: Attempt[SentJson], body: dict[str, Any]) -> None:
        try:
            answer = self.write_answer(self.upstream.read_answer(body), attempt)
        except MalformedAnswer as error:
            raise NotJSONError(str(error)) from error
        body.clear()
        body |= answer


class TranslatedStream(EventStream):
    """Translates events from one form to the other. Data after the last event is not read."""

    def __init__(self, attempt: Attempt[Any], response: Response, endpoint: TranslatedEndpoint[Any]) -> None:
        super().__init__(attempt, response)
        self._endpoint = endpoint
        self._reader = endpoint.upstream.stream_reader()
        self._writer = endpoint.stream_writer(attempt)
        self.templates: Templates = Templates(endpoint.upstream.template, endpoint.template, endpoint.render)
        self._begun = self._writer.begin()
        self._is_first = True

    def repeated(self, run: Run) -> Chunk:
        return self._endpoint.repeated(run, self._writer.repeat(run.text, run.deltas))

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
            chunk = self._endpoint.chunk(written, size)
        else:
            self._ended = True
            written += self._writer.finish()
            chunk = self._endpoint.last_chunk(written, size, self._writer.usage)
        chunk.service_tier = self._writer.service_tier
        return chunk

    def _read_event(self, data: bytes) -> Sequence[Event]:
        if data == _DONE:
            self._reader.done()
            return ()
        sent = parse_object(data)
        events, is_first = self._reader.read(sent), self._is_first
        if events and type(failed := events[0]) is Failed:
            raise broken_off(self._attempt, failed.cause, failed.names if is_first else ())
        self._is_first = is_first and sent.get("type") == "ping"
        return events


def _is_plain(event: Event) -> bool:
    return type(event) is TextDelta and event.logprobs is None
