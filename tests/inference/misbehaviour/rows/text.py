"""Chats, responses and messages, each over its own form and over the others."""

from typing import Any

from tests.inference.misbehaviour.row import Json, Row
from tests.support.stage import CHAT, MESSAGES, RESPONSES, ask, chat
from tests.support.upstream import chat as chat_api
from tests.support.upstream import messages as messages_api
from tests.support.upstream import responses as responses_api
from tests.support.upstream.answers import Answer, answer
from tests.support.upstream.behaviours import HONEST

REQUEST: Json = {"model": "upstream-model", "stream_options": {"include_usage": True}}
ANSWER: Answer = answer({**chat("m"), "max_tokens": 16}, HONEST)
TEXT_MICROUSD = 11
"""7 tokens of input and 16 of output: 1.05 + 9.6 micro-USD, rounded up once."""

CHAT_ANSWER: Json = chat_api.render("chatcmpl-upstream-1", REQUEST, ANSWER, HONEST)
CHAT_EVENTS = [frame.data for frame in chat_api.stream("chatcmpl-upstream-1", REQUEST, ANSWER, HONEST)]
RESPONSE: Json = responses_api.render("resp-upstream-1", REQUEST, ANSWER, HONEST)
RESPONSE_EVENTS = [frame.data for frame in responses_api.stream("resp-upstream-1", REQUEST, ANSWER, HONEST)]
MESSAGE: Json = messages_api.render("msg-upstream-1", REQUEST, ANSWER, HONEST)
MESSAGE_EVENTS = [frame.data for frame in messages_api.stream("msg-upstream-1", REQUEST, ANSWER, HONEST)]
MESSAGES_PATH = "/v1/messages"
TEXT: Json = {"max_output_tokens": 30}

BY_CHAT: dict[str, Any] = {"answer": CHAT_ANSWER, "events": CHAT_EVENTS, "ends_with_done": True}
BY_RESPONSES: dict[str, Any] = {
    "answer": RESPONSE,
    "events": RESPONSE_EVENTS,
    "stream_usage": ("response", "usage"),
}
BY_MESSAGES: dict[str, Any] = {"answer": MESSAGE, "events": MESSAGE_EVENTS, "adapter": "anthropic"}


def message(alias: str) -> Json:
    """Build the body of a request for a message."""
    return {"model": alias, "max_tokens": 30, "messages": MESSAGES}


def _row(path: str, route: str, body: Any, over: str, by: dict[str, Any], **fields: Any) -> Row:
    name = f"{route.replace('.', ' ')} over {over}" if over else route.replace(".", " ")
    return Row(name, path, route, body, charge_microusd=TEXT_MICROUSD, fields=TEXT, **by, **fields)


ROWS: list[Row] = [
    _row(CHAT, "chat.completions", chat, "", BY_CHAT),
    _row(CHAT, "chat.completions", chat, "responses", BY_RESPONSES, known="responses"),
    _row(CHAT, "chat.completions", chat, "messages", BY_MESSAGES),
    _row(RESPONSES, "responses", ask, "", BY_RESPONSES),
    _row(RESPONSES, "responses", ask, "chat completions", BY_CHAT, known="chat.completions"),
    _row(RESPONSES, "responses", ask, "messages", BY_MESSAGES),
    _row(MESSAGES_PATH, "messages", message, "", BY_MESSAGES),
    _row(MESSAGES_PATH, "messages", message, "chat completions or responses", BY_CHAT),
    _row(MESSAGES_PATH, "messages", message, "chat completions", BY_CHAT, known="chat.completions"),
    _row(MESSAGES_PATH, "messages", message, "responses", BY_RESPONSES, known="responses"),
]
