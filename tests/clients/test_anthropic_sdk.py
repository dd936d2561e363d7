"""The official Anthropic SDK works through the client unchanged, and never pays twice for one call."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import anthropic
import pytest
from anthropic import Anthropic, APIConnectionError, AsyncAnthropic

from account_gateway_client import ForeignOrigin, Gateway, Receipt, UnsafeRetry, call_headers, receipt_of
from tests.clients.stand import Stand

CALL: Any = {"model": "fast", "max_tokens": 20, "messages": [{"role": "user", "content": "Count."}]}
WEATHER: Any = {"name": "weather", "input_schema": {"type": "object"}}
PAID = Receipt("use_1", 900, 420, replayed=False)


def cause_of(error: BaseException) -> BaseException:
    """Return the client's own error, which some versions of the SDK wrap."""
    return (error.__cause__ or error) if isinstance(error, APIConnectionError) else error


@pytest.fixture
def receipts() -> list[Receipt]:
    return []


@pytest.fixture
def sdk(gateway: Gateway, receipts: list[Receipt]) -> Iterator[Anthropic]:
    http = gateway.http_client(sdk="anthropic", max_cost_microusd=20_000, on_receipt=receipts.append)
    with Anthropic(base_url=gateway.base_url, api_key="unused", http_client=http) as sdk:
        yield sdk


@pytest.fixture
async def async_sdk(gateway: Gateway, receipts: list[Receipt]) -> AsyncIterator[AsyncAnthropic]:
    http = gateway.async_http_client(sdk="anthropic", max_cost_microusd=20_000, on_receipt=receipts.append)
    async with AsyncAnthropic(base_url=gateway.base_url, api_key="unused", http_client=http) as sdk:
        yield sdk


def test_message(sdk: Anthropic, stand: Stand, receipts: list[Receipt]) -> None:
    message = sdk.messages.create(**CALL)
    assert message.content[0].text == "one two three"
    assert receipts == [PAID]
    assert stand.attempts[0]["x-service-max-cost-microusd"] == "20000"


def test_tools(sdk: Anthropic) -> None:
    [use] = sdk.messages.create(**CALL, tools=[WEATHER]).content
    assert (use.type, use.name, use.input) == ("tool_use", "weather", {"city": "Bern"})


def test_stream(sdk: Anthropic, receipts: list[Receipt]) -> None:
    stream = sdk.messages.create(**CALL, stream=True)
    assert receipt_of(stream) == Receipt("use_1", 900, None, replayed=False)
    assert [event.type for event in stream][-1] == "message_stop"
    assert receipts == [receipt_of(stream)] == [PAID]


def test_a_streams_helper(sdk: Anthropic, receipts: list[Receipt]) -> None:
    with sdk.messages.stream(**CALL) as stream:
        assert [*stream.text_stream] == ["one", " two", " three"]
        assert stream.get_final_message().stop_reason == "end_turn"
        assert receipt_of(stream) == PAID
    assert receipts == [PAID]


def test_a_stream_that_is_left_after_its_last_event_has_its_charge(sdk: Anthropic, receipts: list[Receipt]) -> None:
    with sdk.messages.create(**CALL, stream=True) as stream:
        for event in stream:
            if event.type == "message_stop":
                break
    assert receipts == [PAID]


def test_a_stream_that_is_left_early_has_a_receipt_without_a_charge(sdk: Anthropic, receipts: list[Receipt]) -> None:
    with sdk.messages.create(**CALL, stream=True) as stream:
        next(iter(stream))
    assert receipts == [Receipt("use_1", 900, None, replayed=False)]


def test_a_raw_response_has_its_receipt(sdk: Anthropic) -> None:
    raw = sdk.messages.with_raw_response.create(**CALL)
    assert receipt_of(raw) == PAID
    assert raw.parse().stop_reason == "end_turn"


def test_the_callers_own_key_and_limit_remain(sdk: Anthropic, stand: Stand, receipts: list[Receipt]) -> None:
    mine = call_headers(max_cost_microusd=77, idempotency_key="mine")
    for _ in range(2):
        sdk.messages.create(**CALL, extra_headers=mine)
    assert set(stand.served) == {"mine"}
    assert {attempt["x-service-max-cost-microusd"] for attempt in stand.attempts} == {"77"}
    assert [receipt.replayed for receipt in receipts] == [False, True]


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, "invalid_request", anthropic.BadRequestError),
        (402, "insufficient_funds", anthropic.APIStatusError),
        (403, "insufficient_scope", anthropic.PermissionDeniedError),
        (404, "model_not_found", anthropic.NotFoundError),
        (409, "idempotency_in_progress", anthropic.ConflictError),
        (422, "idempotency_key_reused", anthropic.UnprocessableEntityError),
        (429, "rate_limited", anthropic.RateLimitError),
        (502, "upstream_error", anthropic.InternalServerError),
        (503, "upstream_overloaded", anthropic.APIStatusError),
        (504, "upstream_timeout", anthropic.APIStatusError),
    ],
)
def test_a_refusal_is_tried_again_with_the_same_key_where_that_can_help(
    sdk: Anthropic, stand: Stand, status: int, code: str, error: type[anthropic.APIStatusError]
) -> None:
    stand.orders.refuse = [(status, code)] * 9
    with pytest.raises(error) as refused:
        sdk.messages.create(**CALL)
    assert refused.value.status_code == status
    assert len(stand.attempts) == (3 if status in {409, 429} or status >= 500 else 1)
    assert len({attempt["Idempotency-Key"] for attempt in stand.attempts}) == 1
    assert stand.served == {}


def test_a_refused_token_is_an_authentication_error(sdk: Anthropic, stand: Stand) -> None:
    stand.orders.refuse_tokens = True
    with pytest.raises(anthropic.AuthenticationError):
        sdk.messages.create(**CALL)


@pytest.mark.parametrize("stream", [False, True])
def test_a_lost_answer_is_requested_again_with_the_same_key(
    sdk: Anthropic, stand: Stand, receipts: list[Receipt], stream: bool
) -> None:
    stand.orders.lose_answers = 2
    answer: Any = sdk.messages.create(**CALL, stream=stream)
    if stream:
        list(answer)
    assert [attempt["x-stainless-retry-count"] for attempt in stand.attempts] == ["0", "1", "2"]
    assert len(stand.served) == 1
    assert len({attempt["DPoP"] for attempt in stand.attempts}) == 3
    assert receipts == [Receipt("use_1", 900, 420, replayed=True)]


async def test_a_lost_answer_of_the_async_sdk_is_requested_again_with_the_same_key(
    async_sdk: AsyncAnthropic, stand: Stand, receipts: list[Receipt]
) -> None:
    stand.orders.lose_answers = 2
    async with async_sdk.messages.stream(**CALL) as stream:
        assert [text async for text in stream.text_stream] == ["one", " two", " three"]
    assert len(stand.served) == 1
    assert receipts == [Receipt("use_1", 900, 420, replayed=True)]


async def test_calls_at_once_in_one_loop_keep_their_keys_apart(async_sdk: AsyncAnthropic, stand: Stand) -> None:
    stand.orders.lose_answers = 10
    sdk = async_sdk.with_options(max_retries=10)
    await asyncio.gather(*(sdk.messages.create(**CALL) for _ in range(20)))
    assert (len(stand.served), len(stand.attempts)) == (20, 30)


def test_calls_at_once_in_threads_keep_their_keys_apart(sdk: Anthropic, stand: Stand) -> None:
    stand.orders.lose_answers = 6
    patient = sdk.with_options(max_retries=10)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: patient.messages.create(**CALL), range(12)))
    assert (len(stand.served), len(stand.attempts)) == (12, 18)


def test_a_retry_that_cannot_be_matched_is_refused_before_it_is_sent(sdk: Anthropic, stand: Stand) -> None:
    with pytest.raises((UnsafeRetry, APIConnectionError)) as refused:
        sdk.messages.create(**CALL, extra_headers={"x-stainless-retry-count": "1"})
    assert isinstance(cause_of(refused.value), UnsafeRetry)
    assert stand.attempts == []


def test_a_forgotten_base_url_sends_nothing_to_strangers(gateway: Gateway, stand: Stand) -> None:
    stranger = f"http://localhost:{stand.port}"
    http = gateway.http_client(sdk="anthropic")
    sdk = Anthropic(base_url=stranger, api_key="unused", http_client=http, max_retries=0)
    with sdk, pytest.raises((ForeignOrigin, APIConnectionError)) as refused:
        sdk.messages.create(**CALL)
    assert isinstance(cause_of(refused.value), ForeignOrigin)
    assert stand.attempts == []
