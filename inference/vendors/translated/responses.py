"""Responses at upstreams that have them in another form."""

import time
from collections.abc import Mapping
from typing import Any

from inference.adapters.templates import RESPONSES, Run
from inference.adapters.translated import TranslatedEndpoint, Written
from inference.interface.answer import Chunk
from inference.interface.upstream import Attempt
from inference.routes.responses.bound import BoundedResponse
from inference.routes.responses.echo import echo
from inference.routes.responses.events import render
from inference.translation.answer import Answer, Head
from inference.translation.conversation import Conversation
from inference.translation.responses.answer_writer import write_answer
from inference.translation.responses.request_reader import FIELDS, read_request
from inference.translation.responses.stream_writer import StreamWriter


class TranslatedResponses(TranslatedEndpoint[BoundedResponse]):
    """Responses at another route of an upstream. The last event is held back, as the stream format requires."""

    fields = FIELDS
    template = RESPONSES

    def read_request(self, body: Mapping[str, Any]) -> Conversation:
        return read_request(body)

    def write_answer(self, answer: Answer, attempt: Attempt[BoundedResponse]) -> dict[str, Any]:
        return write_answer(answer, _head(attempt), echo(attempt.request))

    def stream_writer(self, attempt: Attempt[BoundedResponse]) -> StreamWriter:
        return StreamWriter(_head(attempt), echo(attempt.request))

    def render(self, event: Mapping[str, Any]) -> bytes:
        return render(event)

    def repeated(self, run: Run, number: int) -> Chunk:
        """Report consecutive text events as one event."""
        return Chunk(run.written(number), run.deltas, run.size_bytes, events=(run.event(number),))

    def chunk(self, written: Written, size: int) -> Chunk:
        return Chunk(b"".join(map(render, written)), int(size > 0), size, events=tuple(written))

    def last_chunk(self, written: Written, size: int, usage: Mapping[str, Any] | None) -> Chunk:
        """Build a chunk from all events but the last, which contains the usage."""
        return Chunk(b"".join(map(render, written[:-1])), int(size > 0), size, usage=usage, events=tuple(written))


def _head(attempt: Attempt[BoundedResponse]) -> Head:
    return Head(attempt.call.public_id, attempt.call.public_model, int(time.time()))
