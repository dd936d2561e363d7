"""Makes several consecutive calls to one upstream for one answer."""

import time
from abc import abstractmethod
from dataclasses import replace
from typing import Any, TypeVar

from gateway.core.contract.errors import ModelUnavailable, UpstreamError
from gateway.core.json.pieces import dumps_in_pieces
from gateway.core.outbound.bodies import read_bounded
from gateway.core.outbound.client import Body
from gateway.core.outbound.response import Response
from gateway.core.outbound.timeouts import answer_timeout
from gateway.core.runtime.offload import LARGE_BODY_BYTES, offload
from inference.adapters import errors
from inference.adapters.errors import outcome_of_exception
from inference.adapters.exchange import (
    ANSWER_MAX_BYTES,
    NotJSONError,
    Refusal,
    is_json,
    parse_object,
    post,
    read_refusal,
)
from inference.interface.answer import Answer
from inference.interface.upstream import Alarm, Ambiguous, Attempt, Endpoint, Outcome, Rejected, Stream
from inference.rules.json_body import JSON_TYPE
from inference.rules.representation import BoundedRepresentation

Sent = TypeVar("Sent", bound=BoundedRepresentation)


class RefusedError(Exception):
    """The upstream refused a call of the conversation."""

    def __init__(self, refusal: Refusal) -> None:
        self.refusal = refusal
        super().__init__(refusal.status)


class Conversation:
    """The calls of one attempt. `answers` counts the answered ones; `input_tokens` is their sum, or None if one did not report
    it. Together they share the timeout of a single call."""

    def __init__(self, attempt: Attempt[Any]) -> None:
        self._attempt = attempt
        self._until = time.monotonic() + attempt.target.timeout_seconds
        self.answers = 0
        self.input_tokens: Any = 0

    async def ask(self, path: str, body: dict[str, Any], *, is_large: bool) -> dict[str, Any]:
        """Send one call and return the object in its response. Raises RefusedError, NotJSONError, or the errors that
        `gateway.core.outbound.failures` lists."""
        seconds = self._until - time.monotonic()
        if seconds <= 0:
            raise TimeoutError("the previous calls used up the timeout")
        written = await offload(dumps_in_pieces, body) if is_large else dumps_in_pieces(body)
        phases = answer_timeout(seconds)
        response = await post(self._numbered(), path, Body(JSON_TYPE, written), accept=JSON_TYPE, phases=phases)
        try:
            return await self._read(response)
        finally:
            response.close()

    def count(self, tokens: Any) -> None:
        """Add the usage that an answer reports. An invalid count is stored, so that the route finds it."""
        known = self.input_tokens
        is_sum = type(known) is int and type(tokens) is int and known >= 0 and tokens >= 0
        if is_sum:
            self.input_tokens = known + tokens
        elif known is not None and type(known) is int and known >= 0:
            self.input_tokens = tokens

    @property
    def usage(self) -> dict[str, Any] | None:
        """Return the usage of all calls."""
        return None if self.input_tokens is None else {"input_tokens": self.input_tokens}

    def _numbered(self) -> Attempt[Any]:
        """Derive an idempotency key for each further call."""
        attempt = self._attempt
        if not self.answers:
            return attempt
        return replace(attempt, call=replace(attempt.call, usage_id=f"{attempt.call.usage_id}-{self.answers}"))

    async def _read(self, response: Response) -> dict[str, Any]:
        if response.status >= 300:
            refusal = await read_refusal(response)
            self._attempt.call.on_refusal(refusal.status, refusal.body)
            raise RefusedError(refusal)
        if response.status < 200 or not is_json(response):
            raise NotJSONError(f"status {response.status}, content type {response.headers.get('Content-Type')}")
        data = await read_bounded(response.content, ANSWER_MAX_BYTES)
        body = await offload(parse_object, data) if len(data) > LARGE_BODY_BYTES else parse_object(data)
        self.answers += 1
        if body.get("error"):
            raise NotJSONError("an error with a success status")
        return body


class ConversingEndpoint(Endpoint[Sent]):
    """A route whose answer is made of one or more calls. Once one was answered, a failure of another may still have cost
    money."""

    @abstractmethod
    async def converse(self, attempt: Attempt[Sent], conversation: Conversation) -> Answer:
        """Make the calls and build the answer. Raises the same errors as `Conversation.ask`."""

    def refused(self, attempt: Attempt[Sent], refusal: Refusal) -> Outcome:
        """Return the outcome of a complete response that is not a 2xx."""
        return errors.outcome_of(attempt, refusal)

    async def send(self, attempt: Attempt[Sent]) -> Outcome:
        """Make the calls and return their joint outcome. Raises nothing except cancellation."""
        conversation = Conversation(attempt)
        try:
            return await self.converse(attempt, conversation)
        except RefusedError as error:
            outcome = self.refused(attempt, error.refusal)
        except Exception as error:  # noqa: BLE001 - what is unknown is ambiguous, never a crash
            outcome = outcome_of_exception(attempt, error)
        return _in_doubt(outcome) if conversation.answers else outcome

    async def open_stream(self, attempt: Attempt[Sent]) -> Stream | Outcome:
        """Refuse the call. Representation routes do not stream."""
        return Rejected(ModelUnavailable(), alarm=Alarm("no stream", "representations do not stream"))


def _in_doubt(outcome: Outcome) -> Outcome:
    """Return the outcome of a failure after an answer that the upstream may bill for."""
    if isinstance(outcome, Ambiguous):
        return outcome
    error = outcome.error if isinstance(outcome, Rejected) else UpstreamError(private=f"in part: {outcome}")
    return Ambiguous(error, "failed in part")
