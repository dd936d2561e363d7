"""The public Messages API, as other routes are translated to it."""

from typing import Any

from inference.adapters.templates import MESSAGES
from inference.adapters.translated import UpstreamForm
from inference.interface.model import UpstreamTarget
from inference.translation.conversation import Conversation
from inference.translation.messages.answer_reader import read_answer
from inference.translation.messages.request_reader import FIELDS
from inference.translation.messages.request_writer import write_request
from inference.translation.messages.stream_reader import StreamReader

VERSION = "2023-06-01"


def _message(conversation: Conversation, target: UpstreamTarget | None) -> dict[str, Any]:
    return {**write_request(conversation), "service_tier": "standard_only"}


ANTHROPIC_MESSAGES = UpstreamForm(
    path="/messages",
    fields=FIELDS,
    write=_message,
    read_answer=read_answer,
    stream_reader=StreamReader,
    template=MESSAGES,
    headers={"anthropic-version": VERSION},
)
