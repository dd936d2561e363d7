"""What a Messages request asks for and may cost: its members, and the bound of its input."""

from typing import Any

import orjson
import pytest

from gateway.core.contract.errors import InvalidRequest
from inference.interface.model import DeploymentTarget, ServedModel, UpstreamTarget
from inference.routes.messages.headers import LONG_CONTEXT_TOKENS, MessageBody
from inference.routes.messages.request import MessageRequest, read_request
from inference.rules.input_bound import PREAMBLE_TOKENS
from inference.vendors.anthropic.messages.blocks import without_foreign_thinking

TEXT = {"type": "text", "text": "x"}
MARK = {"type": "ephemeral", "ttl": "1h"}
SEARCH = {"type": "search_result", "source": "s", "title": "t", "content": [TEXT]}
DOCUMENT = {"type": "document", "source": {"type": "text", "media_type": "text/plain", "data": "naïve 日本語"}}
TOOL = {"name": "weather", "input_schema": {"type": "object"}}
THOUGHT = {"type": "thinking", "thinking": "hm", "signature": ""}


def model(adapter: str = "anthropic", **fields: Any) -> ServedModel:
    deployment = DeploymentTarget("d", UpstreamTarget("u", adapter, "https://u.example/v1", "key"), "m")
    return ServedModel("fast", enabled=True, deployments=(deployment,), **fields)


def body_of(*blocks: Any, role: str = "user", **members: Any) -> dict[str, Any]:
    return {"max_tokens": 10, "messages": [{"role": role, "content": [*blocks]}], **members}


def read(body: dict[str, Any], served: ServedModel | None = None, betas: tuple[str, ...] = ()) -> MessageRequest:
    size = len(orjson.dumps(body, option=orjson.OPT_SORT_KEYS))
    sent = MessageBody(body, size, b"", b"", is_large=False, version=None, betas=betas)
    return read_request(sent, served or model())


@pytest.mark.parametrize(
    ("body", "preambles"),
    [
        (body_of(TEXT), 0),
        (body_of(TEXT, tools=[]), 0),
        (body_of(TEXT, tools=[TOOL, {**TOOL, "type": "custom"}]), 1),
        (body_of(TEXT, tools=[TOOL, {"type": "bash_20250124", "name": "bash"}]), 2),
        (
            body_of(TEXT, tools=[{"type": "computer_20251124", "name": "c"}, {"type": "memory_20250818", "name": "m"}]),
            3,
        ),
        (body_of(TEXT, tools=[{"type": "computer_toolset_20260801"}]), 9),
        (body_of(TEXT, output_config={"format": {"type": "json_schema", "schema": {}}}), 1),
        (body_of(TEXT, output_config={"effort": "low"}), 0),
        (body_of(SEARCH, SEARCH), 1),
        (body_of({"type": "tool_result", "tool_use_id": "t", "content": [SEARCH]}, tools=[TOOL]), 2),
        (body_of(DOCUMENT), 0),
    ],
)
def test_the_bound_covers_the_texts_that_the_vendor_adds(body: dict[str, Any], preambles: int) -> None:
    size = len(orjson.dumps(body))
    assert read(body).input_bound == size + preambles * PREAMBLE_TOKENS
    assert read(body, model("openai")).input_bound == size


@pytest.mark.parametrize("citations", [{"enabled": True}, {"enabled": "yes"}, True, []])
def test_a_document_that_is_cut_into_pieces_is_bounded_by_the_context(citations: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(body_of(TEXT, {**DOCUMENT, "citations": citations}))
    assert refused.value.param == "messages.0.content.1"
    assert read(body_of({**DOCUMENT, "citations": citations}), model(context_tokens=9000)).input_bound == 9000


@pytest.mark.parametrize("citations", [None, {}, {"enabled": False}, {"enabled": None}])
def test_a_document_of_text_is_bounded_by_its_bytes(citations: Any) -> None:
    body = body_of({**DOCUMENT, "citations": citations})
    assert read(body).input_bound == len(orjson.dumps(body))


@pytest.mark.parametrize(
    ("beta", "bound"), [("Context-1m-2025-08-07", LONG_CONTEXT_TOKENS), ("interleaved-thinking-2025-05-14", 200_000)]
)
def test_a_beta_of_a_longer_context_raises_the_bound(beta: str, bound: int) -> None:
    body, served = body_of({"type": "text", "text": "x" * 1_100_000}), model(context_tokens=200_000)
    assert read(body, served, (beta,)).input_bound == bound


@pytest.mark.parametrize(
    "body",
    [
        body_of({**TEXT, "cache_control": MARK}),
        body_of({**SEARCH, "content": [{**TEXT, "cache_control": MARK}]}),
        body_of({"type": "tool_result", "tool_use_id": "t", "content": [{**TEXT, "cache_control": MARK}]}),
        body_of(
            {
                "type": "tool_result",
                "tool_use_id": "t",
                "content": [{**SEARCH, "content": [{**TEXT, "cache_control": MARK}]}],
            }
        ),
        body_of(TEXT, system=[{**TEXT, "cache_control": MARK}]),
        body_of(TEXT, tools=[{**TOOL, "cache_control": MARK}]),
        body_of(TEXT, cache_control=MARK),
    ],
)
def test_a_cache_of_an_hour_is_found_wherever_it_is_asked_for(body: dict[str, Any]) -> None:
    assert read(body).caching.is_long


@pytest.mark.parametrize(
    ("body", "param"),
    [
        *(
            (body_of({**block, name: value}, role=role), f"messages.0.content.0.{name}")
            for role, block, names in (
                ("user", TEXT, ("text",)),
                ("user", SEARCH, ("source", "title", "content")),
                ("user", {"type": "tool_result", "tool_use_id": "t"}, ("tool_use_id",)),
                ("assistant", THOUGHT, ("thinking",)),
                ("assistant", {"type": "redacted_thinking", "data": "d"}, ("data",)),
                ("assistant", {"type": "tool_use", "id": "t", "name": "n", "input": {}}, ("id", "name", "input")),
            )
            for name in names
            for value in (None, 7)
        ),
        (body_of({**SEARCH, "content": ["x"]}), "messages.0.content.0.content.0"),
        (body_of({**SEARCH, "content": [{"type": "image"}]}), "messages.0.content.0.content.0"),
        (body_of({"type": "tool_result", "tool_use_id": "t", "content": 7}), "messages.0.content.0.content"),
        (body_of(TEXT, tools=[{"input_schema": {}}]), "tools.0.name"),
        (body_of(TEXT, tools=[{"name": 7, "input_schema": {}}]), "tools.0.name"),
        (body_of(TEXT, tools=[{"name": "x"}]), "tools.0.input_schema"),
        (body_of(TEXT, tools=[{"name": "x", "input_schema": "x"}]), "tools.0.input_schema"),
        (body_of(TEXT, output_config="low"), "output_config"),
        *(
            (body_of(TEXT, tools=[{"type": kind, "name": "x"}]), "tools")
            for kind in (
                "bash_code_execution_20250825",
                "bash_toolset_20260801",
                "browser_toolset_20260801",
                "text_editor_",
                "web_fetch_20250910",
                "Custom",
                "",
                7,
            )
        ),
    ],
)
def test_a_member_that_is_missing_or_of_another_type_is_named(body: dict[str, Any], param: str) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(body)
    assert refused.value.param == param


def test_thinking_that_no_provider_signed_is_not_sent_to_the_vendor() -> None:
    signed = {**THOUGHT, "signature": "s"}
    messages = [
        {"role": "user", "content": "hi"},
        {"role": "assistant", "content": [THOUGHT, TEXT]},
        {"role": "assistant", "content": [THOUGHT]},
        {"role": "assistant", "content": [signed, TEXT]},
    ]
    request = read({"max_tokens": 10, "messages": messages})
    assert request.has_foreign_thinking
    assert not read({"max_tokens": 10, "messages": messages[3:]}).has_foreign_thinking
    assert without_foreign_thinking(request.body["messages"]) == [
        messages[0],
        {"role": "assistant", "content": [TEXT]},
        messages[3],
    ]
