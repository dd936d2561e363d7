"""What is checked of a large body beside the event loop takes many calls, none of which keeps the loop waiting for long."""

import base64
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from gateway.core.contract.errors import ImageRejected
from gateway.core.encryption.stored_bytes import encrypt_text
from inference.interface.model import ServedModel
from inference.models.stored_response import place
from inference.queries.stored_responses import Conversation
from inference.routes.chat import request as chat
from inference.routes.responses import request as responses
from inference.routes.responses.record import recorder_of
from inference.rules.images import CHAT_TYPES, PIECE_CHARACTERS, read_data_url
from inference.rules.json_body import JsonBody
from tests.factories.images import PNG
from tests.support.calls import calls_during

TEXT = "\n" * 2**20
PIECES = 16
MODEL = ServedModel("m")
OWNER = ("account", "did:a")
USER = {"role": "user", "content": "x"}
FUNCTION = {"type": "function", "function": {"name": "f", "description": TEXT}}
CALL = {"type": "function_call", "call_id": "c", "name": "f", "arguments": TEXT}
MESSAGE = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": TEXT}]}
SIZE_BYTES = 2 * len(TEXT)


def sent(**members: Any) -> JsonBody:
    """Return a large body."""
    return JsonBody(members, SIZE_BYTES, b"", b"", True)


CHECKS: dict[str, Callable[[], Any]] = {
    "tools of a chat": lambda: chat.read_request(sent(messages=[USER], tools=[FUNCTION]), MODEL),
    "calls in a chat": lambda: chat.read_request(sent(messages=[{**USER, "tool_calls": [FUNCTION]}]), MODEL),
    "functions of a chat": lambda: chat.read_request(sent(messages=[USER], functions=[FUNCTION]), MODEL),
    "calls in a response's input": lambda: responses.read_request(sent(input=[CALL]), MODEL),
    "a response's history": lambda: responses.read_request(sent(input="x"), MODEL, [MESSAGE], SIZE_BYTES),
    "a response's record": lambda: recorder_of(OWNER, [MESSAGE], SIZE_BYTES),
}


@pytest.mark.parametrize("check", CHECKS.values(), ids=CHECKS.keys())
def test_a_large_body_is_measured_in_pieces(check: Callable[[], Any]) -> None:
    assert calls_during(check)["dumps"] >= PIECES


def test_a_stored_conversation_is_read_in_parts() -> None:
    record = recorder_of(OWNER, [MESSAGE], SIZE_BYTES)
    response = encrypt_text(b'{"output":[]}', place("response", record.response_id, OWNER))
    conversation = Conversation(OWNER, record.response_id, record.input_items, response)
    assert calls_during(conversation.items)["loads"] >= PIECES


def test_a_large_image_is_decoded_in_pieces() -> None:
    url = "data:image/png;base64," + base64.b64encode(PNG + bytes(3 * 2**20)).decode()
    read = read_data_url(url, CHAT_TYPES, "p")
    assert (len(read.data), read.data[: len(PNG)], read.url) == (len(PNG) + 3 * 2**20, PNG, url)
    assert calls_during(lambda: read_data_url(url, CHAT_TYPES, "p"))["a2b_base64"] >= PIECES


def decoded(text: str) -> bytes | None:
    try:
        return base64.b64decode(text, validate=True)
    except ValueError:
        return None


@given(st.integers(0, 9), st.text("A=+/-é", max_size=4), st.integers(0, 9))
@example(5, "=", 0)
def test_base64_in_pieces_is_as_strict_as_in_one(before: int, middle: str, after: int) -> None:
    start = base64.b64encode(PNG).decode().rstrip("=")
    data = start + "A" * (PIECE_CHARACTERS - len(start) - 5 + before) + middle + "A" * after
    try:
        read: bytes | None = read_data_url(f"data:image/png;base64,{data}", CHAT_TYPES, "p").data
    except ImageRejected:
        read = None
    assert read == decoded(data)
