"""The vendor's own SDK finds nothing odd about the fake upstream's messages, and its ledger is true."""

from collections.abc import Iterator
from typing import Any, TypeAlias

import anthropic
import pytest
from pydantic import BaseModel

from tests.support.upstream import FakeUpstream
from tests.support.upstream.messages import SIGNATURE
from tests.support.upstream.tokens import count_text

Sdk: TypeAlias = Any
"""The client itself; its signatures refuse the plain dictionaries that callers really send."""

PROMPT = "Say something about badgers."
CALL: Any = {"max_tokens": 50, "messages": [{"role": "user", "content": PROMPT}]}
WEATHER = {
    "name": "weather",
    "input_schema": {"type": "object", "properties": {"place": {"type": "string"}}, "required": ["place"]},
}


class Place(BaseModel):
    """What a structured answer is parsed into."""

    city: str


@pytest.fixture
def upstream() -> Iterator[FakeUpstream]:
    with FakeUpstream(api_key="sk-right") as running:
        yield running


@pytest.fixture
def sdk(upstream: FakeUpstream) -> Iterator[Sdk]:
    with _sdk(upstream, "sk-right") as client:
        yield client


def _sdk(upstream: FakeUpstream, key: str) -> anthropic.Anthropic:
    origin = upstream.base_url.removesuffix("/v1")
    return anthropic.Anthropic(base_url=origin, api_key=key, max_retries=0, timeout=60)


def test_a_message_reports_the_tokens_that_the_ledger_holds(upstream: FakeUpstream, sdk: Sdk) -> None:
    message = sdk.messages.create(model="small-1", **CALL)
    [entry] = upstream.ledger
    assert [block.type for block in message.content] == ["text"]
    assert (message.stop_reason, message.stop_sequence, message.role) == ("end_turn", None, "assistant")
    assert message.usage.input_tokens == entry.prompt_tokens == count_text(PROMPT)
    assert message.usage.output_tokens == entry.completion_tokens == len(message.content[0].text.split()) == 16
    assert message._request_id == f"req-{entry.id}"
    assert (entry.outcome, entry.status) == ("complete", 200)


def test_a_message_stops_at_its_limit(sdk: Sdk) -> None:
    message = sdk.messages.create(model="small-1", **{**CALL, "max_tokens": 5})
    assert (message.content[0].text, message.stop_reason) == ("the quick brown fox jumps", "max_tokens")
    assert message.usage.output_tokens == 5


def test_a_stream_adds_up_to_the_same_message(sdk: Sdk) -> None:
    whole = sdk.messages.create(model="small-1", **CALL)
    with sdk.messages.stream(model="small-1", **CALL) as stream:
        text = "".join(stream.text_stream)
        streamed = stream.get_final_message()
    assert text == whole.content[0].text
    assert streamed.to_dict(exclude_none=True) | {"id": whole.id} == whole.to_dict(exclude_none=True)


def test_the_events_come_in_the_documented_order(sdk: Sdk) -> None:
    kinds = [event.type for event in sdk.messages.create(model="small-1?tokens=2", **CALL, stream=True)]
    delta = "content_block_delta"
    assert kinds == [
        "message_start",
        "content_block_start",
        delta,
        delta,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


@pytest.mark.parametrize("streams", [False, True], ids=["json", "stream"])
def test_parallel_tool_uses_and_their_results(sdk: Sdk, streams: bool) -> None:
    def ask(messages: list[Any]) -> Any:
        asked = {**CALL, "messages": messages, "model": "small-1?calls=2", "tools": [WEATHER]}
        if not streams:
            return sdk.messages.create(**asked)
        with sdk.messages.stream(**asked) as stream:
            return stream.get_final_message()

    first = ask(CALL["messages"])
    assert first.stop_reason == "tool_use"
    assert [(use.name, use.input) for use in first.content] == [("weather", {"place": "Reykjavík"})] * 2
    assert len({use.id for use in first.content}) == 2
    results = [{"type": "tool_result", "tool_use_id": use.id, "content": "rain"} for use in first.content]
    turns = [*CALL["messages"], {"role": "assistant", "content": first.content}, {"role": "user", "content": results}]
    assert ask(turns).stop_reason == "end_turn"


def test_thinking_has_its_signature(sdk: Sdk) -> None:
    call: Any = {**CALL, "max_tokens": 2000, "thinking": {"type": "enabled", "budget_tokens": 1024}}
    with sdk.messages.stream(model="small-1?reasoning_tokens=3", **call) as stream:
        kinds = [event.type for event in stream if event.type in ("thinking", "signature")]
        thinking, _ = stream.get_final_message().content
    assert kinds == ["thinking"] * 3 + ["signature"]
    assert (thinking.thinking, thinking.signature) == ("hm hm hm", SIGNATURE)
    assert stream.get_final_message().usage.output_tokens == 19


def test_the_cache_is_counted_apart_from_the_input(upstream: FakeUpstream, sdk: Sdk) -> None:
    model = "small-1?cached_tokens=1&cache_write_tokens=3&cache_write_1h_tokens=2"
    usage = sdk.messages.create(model=model, **CALL).usage
    [entry] = upstream.ledger
    assert (usage.cache_read_input_tokens, usage.cache_creation_input_tokens) == (1, 3)
    assert (usage.cache_creation.ephemeral_5m_input_tokens, usage.cache_creation.ephemeral_1h_input_tokens) == (1, 2)
    assert usage.input_tokens + 1 + 3 == entry.prompt_tokens


def test_structured_answers_are_parsed(sdk: Sdk) -> None:
    message = sdk.messages.parse(model="small-1", **CALL, output_format=Place)
    assert message.parsed_output == Place(city="Reykjavík")


def test_tokens_are_counted_as_they_are_reported(sdk: Sdk) -> None:
    counted = sdk.messages.count_tokens(model="small-1", messages=CALL["messages"])
    assert counted.input_tokens == sdk.messages.create(model="small-1", **CALL).usage.input_tokens


@pytest.mark.parametrize(
    ("status", "kind", "error"),
    [
        (400, "invalid_request_error", anthropic.BadRequestError),
        (403, "permission_error", anthropic.PermissionDeniedError),
        (404, "not_found_error", anthropic.NotFoundError),
        (413, "request_too_large", anthropic.RequestTooLargeError),
        (429, "rate_limit_error", anthropic.RateLimitError),
        (500, "api_error", anthropic.InternalServerError),
        (529, "overloaded_error", anthropic.OverloadedError),
    ],
)
def test_errors_are_the_sdks_own(sdk: Sdk, status: int, kind: str, error: type[anthropic.APIStatusError]) -> None:
    with pytest.raises(error) as refused:
        sdk.messages.create(model=f"small-1?status={status}", **CALL)
    assert (refused.value.status_code, refused.value.type) == (status, kind)
    assert refused.value.request_id


def test_a_wrong_key_is_refused(upstream: FakeUpstream) -> None:
    with _sdk(upstream, "sk-wrong") as sdk, pytest.raises(anthropic.AuthenticationError) as refused:
        sdk.messages.create(model="small-1", **CALL)
    assert refused.value.type == "authentication_error"


def test_an_error_in_the_middle_of_a_stream_is_raised(sdk: Sdk) -> None:
    texts = []
    with (
        pytest.raises(anthropic.APIStatusError) as broken,
        sdk.messages.stream(model="small-1?error_event=true", **CALL) as stream,
    ):
        texts.extend(stream.text_stream)
    assert texts
    assert broken.value.type == "api_error"
