"""Messages at upstreams that have them in another form."""

from collections.abc import Mapping
from typing import Any

from inference.adapters.templates import MESSAGES
from inference.adapters.translated import TranslatedEndpoint, Written
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.messages.bound import BoundedMessage
from inference.routes.messages.events import render
from inference.translation.answer import Answer, Head
from inference.translation.conversation import Conversation
from inference.translation.messages.answer_writer import write_answer
from inference.translation.messages.request_reader import FIELDS, read_request
from inference.translation.messages.stream_writer import StreamWriter


class TranslatedMessages(TranslatedEndpoint[BoundedMessage]):
    """Messages at another route of an upstream. `message_stop` is held back, as the stream format requires."""

    fields = FIELDS
    template = MESSAGES

    def read_request(self, body: Mapping[str, Any]) -> Conversation:
        return read_request(body)

    def write_answer(self, answer: Answer, attempt: Attempt[BoundedMessage]) -> dict[str, Any]:
        return write_answer(answer, _head(attempt))

    def stream_writer(self, attempt: Attempt[BoundedMessage]) -> StreamWriter:
        return StreamWriter(_head(attempt))

    def render(self, event: Mapping[str, Any]) -> bytes:
        return render(event)

    def chunk(self, written: Written, size: int) -> Chunk:
        return Chunk(b"".join(map(render, written)), int(size > 0), size, events=tuple(written))

    def last_chunk(self, written: Written, size: int, usage: Mapping[str, Any] | None) -> Chunk:
        """Build a chunk from all events but the last."""
        return Chunk(b"".join(map(render, written[:-1])), int(size > 0), size, usage=usage, events=tuple(written))


def _head(attempt: Attempt[BoundedMessage]) -> Head:
    return Head(attempt.call.public_id, attempt.call.public_model, 0)
