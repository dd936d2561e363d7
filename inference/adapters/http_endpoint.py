"""A route at an upstream's base URL, over HTTP: what is sent, and what comes back as an outcome.

A route's endpoint says where it goes, what its payload is, and how its answer is made ours. This is the same for every
vendor; how a vendor words its errors is the endpoint's `refused`.
"""

from abc import abstractmethod
from typing import Any, ClassVar, TypeVar

import aiohttp
import orjson

from gateway.core.api.json_pieces import dumps_in_pieces
from gateway.core.api.offload import offload
from gateway.core.outbound.failures import MisconfiguredError
from gateway.core.outbound.timeouts import answer_timeout, idle_seconds, stream_timeout
from inference.adapters import errors
from inference.adapters.exchange import (
    ANSWER_MAX_BYTES,
    NotJSONError,
    Refusal,
    is_event_stream,
    json_payload,
    post,
    read_object,
    read_refusal,
)
from inference.adapters.failures import outcome_of_exception
from inference.adapters.streams import EventStream, HttpStream
from inference.rules.answer import EVENT_STREAM_TYPE, Answer
from inference.rules.json_body import JSON_TYPE, BoundedJson
from inference.rules.plan import stream_seconds
from inference.rules.upstream import Attempt, Endpoint, Outcome, Sent, Stream

SentJson = TypeVar("SentJson", bound=BoundedJson)

PRIVATE_MEMBERS = ("system_fingerprint", "x_groq", "provider", "request_id")
"""Top-level members of an answer that name the upstream's machinery."""


class HttpEndpoint(Endpoint[Sent]):
    """One route of an upstream's API. `stream` reads its event stream, where it has one; a route whose streams are of
    another kind has `stream_of` and `stream_accept` of its own."""

    path: ClassVar[str]
    accept: ClassVar[str] = JSON_TYPE
    stream: ClassVar[type[EventStream] | None] = None

    @abstractmethod
    async def payload(self, attempt: Attempt[Sent], *, streams: bool) -> Any:
        """Build what is sent, of a kind that aiohttp takes. Raises MisconfiguredError where it cannot be."""

    @abstractmethod
    async def read(self, attempt: Attempt[Sent], response: aiohttp.ClientResponse) -> Answer:
        """Read a 2xx to its end and make it ours. Raises NotJSONError where it has not the shape of an answer."""

    async def send(self, attempt: Attempt[Sent]) -> Outcome:
        """Send a call and read its whole answer. Never raises but for cancellation."""
        try:
            return await self._send(attempt)
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            return outcome_of_exception(attempt, error)

    async def open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        """Send a call and return at its first event, or with what came instead. Never raises but for cancellation."""
        try:
            return await self._open_stream(attempt)
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            return outcome_of_exception(attempt, error)

    def stream_accept(self, attempt: Attempt[Sent]) -> str:
        """Return the media type that a stream is asked for by, or raise MisconfiguredError where there is none."""
        if self.stream is None:
            raise MisconfiguredError(f"{self.path} does not stream")
        return EVENT_STREAM_TYPE

    def stream_of(self, attempt: Attempt[Sent], response: aiohttp.ClientResponse) -> HttpStream | None:
        """Return the stream that a 200 begins, None where it is an answer in one piece. Raises NotJSONError."""
        return self.stream(attempt, response) if self.stream and is_event_stream(response) else None

    def refused(self, attempt: Attempt[Sent], refusal: Refusal) -> Outcome:
        """Read a complete answer that is not a 2xx."""
        return errors.outcome_of(attempt, refusal)

    async def _send(self, attempt: Attempt[Sent]) -> Outcome:
        payload = await self.payload(attempt, streams=False)
        phases = answer_timeout(attempt.target.timeout_seconds)
        response = await post(attempt, self.path, payload, accept=self.accept, phases=phases)
        try:
            return await self._outcome(attempt, response)
        finally:
            response.close()

    async def _open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        accept = self.stream_accept(attempt)
        payload = await self.payload(attempt, streams=True)
        patience = attempt.target.timeout_seconds
        phases = stream_timeout(patience, stream_seconds(patience))
        response = await post(attempt, self.path, payload, accept=accept, phases=phases)
        try:
            stream = self.stream_of(attempt, response) if response.status == 200 else None
            if stream is None:
                return await self._outcome(attempt, response)
            _shorten_silence(response, idle_seconds(patience))
            await stream.begin()
        except BaseException:
            response.close()
            raise
        return stream

    async def _outcome(self, attempt: Attempt[Sent], response: aiohttp.ClientResponse) -> Outcome:
        if response.status < 200:
            raise NotJSONError(f"status {response.status}")
        if response.status >= 300:
            return self.refused(attempt, await read_refusal(response))
        return await self.read(attempt, response)


class JsonSender(HttpEndpoint[SentJson]):
    """A route that takes a JSON object, whatever it answers with."""

    answer_max_bytes: ClassVar[int] = ANSWER_MAX_BYTES

    def body(self, attempt: Attempt[SentJson], *, streams: bool) -> dict[str, Any]:
        """Build the body that goes upstream: the client's, with the deployment's model in the alias's place."""
        return {**attempt.request.body, "model": attempt.model}

    async def payload(self, attempt: Attempt[SentJson], *, streams: bool) -> Any:
        """Write the body as JSON, a large one beside the event loop."""
        try:
            if attempt.request.is_large:
                written = await offload(lambda: dumps_in_pieces(self.body(attempt, streams=streams)))
            else:
                written = orjson.dumps(self.body(attempt, streams=streams))
        except TypeError as error:  # nothing was sent, so nothing may be in doubt
            raise MisconfiguredError("the request cannot be written as JSON") from error
        return json_payload(written)


class JsonEndpoint(JsonSender[SentJson]):
    """A route that takes a JSON object and answers with one."""

    def is_error(self, body: dict[str, Any]) -> bool:
        """Return whether a body of a 2xx is an error in place of an answer."""
        return bool(body.get("error"))

    @abstractmethod
    def make_ours(self, attempt: Attempt[SentJson], body: dict[str, Any]) -> None:
        """Make an answer ours, in place; raise NotJSONError where it has not the shape of one."""

    async def read(self, attempt: Attempt[SentJson], response: aiohttp.ClientResponse) -> Answer:
        """Read a JSON object and its usage."""
        body = await read_object(response, self.answer_max_bytes)
        usage = body.get("usage")
        if not (usage is None or isinstance(usage, dict)):
            raise NotJSONError("usage is no object")
        if self.is_error(body):
            raise NotJSONError("an error under a status of success")
        self.make_ours(attempt, body)
        return Answer(body, body.get("usage"))


def put_our_names(attempt: Attempt[Any], body: dict[str, Any]) -> None:
    """Put the alias and our id where the upstream's stood, and drop what tells of its machinery, in place."""
    body["model"] = attempt.public_model
    if "id" in body:
        body["id"] = attempt.public_id
    for member in PRIVATE_MEMBERS:
        body.pop(member, None)


def _shorten_silence(response: aiohttp.ClientResponse, seconds: float) -> None:
    """Hold a stream to its idle timeout from its first byte on; until then it may think as long as any call."""
    connection = response.connection
    if connection is not None and connection.protocol is not None:
        connection.protocol.read_timeout = seconds
