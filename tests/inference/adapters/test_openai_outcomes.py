"""The outcome of each answer of an upstream, over real sockets."""

from typing import Any

import pytest

from inference.interface.answer import Answer
from inference.interface.upstream import Ambiguous, Failed, Outcome, Overloaded, Rejected, Unreachable
from tests.inference.adapters.attempts import API_KEY, PUBLIC_ID, Endpoints, chat, embedding
from tests.support.upstream import LEAKS, FakeUpstream, closed_port, mute_port

adapter = Endpoints("openai")


async def both_ways(attempt: Any) -> list[Outcome]:
    """Make the attempt as one body and as a stream. A failure before the first event has the same outcome in both."""
    outcomes = [await adapter.send(attempt), await adapter.open_stream(attempt)]
    assert all(isinstance(outcome, Outcome) for outcome in outcomes)
    return outcomes  # type: ignore[return-value]


async def test_an_answer_has_our_names_and_the_upstreams_content(upstream: FakeUpstream) -> None:
    outcome = await adapter.send(chat(upstream.base_url, "small-1?text=good+day&cached_tokens=1"))
    assert isinstance(outcome, Answer)
    created = outcome.body.pop("created")
    assert isinstance(created, int)
    usage = {
        "prompt_tokens": 2,
        "completion_tokens": 2,
        "total_tokens": 4,
        "prompt_tokens_details": {"cached_tokens": 1, "audio_tokens": 0},
        "completion_tokens_details": {
            "reasoning_tokens": 0,
            "accepted_prediction_tokens": 0,
            "rejected_prediction_tokens": 0,
            "audio_tokens": 0,
        },
    }
    assert outcome.body == {
        "id": PUBLIC_ID,
        "object": "chat.completion",
        "model": "fast",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": "good day", "refusal": None},
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "service_tier": "default",
        "usage": usage,
    }
    assert outcome.usage == usage


async def test_a_call_goes_up_under_the_deployments_model_and_our_call_id(upstream: FakeUpstream) -> None:
    await adapter.send(chat(upstream.base_url, body={"stream": False, "stream_options": None, "seed": 7}))
    [entry] = upstream.ledger
    assert entry.body == {
        "model": "small-1",
        "messages": [{"role": "user", "content": "hello"}],
        "max_completion_tokens": 30,
        "seed": 7,
    }
    assert entry.idempotency_key == entry.client_request_id == "use_01k6wq5zj3y8r2v7n4m9tbcdef"
    assert entry.authorization == f"Bearer {API_KEY}"


async def test_the_ids_of_tool_calls_are_ours_and_short_enough_to_be_sent_back(upstream: FakeUpstream) -> None:
    tools = [{"type": "function", "function": {"name": "look", "parameters": {"type": "object"}}}]
    outcome = await adapter.send(chat(upstream.base_url, body={"tools": tools, "tool_choice": "required"}))
    assert isinstance(outcome, Answer)
    [call] = outcome.body["choices"][0]["message"]["tool_calls"]
    assert call["id"] == "call_01k6wq5zj3y8r2v7n4m9tbcdef_0_0"
    assert len(call["id"]) <= 40
    assert not any(leak in str(outcome.body) for leak in LEAKS)


async def test_embeddings_are_answered_one_for_each_input(upstream: FakeUpstream) -> None:
    outcome = await adapter.send(embedding(upstream.base_url, {"input": ["one", "two"], "dimensions": 8}))
    assert isinstance(outcome, Answer)
    assert outcome.body["model"] == "embedding"
    assert [item["index"] for item in outcome.body["data"]] == [0, 1]
    assert outcome.usage == {"prompt_tokens": 2, "total_tokens": 2}
    assert not any(leak in str(outcome.body) for leak in LEAKS)


async def test_missing_usage_differs_from_usage_that_is_not_an_object(upstream: FakeUpstream) -> None:
    for form in ("missing", "null"):
        outcome = await adapter.send(chat(upstream.base_url, f"small-1?usage={form}"))
        assert isinstance(outcome, Answer)
        assert outcome.usage is None


@pytest.mark.parametrize("form", ["negative", "fractional", "huge", "string", "boolean", "partial"])
async def test_usage_comes_as_the_upstream_gave_it(upstream: FakeUpstream, form: str) -> None:
    outcome = await adapter.send(chat(upstream.base_url, f"small-1?usage={form}"))
    assert isinstance(outcome, Answer)
    assert outcome.usage is not None
    assert outcome.usage == outcome.body["usage"]


@pytest.mark.parametrize(
    "model",
    ["garbage-json", "truncated-json", "empty-body", "json-array", "small-1?form=html", "usage-infinite"],
)
async def test_a_malformed_answer_is_ambiguous(upstream: FakeUpstream, model: str) -> None:
    outcome = await adapter.send(chat(upstream.base_url, model))
    assert isinstance(outcome, Ambiguous)
    assert (outcome.error.code, outcome.reason) == ("upstream_invalid", "malformed")


@pytest.mark.parametrize("model", ["wrong-type", "huge-headers", "many-headers"])
async def test_an_answer_under_false_or_too_many_headers_is_ambiguous(upstream: FakeUpstream, model: str) -> None:
    for outcome in await both_ways(chat(upstream.base_url, model)):
        assert isinstance(outcome, Ambiguous)
        assert (outcome.error.code, outcome.reason) == ("upstream_invalid", "malformed")


async def test_a_stream_instead_of_an_answer_is_ambiguous(upstream: FakeUpstream) -> None:
    outcome = await adapter.send(chat(upstream.base_url, "swapped"))
    assert isinstance(outcome, Ambiguous)
    assert outcome.error.code == "upstream_invalid"


async def test_an_answer_instead_of_a_stream_is_an_answer(upstream: FakeUpstream) -> None:
    outcome = await adapter.open_stream(chat(upstream.base_url, "swapped"))
    assert isinstance(outcome, Answer)
    assert outcome.body["id"] == PUBLIC_ID
    assert outcome.usage is not None


@pytest.mark.parametrize(
    ("model", "code", "param"),
    [
        ("reject-context-length", "context_length_exceeded", "messages"),
        ("reject-content-policy", "content_policy_violation", None),
        ("small-1?status=400&error_code=unsupported_parameter&error_param=seed", "unsupported_parameter", "seed"),
        (
            "small-1?status=422&error_code=invalid_value&error_param=messages[0].content",
            "invalid_value",
            "messages[0].content",
        ),
        ("reject-parameter", "invalid_parameter", "temperature"),
        ("small-1?status=400&error_code=unknown_parameter&error_param=own_member", "unknown_parameter", "own_member"),
        # A name that is neither the client's nor the vendor's could be anything, even a host name.
        ("small-1?status=400&error_code=invalid_value&error_param=inference-7.internal", "invalid_value", None),
        ("small-1?status=400&error_code=invalid_value&error_param=host7", "invalid_value", None),
        ("small-1?status=400&error_code=invalid_value&error_param=seed.%0Ahost7", "invalid_value", None),
    ],
)
async def test_a_recognised_refusal_keeps_its_code_and_param(
    upstream: FakeUpstream, model: str, code: str, param: str | None
) -> None:
    for outcome in await both_ways(chat(upstream.base_url, model, {"seed": 1, "own_member": 1})):
        assert isinstance(outcome, Rejected)
        assert outcome.alarm is None
        error = outcome.error
        assert (error.code, error.status, error.param, error.details) == ("invalid_request", 400, param, {"code": code})
        assert "could not be served" not in error.message


async def test_an_unrecognised_refusal_keeps_nothing(upstream: FakeUpstream) -> None:
    model = "small-1?status=400&error_code=secret_internal_code&error_param=seed"
    for outcome in await both_ways(chat(upstream.base_url, model, {"seed": 1, "own_member": 1})):
        assert isinstance(outcome, Rejected)
        assert (outcome.error.code, outcome.error.param, outcome.error.details) == ("invalid_request", None, {})


async def test_input_too_large_is_a_refusal(upstream: FakeUpstream) -> None:
    for outcome in await both_ways(chat(upstream.base_url, "reject-too-large")):
        assert isinstance(outcome, Rejected)
        assert (outcome.error.code, outcome.error.status, outcome.alarm) == ("input_too_large", 413, None)


@pytest.mark.parametrize(
    "model",
    [
        *("unauthorized", "forbidden", "missing-model"),
        "small-1?status=400&error_message=Your+credit+balance+is+too+low+to+access+the+API",
    ],
)
async def test_a_refusal_that_the_operator_must_fix_alarms_without_a_secret(upstream: FakeUpstream, model: str) -> None:
    for outcome in await both_ways(chat(upstream.base_url, model)):
        assert isinstance(outcome, Rejected)
        assert (outcome.error.code, outcome.error.status) == ("model_unavailable", 503)
        assert outcome.alarm is not None
        assert "upstream primary answered 40" in outcome.alarm.text
        assert API_KEY not in outcome.alarm.text


@pytest.mark.parametrize(
    ("model", "retry_after", "is_explicit"),
    [
        ("rate-limited", 1.0, False),
        ("small-1?status=429", None, False),
        ("small-1?status=429&error_code=overloaded", None, True),
        ("overloaded", None, True),
        ("small-1?status=503&error_message=The+engine+is+currently+overloaded", None, True),
        ("small-1?status=503&retry_after_seconds=7", 7.0, False),
    ],
)
async def test_an_overload_is_explicit_if_the_body_says_so(
    upstream: FakeUpstream, model: str, retry_after: float | None, is_explicit: bool
) -> None:
    for outcome in await both_ways(chat(upstream.base_url, model)):
        assert outcome == Overloaded(retry_after, is_explicit=is_explicit)


async def test_an_exhausted_account_at_the_upstream_alarms(upstream: FakeUpstream) -> None:
    outcome = await adapter.send(chat(upstream.base_url, "small-1?status=429&error_code=insufficient_quota"))
    assert isinstance(outcome, Overloaded)
    assert outcome.alarm is not None


@pytest.mark.parametrize(
    ("model", "status"),
    [
        ("unavailable", 503),
        ("small-1?status=503&error_message=not+overload-related", 503),
        ("secret-error", 500),
        ("bad-gateway", 502),
        ("small-1?status=504", 504),
        ("small-1?status=408", 408),
        ("small-1?status=409", 409),
        ("small-1?status=418", 418),
        ("small-1?status=529", 529),
    ],
)
async def test_any_other_complete_error_failed(upstream: FakeUpstream, model: str, status: int) -> None:
    for outcome in await both_ways(chat(upstream.base_url, model)):
        assert outcome == Failed(status)


@pytest.mark.parametrize("model", ["cut-before-headers", "cut-before-headers?reset=1"])
async def test_a_cut_before_the_answer_is_ambiguous(upstream: FakeUpstream, model: str) -> None:
    for outcome in await both_ways(chat(upstream.base_url, model)):
        assert isinstance(outcome, Ambiguous)
        assert (outcome.error.code, outcome.error.status, outcome.reason) == ("upstream_error", 502, "connection lost")


@pytest.mark.parametrize("model", ["cut-mid-body", "cut-mid-body?reset=1"])
@pytest.mark.parametrize("status", [200, 400, 429, 503])
async def test_a_truncated_answer_is_ambiguous_regardless_of_its_status(
    upstream: FakeUpstream, model: str, status: int
) -> None:
    separator = "&" if "?" in model else "?"
    outcome = await adapter.send(chat(upstream.base_url, f"{model}{separator}status={status}"))
    assert isinstance(outcome, Ambiguous)
    assert (outcome.error.code, outcome.reason) == ("upstream_error", "connection lost")


async def test_silence_after_the_request_is_ambiguous(upstream: FakeUpstream) -> None:
    for outcome in await both_ways(chat(upstream.base_url, "hang-before-headers", timeout_seconds=0.2)):
        assert isinstance(outcome, Ambiguous)
        assert (outcome.error.code, outcome.error.status, outcome.reason) == ("upstream_timeout", 504, "timed out")


async def test_silence_inside_the_answer_is_ambiguous(upstream: FakeUpstream) -> None:
    outcome = await adapter.send(chat(upstream.base_url, "hang-mid-body", timeout_seconds=0.2))
    assert isinstance(outcome, Ambiguous)
    assert outcome.error.code == "upstream_timeout"


async def test_a_refused_connection_means_not_sent() -> None:
    for outcome in await both_ways(chat(f"http://127.0.0.1:{closed_port()}/v1")):
        assert isinstance(outcome, Unreachable)


async def test_an_unknown_host_means_not_sent() -> None:
    for outcome in await both_ways(chat("http://no-such-host.invalid/v1")):
        assert isinstance(outcome, Unreachable)


async def test_a_server_that_never_reads_may_have_accepted_the_call() -> None:
    with mute_port() as port:
        outcome = await adapter.send(chat(f"http://127.0.0.1:{port}/v1", timeout_seconds=0.2))
    assert isinstance(outcome, Ambiguous)
    assert outcome.error.code == "upstream_timeout"


@pytest.mark.parametrize(
    "base_url",
    [
        "",
        "/v1",
        "ftp://127.0.0.1/v1",
        "http://",
        "http://user:secret@127.0.0.1/v1",
        "http://[::1",
        "http://" + "a" * 70 + ".example/v1",
        "http://xn--a/v1",
        "http://h\x7f/v1",
    ],
)
async def test_an_invalid_address_alarms_the_operator(base_url: str) -> None:
    for outcome in await both_ways(chat(base_url)):
        assert isinstance(outcome, Rejected)
        assert outcome.error.code == "model_unavailable"
        assert outcome.alarm is not None


@pytest.mark.parametrize("api_key", ["two\r\nX-Evil: lines", "ключ", "nul\x00"])
async def test_a_key_that_is_not_a_valid_header_value_alarms_the_operator(upstream: FakeUpstream, api_key: str) -> None:
    for outcome in await both_ways(chat(upstream.base_url, api_key=api_key)):
        assert isinstance(outcome, Rejected)
        assert outcome.error.code == "model_unavailable"
        assert outcome.alarm is not None
        assert api_key not in outcome.alarm.text
    assert list(upstream.ledger) == []
