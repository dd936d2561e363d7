"""Any input gets an answer of the catalogue, and a refused request leaves nothing behind."""

import socket
import uuid
from typing import Any

import httpx
import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gateway.core.contract.errors import CATALOGUE
from tests.support.stage import CHAT, EMBEDDINGS, MESSAGE, Caller, Stage, chat, message

QUICK = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)

HUGE = orjson.Fragment("9" * 30)  # an integer beyond 64 bits, which orjson cannot serialize
scalars = (
    st.just(HUGE)
    | st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**64 - 1)
    | st.floats(allow_nan=False)
    | st.text(max_size=20)
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=10), inner, max_size=4),
    max_leaves=12,
)
KNOWN = [
    "messages", "max_tokens", "max_completion_tokens", "n", "stream", "stream_options", "tools", "tool_choice",
    "response_format", "modalities", "service_tier", "store", "temperature", "logit_bias", "input", "dimensions",
    "encoding_format", "input_type", "functions", "user", "audio", "web_search_options",
]  # fmt: skip


def assert_refused_or_answered(stage: Stage, caller: Caller, answer: Any) -> Any:
    """Check the answer's shape; a refusal must have cost nothing and not have reached the upstream."""
    assert answer.status_code != 500, answer.text
    assert answer.headers["x-request-id"]
    assert answer.headers["cache-control"] == "no-store"
    assert all(call.state == "settled" for call in caller.calls)
    if answer.status_code == 200:
        return
    error = answer.json()["error"]
    own = {"request_id"} - answer.json().keys()  # beside the error, in the shape of messages
    assert set(error) == {"code", "message", "type", "param", "details", "docs_url"} | own
    assert error["code"] in CATALOGUE
    assert len(stage.upstream.ledger) == len(caller.calls)


@pytest.fixture
def world(stage: Stage) -> Any:
    return stage, stage.model(max_output_tokens=20), stage.caller(balance=10_000_000)


@QUICK
@given(members=st.dictionaries(st.sampled_from(KNOWN), values, max_size=5), whole=st.booleans())
def test_any_members_of_a_chat(world: Any, members: Any, whole: Any) -> None:
    stage, alias, caller = world
    body = chat(alias, **members) if whole else {"model": alias, **members}
    answer = caller.post(None, content=orjson.dumps(body))
    assert_refused_or_answered(stage, caller, answer)


@QUICK
@given(messages=st.lists(
    st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "tool", "x"])},
        optional={
            "content": values | st.lists(st.fixed_dictionaries({"type": st.sampled_from(
                ["text", "image_url", "file", "input_audio", "refusal", "new"])}, optional={
                    "text": values, "image_url": values, "file": values, "cache_control": values})),
            "tool_calls": values, "audio": values, "cache_control": values,
        },
    ), max_size=3))  # fmt: skip
def test_any_messages(world: Any, messages: Any) -> None:
    stage, alias, caller = world
    assert_refused_or_answered(stage, caller, caller.post({"model": alias, "messages": messages}))


BLOCKS = [
    "text",
    "image",
    "document",
    "tool_use",
    "tool_result",
    "thinking",
    "redacted_thinking",
    "search_result",
    "new",
]
SOURCES = st.fixed_dictionaries(
    {"type": st.sampled_from(["base64", "text", "content", "url", "file", "new"])},
    optional={"media_type": values, "data": values, "url": values, "content": values, "file_id": values},
)


@pytest.fixture(params=["anthropic", "openai"])
def messages_world(request: pytest.FixtureRequest, stage: Stage) -> Any:
    upstream = stage.upstream_row(adapter=request.param)
    alias = stage.model(max_output_tokens=20, context_tokens=2000, upstream=upstream)
    return stage, alias, stage.caller(balance=10_000_000)


@QUICK
@given(
    members=st.dictionaries(
        st.sampled_from(["system", "tools", "thinking", "tool_choice", "output_config", "cache_control", "stream"]), values
    ),
    messages=st.lists(st.fixed_dictionaries(
        {"role": st.sampled_from(["user", "assistant", "x"])},
        optional={"content": values | st.lists(st.fixed_dictionaries({"type": st.sampled_from(BLOCKS)}, optional={
            "text": values, "source": values | SOURCES, "content": values, "id": values, "name": values,
            "input": values, "thinking": values, "tool_use_id": values, "cache_control": values}))},
    ), max_size=3))  # fmt: skip
def test_any_blocks(messages_world: Any, members: Any, messages: Any) -> None:
    stage, alias, caller = messages_world
    content = orjson.dumps(message(alias, **members, messages=messages))
    assert_refused_or_answered(stage, caller, caller.post(None, content=content, path=MESSAGE))


@QUICK
@given(body=st.binary(max_size=60) | values.map(orjson.dumps))
def test_any_body(world: Any, body: Any) -> None:
    stage, _, caller = world
    answer = caller.post(None, content=body)
    assert answer.status_code >= 400
    assert_refused_or_answered(stage, caller, answer)


@pytest.fixture
def embeddings(stage: Stage) -> Any:
    alias = stage.model(options={"routes": ["embeddings"]}, price={"input_token": "0.1"})
    return stage, alias, stage.caller(balance=10_000_000)


@QUICK
@given(input_=values, extra=st.dictionaries(st.sampled_from(KNOWN), values, max_size=3))
def test_any_embedding(embeddings: Any, input_: Any, extra: Any) -> None:
    stage, alias, caller = embeddings
    body = {**extra, "model": alias, "input": input_}
    assert_refused_or_answered(stage, caller, caller.post(body, path=EMBEDDINGS))


header_values = st.text(
    st.characters(min_codepoint=0x20, max_codepoint=0xFF, exclude_characters="\x7f"), max_size=60
).map(lambda text: text.strip().encode("latin-1"))


@QUICK
@given(
    name=st.sampled_from(
        [
            "Idempotency-Key",
            "x-service-max-cost-microusd",
            "Content-Type",
            "Authorization",
            "DPoP",
            "X-Request-Id",
            "Origin",
        ]
    ),
    value=header_values,
)
def test_any_header(world: Any, name: Any, value: Any) -> None:
    stage, alias, caller = world
    answer = caller.post(chat(alias), headers={name: value})
    assert_refused_or_answered(stage, caller, answer)


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b'{"model": "x", "a": ' + b"[" * 65 + b"]" * 65 + b"}", "invalid_json"),
        (b"[" * 200_000, "invalid_json"),
        (b'{"a":' * 100_000, "invalid_json"),
        (b'{"model": NaN}', "invalid_json"),
        (b'{"model": "\\ud800"}', "invalid_json"),
        (b'{"model": 1e999}', "invalid_json"),
        (b'{"a": [' + b"[]," * 100_000 + b"[]]}", "invalid_json"),
        (b"\xff\xfe{}", "invalid_json"),
        (b"", "invalid_json"),
        (b'\xef\xbb\xbf{"model": "x"}', "invalid_json"),
    ],
)
def test_malformed_json_is_refused(world: Any, body: Any, code: Any) -> None:
    stage, _, caller = world
    answer = caller.post(None, content=body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, code)
    assert_refused_or_answered(stage, caller, answer)


@pytest.mark.parametrize("member", ["model", "max_tokens", "n", "stream", "store"])
def test_an_integer_beyond_64_bits_is_refused_in_a_member_that_the_gateway_reads(world: Any, member: Any) -> None:
    stage, alias, caller = world
    body = orjson.dumps({**chat(alias), member: orjson.Fragment("7" * 5000)})
    answer = caller.post(None, content=body)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (400, "invalid_request", member)
    assert_refused_or_answered(stage, caller, answer)


@pytest.mark.parametrize("digits", ["18446744073709551616", "-9223372036854775809", "7" * 40])
def test_an_integer_beyond_64_bits_is_forwarded_in_a_member_that_it_does_not_read(world: Any, digits: Any) -> None:
    stage, alias, caller = world
    answer = caller.post(chat(alias, seed=orjson.Fragment(digits)))
    assert answer.status_code == 200, answer.text
    [entry] = stage.upstream.ledger
    assert entry.body["seed"] == int(digits)


def test_a_megabyte_of_text_is_served(world: Any) -> None:
    stage, _, caller = world
    alias = stage.model(max_output_tokens=5, context_tokens=2_000_000)
    body = {"model": alias, "messages": [{"role": "user", "content": "naïve 日本語 " * 50_000}]}
    answer = caller.post(body, max_cost=10_000_000)
    assert answer.status_code == 200, answer.text
    assert caller.only_call.hold_microusd >= len(orjson.dumps(body)) * 0.15


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_beyond_the_limit_is_refused_before_it_is_read(world: Any, announced: Any) -> None:
    stage, _, caller = world
    piece = b"x" * 65536

    def pieces() -> Any:
        for _ in range(260):
            yield piece

    headers = {**caller.headers(CHAT), "Content-Type": "application/json", "Idempotency-Key": "k"}
    headers["x-service-max-cost-microusd"] = "9"
    if announced:
        headers["Content-Length"] = str(260 * 65536)
    try:
        answer = stage.client.post(stage.origin + CHAT, content=pieces(), headers=headers)
    except httpx.TransportError:
        pass  # the server answered and closed the connection before everything was written
    else:
        assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    assert caller.calls == []


def test_a_chunked_body_is_read(world: Any) -> None:
    stage, alias, caller = world
    body = orjson.dumps(chat(alias))
    headers = {**caller.headers(CHAT), "Content-Type": "application/json", "Idempotency-Key": "k"}
    headers["x-service-max-cost-microusd"] = "90000"
    answer = stage.client.post(stage.origin + CHAT, content=iter([body[:7], body[7:20], body[20:]]), headers=headers)
    assert answer.status_code == 200


@pytest.mark.parametrize("content_type", ["application/json; charset=UTF-8", 'application/JSON;charset="utf-8"'])
def test_a_content_type_may_name_its_charset(world: Any, content_type: Any) -> None:
    _, alias, caller = world
    assert caller.post(chat(alias), headers={"Content-Type": content_type}).status_code == 200


@pytest.mark.parametrize("content_type", [None, "text/json", "application/json; charset=latin-1", "application/json2"])
def test_another_content_type_is_refused(world: Any, content_type: Any) -> None:
    stage, alias, caller = world
    answer = caller.post(chat(alias), headers={"Content-Type": content_type})
    assert (answer.status_code, answer.json()["error"]["code"]) == (415, "unsupported_media_type")
    assert len(stage.upstream.ledger) == 0


def test_a_query_that_is_not_utf8_is_refused(world: Any) -> None:
    stage, alias, caller = world
    host, port = stage.origin.removeprefix("http://").split(":")
    body = orjson.dumps(chat(alias))
    headers = {**caller.headers(CHAT), "Content-Type": "application/json", "Idempotency-Key": uuid.uuid4().hex}
    lines = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    start = f"POST {CHAT}?a=\xff HTTP/1.1\r\nHost: x\r\nContent-Length: {len(body)}\r\n".encode("latin-1")
    with socket.create_connection((host, int(port)), timeout=60) as raw:
        raw.sendall(start + lines.encode() + b"x-service-max-cost-microusd: 90000\r\n\r\n" + body)
        answer = raw.recv(4096)
    assert answer.startswith(b"HTTP/1.1 400"), answer
    assert caller.calls == []
