"""Chat completions at upstreams that have them in another form."""

import time
from collections.abc import Mapping
from typing import Any

import orjson

from inference.adapters.sse import event_bytes
from inference.adapters.templates import CHAT
from inference.adapters.translated import TranslatedEndpoint, Written
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.chat.bound import BoundedChat
from inference.translation.answer import Answer, Head
from inference.translation.chat.answer_writer import write_answer
from inference.translation.chat.request_reader import FIELDS, read_request
from inference.translation.chat.stream_writer import StreamWriter
from inference.translation.conversation import Conversation


class TranslatedChat(TranslatedEndpoint[BoundedChat]):
    """Chats at another route of an upstream."""

    fields = FIELDS
    template = CHAT

    def read_request(self, body: Mapping[str, Any]) -> Conversation:
        return read_request(body)

    def write_answer(self, answer: Answer, attempt: Attempt[BoundedChat]) -> dict[str, Any]:
        return write_answer(answer, _head(attempt))

    def stream_writer(self, attempt: Attempt[BoundedChat]) -> StreamWriter:
        return StreamWriter(_head(attempt), show_usage=attempt.request.params.show_usage)

    def render(self, event: Mapping[str, Any]) -> bytes:
        return event_bytes(orjson.dumps(event))

    def chunk(self, written: Written, size: int) -> Chunk:
        return Chunk(self._laid_out(written), int(size > 0), size)

    def last_chunk(self, written: Written, size: int, usage: Mapping[str, Any] | None) -> Chunk:
        """Build the last chunk, with the usage even if the client did not request it."""
        return Chunk(self._laid_out(written), int(size > 0), size, usage=usage)

    def _laid_out(self, chunks: Written) -> bytes:
        return b"".join(map(self.render, chunks))


def _head(attempt: Attempt[BoundedChat]) -> Head:
    return Head(attempt.call.public_id, attempt.call.public_model, int(time.time()))
