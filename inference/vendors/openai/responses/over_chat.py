"""Responses at upstreams that support chat completions but not responses."""

import time
from typing import Any

from gateway.core.contract.errors import ApiError, InvalidRequest
from gateway.core.outbound.response import Response
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.http_endpoint import JsonEndpoint
from inference.adapters.templates import CHAT, RESPONSES, Run, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt, Outcome, Rejected
from inference.routes.responses.bound import BoundedResponse
from inference.routes.responses.echo import echo
from inference.routes.responses.events import render
from inference.routes.responses.request import ResponseRequest
from inference.translation.answer import Head, MalformedAnswer
from inference.translation.chat.answer_reader import read_answer
from inference.translation.chat.request_reader import FIELDS as CHAT_FIELDS
from inference.translation.chat.request_writer import write_request
from inference.translation.chat.stream_reader import StreamReader
from inference.translation.conversation import renamed
from inference.translation.responses.answer_writer import write_answer
from inference.translation.responses.request_reader import FIELDS as RESPONSES_FIELDS
from inference.translation.responses.request_reader import read_request
from inference.translation.responses.stream_writer import StreamWriter
from inference.vendors.openai.translated import TranslatedStream, Written


class ResponseOverChat(TranslatedStream):
    """Translates chunks to typed events. The last one is held back, as the stream format requires."""

    def __init__(self, attempt: Attempt[BoundedResponse], response: Response) -> None:
        self._events = StreamWriter(_head(attempt), echo(attempt.request))
        super().__init__(attempt, response, StreamReader(), self._events, Templates(CHAT, RESPONSES, render))

    def repeated(self, run: Run) -> Chunk:
        """Translate consecutive text events, and report them as one event."""
        number = self._writer.repeat(run.text, run.deltas)
        return Chunk(run.written(number), run.deltas, run.size_bytes, events=(run.event(number),))

    def chunk(self, written: Written, size: int) -> Chunk:
        tier = self._events.service_tier
        return Chunk(b"".join(map(render, written)), int(size > 0), size, events=tuple(written), service_tier=tier)

    def last_chunk(self, written: Written, size: int) -> Chunk:
        """Build a chunk from all events but the last, which contains the usage."""
        usage, tier = written[-1]["response"]["usage"], self._events.service_tier
        data = b"".join(map(render, written[:-1]))
        return Chunk(data, int(size > 0), size, usage=usage, events=tuple(written), service_tier=tier)


class ResponsesOverChat(JsonEndpoint[BoundedResponse]):
    """`POST /chat/completions` for a response."""

    path = "/chat/completions"
    stream = ResponseOverChat

    def refusal(self, valid: ResponseRequest) -> ApiError | None:
        """Return the error that names the member that a chat request cannot express."""
        try:
            write_request(read_request(valid.body))
        except InvalidRequest as error:
            return error
        return None

    def body(self, attempt: Attempt[BoundedResponse], *, streams: bool) -> dict[str, Any]:
        """Build the equivalent chat request, with the usage in a stream."""
        field = attempt.target.options.get("output_limit_field") or "max_completion_tokens"
        chat = write_request(read_request(attempt.request.body), limit_field=field) | {"model": attempt.upstream_model}
        return chat | {"stream": True, "stream_options": {"include_usage": True}} if streams else chat

    def refused(self, attempt: Attempt[BoundedResponse], refusal: Refusal) -> Outcome:
        """Return the outcome of a refusal, with the member at fault under the client's name."""
        outcome = super().refused(attempt, refusal)
        if isinstance(outcome, Rejected):
            outcome.error.param = renamed(outcome.error.param, CHAT_FIELDS, RESPONSES_FIELDS)
        return outcome

    def convert_answer(self, attempt: Attempt[BoundedResponse], body: dict[str, Any]) -> None:
        try:
            response = write_answer(read_answer(body), _head(attempt), echo(attempt.request))
        except MalformedAnswer as error:
            raise NotJSONError(str(error)) from error
        body.clear()
        body |= response


def _head(attempt: Attempt[BoundedResponse]) -> Head:
    return Head(attempt.call.public_id, attempt.call.public_model, int(time.time()))
