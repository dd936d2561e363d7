"""Chat completions and responses of the public vendor API, as other routes are translated to them."""

from typing import Any

from inference.adapters.templates import CHAT, RESPONSES
from inference.adapters.translated import UpstreamForm
from inference.interface.model import UpstreamTarget
from inference.translation.chat import answer_reader as chat_answers
from inference.translation.chat import request_reader as chat_requests
from inference.translation.chat import request_writer as chat_writer
from inference.translation.chat import stream_reader as chat_streams
from inference.translation.conversation import Conversation
from inference.translation.responses import answer_reader as response_answers
from inference.translation.responses import request_reader as response_requests
from inference.translation.responses import request_writer as response_writer
from inference.translation.responses import stream_reader as response_streams

LIMIT_FIELD = "max_completion_tokens"


def _chat(conversation: Conversation, target: UpstreamTarget | None) -> dict[str, Any]:
    field = (target.options.get("output_limit_field") if target else None) or LIMIT_FIELD
    return chat_writer.write_request(conversation, limit_field=field)


def _response(conversation: Conversation, target: UpstreamTarget | None) -> dict[str, Any]:
    return response_writer.write_request(conversation)


CHAT_COMPLETIONS = UpstreamForm(
    path="/chat/completions",
    fields=chat_requests.FIELDS,
    write=_chat,
    read_answer=chat_answers.read_answer,
    stream_reader=chat_streams.StreamReader,
    template=CHAT,
    streamed={"stream": True, "stream_options": {"include_usage": True}},
)
OPENAI_RESPONSES = UpstreamForm(
    path="/responses",
    fields=response_requests.FIELDS,
    write=_response,
    read_answer=response_answers.read_answer,
    stream_reader=response_streams.StreamReader,
    template=RESPONSES,
)
