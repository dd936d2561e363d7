"""The official OpenAI SDK works through the client unchanged, and never pays twice for one call."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest
from openai import APIConnectionError, AsyncOpenAI, Omit, OpenAI

from account_gateway_client import (
    ForeignOrigin,
    Gateway,
    ProductKey,
    ProductServer,
    Receipt,
    UnsafeRetry,
    call_headers,
    receipt_of,
)
from tests.clients.stand import Stand
from tests.support.upstream import closed_port

MESSAGES: Any = [{"role": "user", "content": "Count."}]
WEATHER: Any = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


def cause_of(error: BaseException) -> BaseException:
    """Return the client's own error, which SDKs before 3 wrap."""
    return (error.__cause__ or error) if isinstance(error, APIConnectionError) else error


@pytest.fixture
def receipts() -> list[Receipt]:
    return []


@pytest.fixture
def sdk(gateway: Gateway, receipts: list[Receipt]) -> Iterator[OpenAI]:
    http = gateway.http_client(max_cost_microusd=20_000, on_receipt=receipts.append)
    with OpenAI(base_url=gateway.api_url, api_key="unused", http_client=http) as sdk:
        yield sdk


@pytest.fixture
async def async_sdk(gateway: Gateway, receipts: list[Receipt]) -> AsyncIterator[AsyncOpenAI]:
    http = gateway.async_http_client(max_cost_microusd=20_000, on_receipt=receipts.append)
    async with AsyncOpenAI(base_url=gateway.api_url, api_key="unused", http_client=http) as sdk:
        yield sdk


def test_chat(sdk: OpenAI, stand: Stand, receipts: list[Receipt]) -> None:
    answer = sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert answer.choices[0].message.content == "one two three"
    assert receipts == [Receipt("use_1", 900, 420, replayed=False)]
    assert stand.attempts[0]["x-service-max-cost-microusd"] == "20000"


def test_stream(sdk: OpenAI, receipts: list[Receipt]) -> None:
    stream = sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=True)
    before = receipt_of(stream)
    assert before == Receipt("use_1", 900, None, replayed=False)
    words = [chunk.choices[0].delta.content for chunk in stream]
    assert words == ["one", " two", " three"]
    assert receipt_of(stream) == Receipt("use_1", 900, 420, replayed=False)
    assert receipts == [receipt_of(stream)]


def test_a_stream_that_is_left_early_has_a_receipt_without_a_charge(sdk: OpenAI, receipts: list[Receipt]) -> None:
    with sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=True) as stream:
        next(iter(stream))
    assert receipts == [Receipt("use_1", 900, None, replayed=False)]


def test_tools(sdk: OpenAI) -> None:
    answer = sdk.chat.completions.create(model="fast", messages=MESSAGES, tools=[WEATHER])
    (call,) = answer.choices[0].message.tool_calls or []
    assert call.type == "function"
    assert (call.function.name, call.function.arguments) == ("weather", '{"city":"Bern"}')


def test_embeddings(sdk: OpenAI) -> None:
    answer = sdk.embeddings.create(model="embedding", input="x", encoding_format="float")
    assert answer.data[0].embedding == [0.5, -0.5]


def test_models_are_read_without_a_key_or_a_limit(sdk: OpenAI) -> None:
    assert [model.id for model in sdk.models.list()] == ["fast"]


def test_a_raw_response_has_its_receipt(sdk: OpenAI) -> None:
    raw = sdk.chat.completions.with_raw_response.create(model="fast", messages=MESSAGES)
    assert receipt_of(raw) == Receipt("use_1", 900, 420, replayed=False)


def test_the_callers_own_key_and_limit_remain(sdk: OpenAI, stand: Stand, receipts: list[Receipt]) -> None:
    mine = call_headers(max_cost_microusd=77, idempotency_key="mine")
    for _ in range(2):
        sdk.chat.completions.create(model="fast", messages=MESSAGES, extra_headers=mine)
    assert set(stand.served) == {"mine"}
    assert {attempt["x-service-max-cost-microusd"] for attempt in stand.attempts} == {"77"}
    assert [receipt.replayed for receipt in receipts] == [False, True]


@pytest.mark.parametrize(
    ("status", "code", "error"),
    [
        (400, "invalid_request", openai.BadRequestError),
        (402, "insufficient_funds", openai.APIStatusError),
        (403, "insufficient_scope", openai.PermissionDeniedError),
        (404, "model_not_found", openai.NotFoundError),
        (409, "idempotency_in_progress", openai.ConflictError),
        (422, "idempotency_key_reused", openai.UnprocessableEntityError),
        (429, "rate_limited", openai.RateLimitError),
        (502, "upstream_error", openai.InternalServerError),
        (503, "model_unavailable", openai.InternalServerError),
        (504, "upstream_timeout", openai.InternalServerError),
    ],
)
def test_a_refusal_is_the_sdks_own_error_with_our_code(
    sdk: OpenAI, stand: Stand, status: int, code: str, error: type[openai.APIStatusError]
) -> None:
    stand.orders.refuse = [(status, code)] * 9
    with pytest.raises(error) as refused:
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert type(refused.value) is error
    assert (refused.value.status_code, refused.value.code, refused.value.param) == (status, code, "model")
    assert (refused.value.type, refused.value.request_id) == ("x_error", "req_1")
    attempts = 3 if status in {409, 429} or status >= 500 else 1
    assert len(stand.attempts) == attempts
    assert len({attempt["Idempotency-Key"] for attempt in stand.attempts}) == 1
    assert stand.served == {}


def test_a_refused_token_is_an_authentication_error(sdk: OpenAI, stand: Stand) -> None:
    stand.orders.refuse_tokens = True
    with pytest.raises(openai.AuthenticationError) as refused:
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert refused.value.code == "invalid_token"


def test_a_gateway_that_gives_no_token_is_a_connection_error_and_tried_again(product_key: ProductKey) -> None:
    url = f"http://127.0.0.1:{closed_port()}"
    product = ProductServer(url, issuer="x", audience="x", product="studio", key=product_key)
    gateway = Gateway(url, product.tokens_for("did:web:studio.example:alice", ["infer:fast"]))
    sdk = OpenAI(base_url=gateway.api_url, api_key="unused", http_client=gateway.http_client())
    with sdk, pytest.raises(openai.APIConnectionError):
        sdk.chat.completions.create(model="fast", messages=MESSAGES)


@pytest.mark.parametrize("stream", [False, True])
def test_a_lost_answer_is_requested_again_with_the_same_key(
    sdk: OpenAI, stand: Stand, receipts: list[Receipt], stream: bool
) -> None:
    stand.orders.lose_answers = 2
    answer: Any = sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=stream)
    if stream:
        list(answer)
    assert [attempt["x-stainless-retry-count"] for attempt in stand.attempts] == ["0", "1", "2"]
    assert len(stand.served) == 1
    assert len({attempt["DPoP"] for attempt in stand.attempts}) == 3
    assert receipts == [Receipt("use_1", 900, 420, replayed=True)]


async def test_a_lost_answer_of_the_async_sdk_is_requested_again_with_the_same_key(
    async_sdk: AsyncOpenAI, stand: Stand, receipts: list[Receipt]
) -> None:
    stand.orders.lose_answers = 2
    stream = await async_sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=True)
    assert [chunk.choices[0].delta.content async for chunk in stream] == ["one", " two", " three"]
    assert len(stand.served) == 1
    assert receipts == [Receipt("use_1", 900, 420, replayed=True)]


async def test_calls_at_once_in_one_loop_keep_their_keys_apart(async_sdk: AsyncOpenAI, stand: Stand) -> None:
    stand.orders.lose_answers = 10
    sdk = async_sdk.with_options(max_retries=10)
    await asyncio.gather(*(sdk.chat.completions.create(model="fast", messages=MESSAGES) for _ in range(20)))
    assert len(stand.served) == 20
    assert len(stand.attempts) == 30


def test_calls_at_once_in_threads_keep_their_keys_apart(sdk: OpenAI, stand: Stand) -> None:
    stand.orders.lose_answers = 6
    patient = sdk.with_options(max_retries=10)
    with ThreadPoolExecutor(6) as pool:
        list(pool.map(lambda _: patient.chat.completions.create(model="fast", messages=MESSAGES), range(12)))
    assert len(stand.served) == 12
    assert len(stand.attempts) == 18


def test_two_calls_with_the_same_words_are_two_calls(sdk: OpenAI, stand: Stand) -> None:
    for _ in range(2):
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert len(stand.served) == 2


def test_a_retry_that_cannot_be_matched_is_refused_before_it_is_sent(sdk: OpenAI, stand: Stand) -> None:
    for headers in ({"x-stainless-retry-count": Omit()}, {"x-stainless-retry-count": "1"}):
        with pytest.raises((UnsafeRetry, APIConnectionError)) as refused:
            sdk.embeddings.create(model="embedding", input="x", extra_headers=headers)
        assert isinstance(cause_of(refused.value), UnsafeRetry)
    assert stand.attempts == []


def test_a_forgotten_base_url_sends_nothing_to_strangers(gateway: Gateway, stand: Stand) -> None:
    stranger = f"http://localhost:{stand.port}/v1"
    sdk = OpenAI(base_url=stranger, api_key="unused", http_client=gateway.http_client())
    with sdk, pytest.raises((ForeignOrigin, APIConnectionError)) as refused:
        sdk.models.list()
    assert isinstance(cause_of(refused.value), ForeignOrigin)
    assert stand.attempts == []
