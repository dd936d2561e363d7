"""Chats, responses and messages, each over its own form and over the others."""

from typing import Any

from tests.inference.misbehaviour.row import Json, Outcome, Row
from tests.support.stage import CHAT, MESSAGE, RESPONSES, ask, chat, message
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
MESSAGE_ANSWER: Json = messages_api.render("msg-upstream-1", REQUEST, ANSWER, HONEST)
MESSAGE_EVENTS = [frame.data for frame in messages_api.stream("msg-upstream-1", REQUEST, ANSWER, HONEST)]
TEXT: Json = {"max_output_tokens": 30}

BY_CHAT: dict[str, Any] = {"answer": CHAT_ANSWER, "events": CHAT_EVENTS, "ends_with_done": True}
BY_RESPONSES: dict[str, Any] = {
    "answer": RESPONSE,
    "events": RESPONSE_EVENTS,
    "stream_usage": ("response", "usage"),
}

OVERLOADED = {"529 overloaded": Outcome(503, "upstream_overloaded", "released")}
"""A status that only the vendor of Messages has."""

BY_MESSAGES: dict[str, Any] = {
    "adapter": "anthropic",
    "answer": MESSAGE_ANSWER,
    "events": MESSAGE_EVENTS,
    "outcomes": OVERLOADED,
    "streamed": OVERLOADED,
}

CHATS: dict[str, Any] = {"path": CHAT, "route": "chat.completions", "body": chat}
RESPONDING: dict[str, Any] = {"path": RESPONSES, "route": "responses", "body": ask}
MESSAGING: dict[str, Any] = {"path": MESSAGE, "route": "messages", "body": message}


def _row(name: str, **fields: Any) -> Row:
    return Row(name, charge_microusd=TEXT_MICROUSD, fields=TEXT, **fields)


ROWS: list[Row] = [
    _row("chat completions", **CHATS, **BY_CHAT),
    _row("chat completions over responses", **CHATS, **BY_RESPONSES, known="responses"),
    _row("chat completions over messages", **CHATS, **BY_MESSAGES),
    _row("responses", **RESPONDING, **BY_RESPONSES),
    _row("responses over chat completions", **RESPONDING, **BY_CHAT, known="chat.completions"),
    _row("responses over messages", **RESPONDING, **BY_MESSAGES),
    _row("messages", **MESSAGING, **BY_MESSAGES),
    _row("messages over chat completions or responses", **MESSAGING, **BY_CHAT),
    _row("messages over chat completions", **MESSAGING, **BY_CHAT, known="chat.completions"),
    _row("messages over responses", **MESSAGING, **BY_RESPONSES, known="responses"),
]
