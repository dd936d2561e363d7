"""What a chat request may hold, and how its input is bounded."""

from typing import Any

import pytest

from billing.rules.prices import PriceList
from billing.rules.quantities import MalformedUsage, Quantities
from gateway.core.contract.errors import ImageRejected, InvalidRequest
from gateway.core.json.pieces import canonical
from inference.interface.answer import Answer
from inference.interface.model import DeploymentTarget, ServedModel, UpstreamTarget
from inference.routes.chat.bound import BoundedChat
from inference.routes.chat.request import read_request
from inference.rules.input_bound import PREAMBLE_TOKENS
from inference.rules.json_body import JsonBody
from inference.rules.token_charge import TokenCharge
from inference.rules.token_usage import read_chat
from inference.rules.usage import MissingUsage
from tests.factories.images import PNG_URL as PNG

DEPLOYMENT = DeploymentTarget("1", UpstreamTarget("u", "openai", "http://u", "k"), "m")
MODEL = ServedModel("fast", enabled=True, max_output_tokens=100, deployments=(DEPLOYMENT,))
PRICES = PriceList.parse({"input_token": "1", "output_token": "1"})
HELLO = [{"role": "user", "content": "hello"}]


def read(model: Any = MODEL, **members: Any) -> Any:
    body = {"model": "fast", "messages": HELLO, **members}
    return read_request(JsonBody(body, len(canonical(body)), b"", b"", is_large=False), model)


def part(**members: Any) -> Any:
    return [{"role": "user", "content": [{"type": "text", "text": "see"}, members]}]


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"messages": []}, "messages"),
        ({"messages": "hello"}, "messages"),
        ({"messages": ["hello"]}, "messages.0"),
        ({"messages": [{"content": "hello"}]}, "messages.0.role"),
        ({"messages": [{"role": None, "content": "hello"}]}, "messages.0.role"),
        ({"messages": [{"role": "", "content": "hello"}]}, "messages.0.role"),
        ({"messages": [{"role": ["user"], "content": "hello"}]}, "messages.0.role"),
        ({"messages": [*HELLO, {"content": "and?"}]}, "messages.1.role"),
        ({"messages": [{"role": "user", "content": 7}]}, "messages.0.content"),
        ({"messages": [{"role": "user", "content": [7]}]}, "messages.0.content.0"),
        ({"messages": [{"role": "user", "content": [{"text": "x"}]}]}, "messages.0.content.0.type"),
        ({"messages": [{"role": "assistant", "audio": {"id": "a"}}]}, "messages.0.audio"),
        ({"messages": part(type="file", file={"file_id": "f"})}, "messages.0.content.1.file.file_id"),
        ({"messages": part(type="image_url", image_url={})}, "messages.0.content.1.image_url.url"),
        ({"messages": part(type="image_url", image_url={"url": PNG})}, "messages.0.content.1"),
        ({"messages": part(type="video_url", video_url={})}, "messages.0.content.1.type"),
        ({"messages": part(type=["text"], text="x")}, "messages.0.content.1.type"),
        ({"messages": part(type="file", file="x")}, "messages.0.content.1.file"),
        ({"messages": part(type="file", file={"file_data": "https://x"})}, "messages.0.content.1.file.file_data"),
        ({"store": True}, "store"),
        ({"web_search_options": {}}, "web_search_options"),
        ({"prediction": {}}, "prediction.content"),
        ({"audio": {"voice": {"id": "x"}}}, "audio.voice"),
        ({"modalities": ["text", "video"]}, "modalities"),
        ({"moderation": {"model": "m"}}, "moderation"),
        ({"chat_template": "{{ 'x' * 999 }}"}, "chat_template"),
        ({"search_parameters": {"mode": "on"}}, "search_parameters"),
        ({"plugins": []}, "plugins"),
        ({"models": ["dear"]}, "models"),
        ({"route": "fallback"}, "route"),
        ({"provider": {}}, "provider"),
        ({"fallbacks": []}, "fallbacks"),
        ({"api_base": "http://x"}, "api_base"),
        ({"api_key": "x"}, "api_key"),
        ({"base_url": "x"}, "base_url"),
        ({"extra_headers": {}}, "extra_headers"),
        ({"extra_body": {}}, "extra_body"),
        ({"tools": {}}, "tools"),
        ({"tools": [{"type": "web_search"}]}, "tools.0.type"),
        ({"tools": [7]}, "tools.0.type"),
        ({"n": 0}, "n"),
        ({"n": 129}, "n"),
        ({"n": True}, "n"),
        ({"n": 1.0}, "n"),
        ({"max_tokens": 0}, "max_tokens"),
        ({"max_tokens": 101}, "max_tokens"),
        ({"max_completion_tokens": "5"}, "max_completion_tokens"),
        ({"max_completion_tokens": 5, "max_tokens": 6}, "max_tokens"),
        ({"stream": "yes"}, "stream"),
        ({"stream_options": {}}, "stream_options"),
        ({"stream": True, "stream_options": []}, "stream_options"),
        ({"stream": True, "stream_options": {"include_usage": 1}}, "stream_options.include_usage"),
    ],
)
def test_what_changes_cost_or_routing_is_refused_by_name(members: Any, param: Any) -> None:
    with pytest.raises(InvalidRequest) as refused:
        read(**members)
    assert refused.value.param == param


@pytest.mark.parametrize("role", ["system", "developer", "tool", "function", "critic"])
def test_a_role_of_any_name_passes(role: str) -> None:
    assert read(messages=[{"role": role, "content": "hello"}]).body["messages"][0]["role"] == role


@pytest.mark.parametrize(
    "members",
    [
        {"temperature": 0.5, "seed": 7, "top_p": 1, "logprobs": True, "user": "u", "metadata": {"a": "b"}},
        {"service_tier": "auto", "store": False, "audio": None, "modalities": ["text"], "prediction": None},
        {"tools": [{"type": "function", "function": {"name": "f"}}, {"type": "custom", "custom": {"name": "c"}}]},
        {"reasoning_effort": "high", "verbosity": "low", "a_new_member": {"of": "the vendor"}},
        {"n": 128, "max_tokens": 100},
    ],
)
def test_what_does_not_passes_as_it_came(members: Any) -> None:
    body = read(**members).body
    assert {name: body[name] for name in members} == members


@pytest.mark.parametrize(
    "url",
    [
        "http://images.example/a.png",
        "https://127.0.0.1/a.png",
        "https://[::1]/a.png",
        "https://10.0.0.1/a.png",
        "https://169.254.169.254/latest",
        "https://127.1/a.png",
        "https://0x7f.0.0.0x1/",
        "https://0x7f.1/a.png",
        "https://0177.0.0.01/a.png",
        "https://10.0.0.0x1./a.png",
        "https://images.example\\@127.0.0.1/a.png",
        "https:\\\\images.example/a.png",
        "https://images.example/a\\b.png",
        "https://images.example/a\nb.png",
        "https://127%2e0.0.1%2eexample/a.png",
        "https://\uff11\uff12\uff17.\uff10.\uff10.\uff11/a.png",
        "https://localhost/a.png",
        "https://db.internal/a.png",
        "https://user@images.example/a.png",
        "https://[bad/a.png",
        "ftp://images.example/a.png",
        "file:///etc/passwd",
        "data:text/html;base64,PGI+",
        "",
    ],
)
def test_an_image_of_a_private_place_is_rejected(url: Any) -> None:
    with pytest.raises(ImageRejected) as refused:
        read(messages=part(type="image_url", image_url={"url": url}))
    assert refused.value.param == "messages.0.content.1.image_url.url"


def test_the_bound_of_text_is_the_bytes_of_its_json() -> None:
    messages = [{"role": "user", "content": "naïve 日本語 🙂" * 100}]
    body = {"model": "fast", "messages": messages}
    wanted = read(messages=messages)
    assert wanted.input_bound == len(canonical(body))
    assert wanted.input_bound > len(("naïve 日本語 🙂" * 100).encode())
    assert wanted.input_estimate == -(-len(("naïve 日本語 🙂" * 100).encode()) // 4)


def test_the_bound_is_no_more_than_the_context() -> None:
    model = ServedModel("a", context_tokens=50)
    assert read(model, messages=[{"role": "user", "content": "x" * 1000}]).input_bound == 50


def test_what_a_vendor_adds_of_its_own_is_bounded_by_an_option() -> None:
    model = ServedModel("a", options={"input_overhead_tokens": 500})
    assert read(model).input_bound == read(ServedModel("a")).input_bound + 500


@pytest.mark.parametrize(
    ("members", "preambles"),
    [
        ({}, 0),
        ({"tools": []}, 0),
        ({"tools": [{"type": "function", "function": {"name": "now"}}]}, 1),
        ({"response_format": {"type": "text"}}, 0),
        ({"response_format": {"type": "json_schema", "json_schema": {"name": "x", "schema": {}}}}, 1),
    ],
)
def test_what_the_vendor_of_messages_adds_is_bounded(members: dict[str, Any], preambles: int) -> None:
    deployment = DeploymentTarget("1", UpstreamTarget("u", "anthropic", "http://u", "k"), "m")
    translated = ServedModel("a", deployments=(deployment,))
    assert read(translated, **members).input_bound == read(**members).input_bound + preambles * PREAMBLE_TOKENS


@pytest.mark.parametrize("overhead", [-500, "x", "500", True, 1.5, None, []])
def test_an_overhead_that_is_no_count_neither_lowers_the_bound_nor_breaks_a_call(overhead: Any) -> None:
    model = ServedModel("a", options={"input_overhead_tokens": overhead})
    assert read(model).input_bound == read(ServedModel("a")).input_bound


@pytest.mark.parametrize(
    "other",
    [
        {"type": "image_url", "image_url": {"url": PNG}},
        {"type": "image_url", "image_url": {"url": "https://images.example/a.png"}},
        {"type": "input_audio", "input_audio": {"data": "AAAA", "format": "wav"}},
        {"type": "file", "file": {"file_data": "data:application/pdf;base64,AAAA"}},
    ],
)
def test_the_bound_of_other_parts_is_the_context(other: Any) -> None:
    wanted = read(ServedModel("a", context_tokens=9_000), messages=part(**other))
    assert wanted.input_bound == 9_000
    assert wanted.input_estimate == 1001
    assert wanted.has_audio == (other["type"] == "input_audio")


def test_an_upstream_may_want_the_older_name_of_the_limit() -> None:
    older = UpstreamTarget("u", "openai", "http://u", "k", options={"output_limit_field": "max_tokens"})
    assert read(ServedModel("a", deployments=(DeploymentTarget("1", older, "m"),))).limit_field == "max_tokens"
    assert read().limit_field == "max_completion_tokens"


def usage(prices: PriceList = PRICES, **members: Any) -> Any:
    request = read()
    return BoundedChat(0, request.body, False, request, TokenCharge(prices, read_chat), 100).usage(Answer({}, members))


def test_usage_is_read_with_what_of_it_was_cached_or_audio() -> None:
    details = {"cached_tokens": 4, "audio_tokens": 3}
    assert usage(prompt_tokens=10, completion_tokens=5, prompt_tokens_details=details) == Quantities(
        input_tokens=10,
        cached_input_tokens=4,
        input_audio_tokens=3,
        output_tokens=5,
        unpriced=("input_audio_tokens",),
    )


@pytest.mark.parametrize("members", [{}, {"prompt_tokens": 1}, {"completion_tokens": 1, "prompt_tokens": None}])
def test_usage_that_is_not_there_is_missing(members: Any) -> None:
    with pytest.raises(MissingUsage):
        usage(**members)


@pytest.mark.parametrize("count", [-1, 1.5, 1.0, "7", True, 10**10, [1], {}])
def test_usage_that_is_no_count_is_malformed(count: Any) -> None:
    with pytest.raises(MalformedUsage):
        usage(prompt_tokens=1, completion_tokens=count)


@pytest.mark.parametrize(
    "details", [{"cached_tokens": 11}, {"cached_tokens": 6, "audio_tokens": 5}, [], "x", {"cached_tokens": -1}]
)
def test_usage_at_odds_with_itself_is_malformed(details: Any) -> None:
    with pytest.raises(MalformedUsage):
        usage(prompt_tokens=10, completion_tokens=1, prompt_tokens_details=details)


def test_no_usage_is_needed_where_no_token_has_a_price() -> None:
    flat = PriceList.parse({"request": "5"})
    assert usage(flat) == Quantities()
