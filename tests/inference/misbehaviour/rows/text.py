"""Chats and responses, each over its own form and over the other."""

from typing import Any

from tests.inference.misbehaviour.row import Json, Row
from tests.support.stage import CHAT, RESPONSES, ask, chat
from tests.support.upstream import chat as chat_api
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
TEXT: Json = {"max_output_tokens": 30}

BY_CHAT: dict[str, Any] = {"answer": CHAT_ANSWER, "events": CHAT_EVENTS, "ends_with_done": True}
BY_RESPONSES: dict[str, Any] = {
    "answer": RESPONSE,
    "events": RESPONSE_EVENTS,
    "stream_usage": ("response", "usage"),
}

ROWS: list[Row] = [
    Row("chat completions", CHAT, "chat.completions", chat, charge_microusd=TEXT_MICROUSD, fields=TEXT, **BY_CHAT),
    Row(
        "chat completions over responses",
        CHAT,
        "chat.completions",
        chat,
        charge_microusd=TEXT_MICROUSD,
        fields=TEXT,
        known="responses",
        **BY_RESPONSES,
    ),
    Row("responses", RESPONSES, "responses", ask, charge_microusd=TEXT_MICROUSD, fields=TEXT, **BY_RESPONSES),
    Row(
        "responses over chat completions",
        RESPONSES,
        "responses",
        ask,
        charge_microusd=TEXT_MICROUSD,
        fields=TEXT,
        known="chat.completions",
        **BY_CHAT,
    ),
]
