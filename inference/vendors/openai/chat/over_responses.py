"""Chat completions at upstreams that support responses but not chat completions."""

import time
from collections.abc import Mapping
from typing import Any

import orjson

from gateway.core.contract.errors import ApiError, InvalidRequest
from gateway.core.outbound.response import Response
from inference.adapters.exchange import NotJSONError, Refusal
from inference.adapters.http_endpoint import JsonEndpoint
from inference.adapters.sse import event_bytes
from inference.adapters.templates import CHAT, RESPONSES, Templates
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt, Outcome, Rejected
from inference.routes.chat.bound import BoundedChat
from inference.routes.chat.request import ChatRequest
from inference.translation.answer import Head, MalformedAnswer
from inference.translation.chat.answer_writer import write_answer
from inference.translation.chat.request_reader import FIELDS as CHAT_FIELDS
from inference.translation.chat.request_reader import read_request
from inference.translation.chat.stream_writer import StreamWriter
from inference.translation.conversation import renamed
from inference.translation.responses.answer_reader import read_answer
from inference.translation.responses.request_reader import FIELDS as RESPONSES_FIELDS
from inference.translation.responses.request_writer import write_request
from inference.translation.responses.stream_reader import StreamReader
from inference.vendors.openai.translated import TranslatedStream, Written


class ChatOverResponses(TranslatedStream):
    """Translates typed events to chunks."""

    def __init__(self, attempt: Attempt[BoundedChat], response: Response) -> None:
        self._chunks = StreamWriter(_head(attempt), show_usage=attempt.request.params.show_usage)
        templates = Templates(RESPONSES, CHAT, _event)
        super().__init__(attempt, response, StreamReader(), self._chunks, templates)

    def chunk(self, written: Written, size: int) -> Chunk:
        return Chunk(_laid_out(written), int(size > 0), size, service_tier=self._chunks.service_tier)

    def last_chunk(self, written: Written, size: int) -> Chunk:
        """Build the last chunk, with the usage even if the client did not request it."""
        tier = self._chunks.service_tier
        return Chunk(_laid_out(written), int(size > 0), size, usage=self._chunks.usage, service_tier=tier)


class ChatsOverResponses(JsonEndpoint[BoundedChat]):
    """`POST /responses` for a chat."""

    path = "/responses"
    stream = ChatOverResponses

    def refusal(self, valid: ChatRequest) -> ApiError | None:
        """Return the error that names the member that a request for a response cannot express."""
        try:
            write_request(read_request(valid.body))
        except InvalidRequest as error:
            return error
        return None

    def body(self, attempt: Attempt[BoundedChat], *, streams: bool) -> dict[str, Any]:
        body = write_request(read_request(attempt.request.body)) | {"model": attempt.upstream_model}
        return body | {"stream": True} if streams else body

    def refused(self, attempt: Attempt[BoundedChat], refusal: Refusal) -> Outcome:
        """Return the outcome of a refusal, with the member at fault under the client's name."""
        outcome = super().refused(attempt, refusal)
        if isinstance(outcome, Rejected):
            outcome.error.param = renamed(outcome.error.param, RESPONSES_FIELDS, CHAT_FIELDS)
        return outcome

    def convert_answer(self, attempt: Attempt[BoundedChat], body: dict[str, Any]) -> None:
        try:
            completion = write_answer(read_answer(body), _head(attempt))
        except MalformedAnswer as error:
            raise NotJSONError(str(error)) from error
        body.clear()
        body |= completion


def _laid_out(chunks: Written) -> bytes:
    return b"".join(map(_event, chunks))


def _event(chunk: Mapping[str, Any]) -> bytes:
    return event_bytes(orjson.dumps(chunk))


def _head(attempt: Attempt[BoundedChat]) -> Head:
    return Head(attempt.call.public_id, attempt.call.public_model, int(time.time()))
