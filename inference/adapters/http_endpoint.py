"""Calls one route of an upstream over HTTP, and converts its response to an outcome.

A route's endpoint defines its path, its payload, and the conversion of its answer. All else is common to the vendors, except
for their error formats, which an endpoint's `refused` reads.
"""

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, TypeVar

import orjson

from gateway.core.json.pieces import dumps_in_pieces
from gateway.core.outbound.client import Body
from gateway.core.outbound.failures import MisconfiguredError
from gateway.core.outbound.response import Response
from gateway.core.outbound.timeouts import answer_timeout, idle_seconds, stream_timeout
from gateway.core.runtime.offload import offload
from inference.adapters import errors
from inference.adapters.errors import outcome_of_exception
from inference.adapters.exchange import (
    ANSWER_MAX_BYTES,
    NotJSONError,
    Refusal,
    is_event_stream,
    post,
    read_object,
    read_refusal,
)
from inference.adapters.streams import EventStream, HttpStream
from inference.interface.answer import EVENT_STREAM_TYPE, Answer
from inference.interface.plan import stream_seconds
from inference.interface.upstream import Attempt, Endpoint, Outcome, Sent, Stream
from inference.rules.json_body import JSON_TYPE, BoundedJson
from inference.rules.service_tiers import DEFAULT

SentJson = TypeVar("SentJson", bound=BoundedJson)

PRIVATE_MEMBERS = ("system_fingerprint", "x_groq", "provider", "request_id")
"""Top-level members of an answer that reveal the upstream's infrastructure."""


class HttpEndpoint(Endpoint[Sent]):
    """One route of an upstream's API. `stream` reads its event stream, if it has one. A route with another kind of stream
    overrides `stream_of` and `stream_accept`."""

    path: str
    accept: ClassVar[str] = JSON_TYPE
    stream: ClassVar[type[EventStream] | None] = None

    def headers(self, attempt: Attempt[Sent]) -> Mapping[str, str]:
        """Return the headers that this route sends beside those of every call."""
        return {}

    @abstractmethod
    async def payload(self, attempt: Attempt[Sent], *, streams: bool) -> Body:
        """Build the request body. Raises MisconfiguredError if that is impossible."""

    @abstractmethod
    async def read(self, attempt: Attempt[Sent], response: Response) -> Answer:
        """Read a whole 2xx response and convert it for the client. Raises NotJSONError if it does not have the shape of an
        answer."""

    async def send(self, attempt: Attempt[Sent]) -> Outcome:
        """Send a call and read its whole answer. Raises nothing except cancellation."""
        try:
            return await self._send(attempt)
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            return outcome_of_exception(attempt, error)

    async def open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        """Send a call and return its stream at the first event, or the outcome if there is none. Raises nothing except
        cancellation."""
        try:
            return await self._open_stream(attempt)
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            return outcome_of_exception(attempt, error)

    def stream_accept(self, attempt: Attempt[Sent]) -> str:
        """Return the media type to request a stream with. Raises MisconfiguredError if the route does not stream."""
        if self.stream is None:
            raise MisconfiguredError(f"{self.path} does not stream")
        return EVENT_STREAM_TYPE

    def stream_of(self, attempt: Attempt[Sent], response: Response) -> HttpStream | None:
        """Return the stream of a 200 response, or None if it is an answer in one piece. Raises NotJSONError."""
        return self.stream(attempt, response) if self.stream and is_event_stream(response) else None

    def refused(self, attempt: Attempt[Sent], refusal: Refusal) -> Outcome:
        """Return the outcome of a complete response that is not a 2xx."""
        return errors.outcome_of(attempt, refusal)

    async def _send(self, attempt: Attempt[Sent]) -> Outcome:
        payload = await self.payload(attempt, streams=False)
        phases = answer_timeout(attempt.target.timeout_seconds)
        more = self.headers(attempt)
        response = await post(attempt, self.path, payload, accept=self.accept, phases=phases, more_headers=more)
        try:
            return await self._outcome(attempt, response)
        finally:
            response.close()

    async def _open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        accept = self.stream_accept(attempt)
        payload = await self.payload(attempt, streams=True)
        patience = attempt.target.timeout_seconds
        phases = stream_timeout(patience, stream_seconds(patience))
        more = self.headers(attempt)
        response = await post(attempt, self.path, payload, accept=accept, phases=phases, more_headers=more)
        try:
            stream = self.stream_of(attempt, response) if response.status == 200 else None
            if stream is None:
                return await self._outcome(attempt, response)
            response.limit_silence(idle_seconds(patience))
            await stream.begin()
        except BaseException:
            response.close()
            raise
        return stream

    async def _outcome(self, attempt: Attempt[Sent], response: Response) -> Outcome:
        if response.status < 200:
            raise NotJSONError(f"status {response.status}")
        if response.status >= 300:
            refusal = await read_refusal(response)
            attempt.call.on_refusal(refusal.status, refusal.body)
            return self.refused(attempt, refusal)
        return await self.read(attempt, response)


class JsonSender(HttpEndpoint[SentJson]):
    """A route that takes a JSON object and may answer in any format."""

    answer_max_bytes: ClassVar[int] = ANSWER_MAX_BYTES

    def body(self, attempt: Attempt[SentJson], *, streams: bool) -> dict[str, Any]:
        """Build the body for the upstream: the client's, with the deployment's model in place of the alias."""
        return {**attempt.request.body, "model": attempt.upstream_model}

    async def payload(self, attempt: Attempt[SentJson], *, streams: bool) -> Body:
        """Serialize the body as JSON, a large one outside the event loop."""
        try:
            if attempt.request.is_large:
                written = await offload(lambda: dumps_in_pieces(self._sent(attempt, streams=streams)))
            else:
                written = orjson.dumps(self._sent(attempt, streams=streams))
        except TypeError as error:  # nothing was sent, so the outcome must not be ambiguous
            raise MisconfiguredError("the request cannot be serialized as JSON") from error
        return Body(JSON_TYPE, written)

    def _sent(self, attempt: Attempt[SentJson], *, streams: bool) -> dict[str, Any]:
        """Leave the default service tier out for an upstream that knows none."""
        body = self.body(attempt, streams=streams)
        if body.get("service_tier") == DEFAULT and not attempt.target.knows_service_tiers:
            del body["service_tier"]
        return body


class JsonEndpoint(JsonSender[SentJson]):
    """A route that takes a JSON object and answers with one."""

    def is_error(self, body: dict[str, Any]) -> bool:
        """Return whether the body of a 2xx contains an error instead of an answer."""
        return bool(body.get("error"))

    @abstractmethod
    def convert_answer(self, attempt: Attempt[SentJson], body: dict[str, Any]) -> None:
        """Convert an answer for the client, in place. Raises NotJSONError if it does not have the shape of an answer."""

    async def read(self, attempt: Attempt[SentJson], response: Response) -> Answer:
        body = await read_object(response, self.answer_max_bytes)
        usage = body.get("usage")
        if not (usage is None or isinstance(usage, dict)):
            raise NotJSONError("usage is not an object")
        if self.is_error(body):
            raise NotJSONError("an error with a success status")
        self.convert_answer(attempt, body)
        return Answer(body, body.get("usage"))


def replace_upstream_names(attempt: Attempt[Any], body: dict[str, Any]) -> None:
    """Replace the upstream's model name and id by ours, and remove what reveals its infrastructure or, as aggregators' usages
    do, what it charges the operator, in place."""
    body["model"] = attempt.call.public_model
    if "id" in body:
        body["id"] = attempt.call.public_id
    for member in PRIVATE_MEMBERS:
        body.pop(member, None)
    remove_costs(body.get("usage"))


def remove_costs(usage: Any) -> None:
    """Remove what a usage says of the operator's costs, in place."""
    if isinstance(usage, dict):
        for name in [name for name in usage if "cost" in name or name == "is_byok"]:
            del usage[name]
