"""What a response's body may hold: anything at all is either valid or refused by name, and what is valid can be stored."""

from collections.abc import Mapping
from typing import Any

import orjson
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gateway.core.contract.errors import ApiError
from gateway.core.encryption.stored_bytes import decrypt_text
from gateway.core.json.pieces import canonical
from inference.interface.model import DeploymentTarget, ServedModel, UpstreamTarget
from inference.models.stored_response import place
from inference.routes.responses.events import TERMINAL, events_of
from inference.routes.responses.items import ITEMS, ROLES
from inference.routes.responses.progress import Progress
from inference.routes.responses.record import recorder_of
from inference.routes.responses.request import ResponseRequest, read_request
from inference.rules.input_bound import PREAMBLE_TOKENS
from inference.rules.json_body import JsonBody
from tests.factories.images import PNG_URL

MODEL = ServedModel("fast", context_tokens=10_000)
OWNER = ("account", "did:a")
NAMES = (
    *("id", "type", "role", "content", "output", "status", "text", "image_url", "file_data", "file_id", "call_id"),
    *("arguments", "summary", "encrypted_content", "refusal", "cache_control", "detail"),
)
WORDS = (
    *sorted(ITEMS | ROLES),
    *("input_text", "output_text", "input_image", "input_file", "refusal", "item_reference", "web_search_call"),
    *(PNG_URL, "https://example.com/a.png", "x", ""),
)
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-(2**63), 2**63), st.floats(allow_nan=False), st.sampled_from(WORDS)
)
VALUES: Any = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=5),
    max_leaves=12,
)
PARTS = st.fixed_dictionaries({"type": st.sampled_from(WORDS)}, optional=dict.fromkeys(NAMES[3:], SCALARS))
ITEM = st.fixed_dictionaries(
    {},
    optional={**dict.fromkeys(NAMES, VALUES), "content": st.lists(PARTS, max_size=3), "type": st.sampled_from(WORDS)},
)
MEMBERS = st.fixed_dictionaries(
    {"input": st.one_of(VALUES, st.lists(ITEM, max_size=3))},
    optional=dict.fromkeys(
        ("instructions", "tools", "tool_choice", "include", "metadata", "reasoning", "text", "store", "stream"), VALUES
    ),
)


def body_of(members: Mapping[str, Any]) -> JsonBody:
    compact = canonical(members)
    return JsonBody({"model": "fast", **members}, len(compact), b"", b"", False)


def read(members: Mapping[str, Any]) -> ResponseRequest | ApiError:
    try:
        return read_request(body_of(members), MODEL)
    except ApiError as refused:
        return refused


@settings(max_examples=400, deadline=None)
@given(MEMBERS)
def test_anything_is_valid_or_refused_by_name(members: dict[str, Any]) -> None:
    request = read(members)
    if isinstance(request, ApiError):
        assert request.status in (400, 413)
        assert request.param
        return
    record = recorder_of(OWNER, request.items, request.size_bytes)
    items = orjson.loads(decrypt_text(record.input_items, place("input_items", record.response_id, OWNER)))
    assert all(item["id"] and item["type"] in ITEMS for item in items)
    again = read_request(body_of({"input": "And?"}), MODEL, items)
    assert len(again.items) == len(items) + 1
    sent = again.body["input"]
    assert not [item for item in sent if "id" in item]
    assert again.body["store"] is False


TEXTS = st.text(min_size=1, max_size=40)
MESSAGE = st.builds(
    lambda text, kind: {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "status": "completed",
        "content": [{"type": kind, ("refusal" if kind == "refusal" else "text"): text}],
    },
    TEXTS,
    st.sampled_from(["output_text", "refusal"]),
)
CALL = st.builds(
    lambda text: {"id": "fc_1", "type": "function_call", "status": "completed", "name": "f", "arguments": text}, TEXTS
)
REASONING = st.just({"id": "rs_1", "type": "reasoning", "summary": []})


@settings(max_examples=200, deadline=None)
@given(st.lists(st.one_of(MESSAGE, CALL, REASONING), max_size=4), st.data())
def test_wherever_a_stream_is_ended_its_response_has_what_was_sent(output: list[Any], data: Any) -> None:
    response = {"id": "resp_1", "object": "response", "status": "completed", "output": output, "usage": None}
    events = list(events_of(response, list))
    assert [event["sequence_number"] for event in events] == list(range(len(events)))
    progress = Progress({"store": True}, lambda shown: shown)
    seen = events[: data.draw(st.integers(0, len(events)))]
    for event in seen:
        progress.add(event)
    if seen and seen[-1]["type"] in TERMINAL:
        assert progress.final == response
        return
    ended = progress.end("fast", "resp_1", status="incomplete")
    assert ended["type"] == "response.incomplete"
    assert ended["sequence_number"] == len(seen)
    assert text_of(ended["response"]["output"]) == "".join(event.get("delta", "") for event in seen)
    assert progress.ended_here


def text_of(output: list[Any]) -> str:
    texts = []
    for item in output:
        texts += [part.get("text", "") + part.get("refusal", "") for part in item.get("content", ())]
        texts.append(item.get("arguments", ""))
    return "".join(texts)


@pytest.mark.parametrize(
    ("members", "preambles"),
    [
        ({}, 0),
        ({"tools": [{"type": "function", "name": "now", "parameters": {}}]}, 1),
        ({"text": {"format": {"type": "text"}}}, 0),
        ({"text": {"format": {"type": "json_schema", "name": "x", "schema": {}}}}, 1),
    ],
)
def test_what_the_vendor_of_messages_adds_is_bounded(members: dict[str, Any], preambles: int) -> None:
    deployment = DeploymentTarget("1", UpstreamTarget("u", "anthropic", "http://u", "k"), "m")
    body = {"model": "fast", "input": "hi", **members}
    sent = JsonBody(body, len(canonical(body)), b"", b"", is_large=False)
    plain, translated = (read_request(sent, ServedModel("a", deployments=at)) for at in ((), (deployment,)))
    assert translated.input_bound == plain.input_bound + preambles * PREAMBLE_TOKENS
