"""What a tool sends goes on signed, with a key and a maximum, and its answer comes back as it is."""

from collections.abc import Iterator
from typing import Any

import anthropic
import httpx
import openai
import pytest
from anthropic import Anthropic
from openai import OpenAI

from account_gateway_client import ClientError, Gateway, ProductKey, ProductServer
from account_gateway_client.proxy.server import LocalProxy
from tests.clients.conftest import ALICE, CAPABILITIES
from tests.clients.proxy.conftest import BODY, CHAT, MAXIMUM, StartProxy, tool_of
from tests.clients.proxy.held_stand import HeldStand
from tests.clients.stand import AUDIENCE, CHARGE
from tests.support.concurrency import PATIENCE_SECONDS, eventually

MESSAGES: Any = BODY["messages"]


@pytest.fixture
def sdk(proxy: LocalProxy) -> Iterator[OpenAI]:
    with OpenAI(base_url=f"{proxy.base_url}/v1", api_key=proxy.secret, timeout=PATIENCE_SECONDS) as sdk:
        yield sdk


@pytest.fixture
def anthropic_sdk(proxy: LocalProxy) -> Iterator[Anthropic]:
    with Anthropic(base_url=proxy.base_url, auth_token=proxy.secret, timeout=PATIENCE_SECONDS) as sdk:
        yield sdk


def keys(stand: HeldStand) -> list[str]:
    return [attempt["Idempotency-Key"] for attempt in stand.attempts]


def test_an_sdk_gets_its_answer(sdk: OpenAI, stand: HeldStand, proxy: LocalProxy) -> None:
    answer = sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert answer.choices[0].message.content == "one two three"
    [sent] = stand.attempts
    assert sent["Authorization"].startswith("DPoP ")
    assert sent["x-service-max-cost-microusd"] == str(MAXIMUM)
    assert proxy.secret not in str(stand.attempts)
    assert (proxy.spending.spent, proxy.spending.calls) == (CHARGE, 1)
    eventually(lambda: proxy.spending.entries == {})  # which the proxy ends after the tool has its answer


def test_both_dialects_stream(sdk: OpenAI, anthropic_sdk: Anthropic, proxy: LocalProxy) -> None:
    chunks = sdk.chat.completions.create(model="fast", messages=MESSAGES, stream=True)
    assert [chunk.choices[0].delta.content for chunk in chunks] == ["one", " two", " three"]
    with anthropic_sdk.messages.stream(model="fast", max_tokens=9, messages=MESSAGES) as stream:
        assert list(stream.text_stream) == ["one", " two", " three"]
    eventually(lambda: proxy.spending.spent == 2 * CHARGE)
    assert proxy.spending.reserved == 0


@pytest.mark.parametrize(
    "refusal", [(503, "upstream_overloaded"), (429, "rate_limited"), (409, "idempotency_in_progress")]
)
def test_an_sdks_retry_has_the_key_of_its_call(
    sdk: OpenAI, stand: HeldStand, proxy: LocalProxy, refusal: tuple[int, str]
) -> None:
    stand.orders.refuse = [refusal]
    sdk.chat.completions.create(model="fast", messages=MESSAGES)
    first, second = keys(stand)
    assert first == second
    assert (proxy.spending.spent, proxy.spending.reserved) == (CHARGE, 0)


def test_a_lost_answer_is_fetched_again_and_paid_for_once(sdk: OpenAI, stand: HeldStand, proxy: LocalProxy) -> None:
    stand.orders.lose_answers = 1
    sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert len(stand.served) == 1
    assert len({*keys(stand)}) == 1
    assert len({attempt["DPoP"] for attempt in stand.attempts}) == 2
    assert (proxy.spending.spent, proxy.spending.calls, proxy.spending.reserved) == (CHARGE, 1, 0)


def test_an_sdk_that_loses_the_answer_twice_still_pays_once(sdk: OpenAI, stand: HeldStand, proxy: LocalProxy) -> None:
    stand.orders.lose_answers = 2  # the proxy's own second try is lost as well, and the SDK gets a 502
    sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert len(stand.served) == len({*keys(stand)}) == 1
    assert (proxy.spending.spent, proxy.spending.reserved) == (CHARGE, 0)


def test_equal_calls_are_two_calls(sdk: OpenAI, stand: HeldStand, proxy: LocalProxy) -> None:
    for _ in range(2):
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert len({*keys(stand)}) == 2
    assert proxy.spending.spent == 2 * CHARGE


def test_a_tools_own_key_stays_and_is_paid_for_once(tool: httpx.Client, stand: HeldStand, proxy: LocalProxy) -> None:
    for replayed in (None, "true"):
        answer = tool.post(CHAT, json=BODY, headers={"Idempotency-Key": "mine"})
        assert answer.headers.get("Idempotent-Replayed") == replayed
    assert keys(stand) == ["mine", "mine"]
    assert (proxy.spending.spent, proxy.spending.calls) == (CHARGE, 1)


@pytest.mark.parametrize(
    ("sent", "goes_on"), [("1", "1"), ("5000", "5000"), ("20001", "20000"), ("1000000000", "20000")]
)
def test_the_smaller_maximum_counts(tool: httpx.Client, stand: HeldStand, sent: str, goes_on: str) -> None:
    tool.post(CHAT, json=BODY, headers={"x-service-max-cost-microusd": sent})
    assert stand.attempts[-1]["x-service-max-cost-microusd"] == goes_on


@pytest.mark.parametrize("sent", ["0", "-1", "1.5", "1e3", "1000000001", "99999999999", "x", "", "+5", "٣"])
def test_a_maximum_that_is_none_is_refused(tool: httpx.Client, stand: HeldStand, sent: str) -> None:
    answer = tool.post(CHAT, json=BODY, headers=[(b"x-service-max-cost-microusd", sent.encode())])
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["param"]) == (
        400,
        "invalid_request",
        "x-service-max-cost-microusd",
    )
    assert stand.attempts == []


@pytest.mark.parametrize("sent", [["a", "b"], [""], ["é"], ["x" * 256]])
def test_a_key_that_is_none_is_refused(tool: httpx.Client, stand: HeldStand, sent: list[str]) -> None:
    answer = tool.post(CHAT, json=BODY, headers=[(b"Idempotency-Key", each.encode()) for each in sent])
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "Idempotency-Key")
    assert stand.attempts == []


def test_errors_pass_unchanged(tool: httpx.Client, stand: HeldStand) -> None:
    stand.orders.refuse = [(422, "idempotency_key_reused")]
    answer = tool.post(CHAT, json=BODY)
    assert (answer.status_code, answer.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert answer.headers["X-Request-Id"] == answer.json()["error"]["request_id"] == "req_1"


def test_a_large_body_and_one_in_chunks_pass(tool: httpx.Client, stand: HeldStand) -> None:
    large = b'{"model": "fast", "text": "' + b"x" * (20 * 2**20) + b'"}'
    assert tool.post(CHAT, content=large).status_code == 200
    pieces = (large[at : at + 2**16] for at in range(0, len(large), 2**16))
    assert tool.post(CHAT, content=pieces).status_code == 200
    assert [body == large for body in stand.bodies] == [True, True]


def test_a_body_beyond_every_limit_is_refused(tool: httpx.Client, stand: HeldStand) -> None:
    answer = tool.post(CHAT, content=(b"x" * 2**20 for _ in range(40)))
    assert (answer.status_code, answer.json()["error"]["code"]) == (413, "request_too_large")
    assert stand.served == {}


def test_the_first_event_comes_at_once_and_leaving_ends_the_call(tool: httpx.Client, stand: HeldStand) -> None:
    with tool.stream("POST", CHAT, json={**BODY, "endless": True}) as answer:
        assert next(answer.iter_raw()).startswith(b"data: {}")
        assert stand.left == 0
    eventually(lambda: stand.left == 1)


def test_leaving_before_the_answer_ends_the_call(proxy: LocalProxy, stand: HeldStand) -> None:
    stand.hold()
    with tool_of(proxy) as impatient, pytest.raises(httpx.ReadTimeout):
        impatient.post(CHAT, json=BODY, timeout=httpx.Timeout(PATIENCE_SECONDS, read=0.2))
    eventually(lambda: stand.left == 1)
    assert proxy.spending.reserved == MAXIMUM  # the gateway may have taken it


def test_nonces_and_new_tokens(tool: httpx.Client, stand: HeldStand) -> None:
    stand.orders.nonce = "n1"
    assert tool.post(CHAT, json=BODY).status_code == 200
    stand.orders.revoked = {stand.attempts[-1]["Authorization"].removeprefix("DPoP ")}
    assert tool.post(CHAT, json=BODY).status_code == 200
    assert len(stand.exchanges) == 2
    assert len(stand.served) == 2


def test_a_session_that_has_ended_says_what_to_do(sdk: OpenAI, stand: HeldStand, proxy: LocalProxy) -> None:
    stand.orders.refuse_tokens = True
    stand.jwks["keys"].clear()  # and no assertion is accepted any more
    with pytest.raises(openai.AuthenticationError, match="agw login") as refused:
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert refused.value.code == "invalid_token"
    assert proxy.spending.reserved == 0


def test_a_gateway_that_is_away_and_comes_back(product_key: ProductKey) -> None:
    with HeldStand(product_key.public_jwks()) as before:
        url = before.base_url
        server = ProductServer(
            url, issuer="https://studio.example", product="studio", audience=AUDIENCE, key=product_key
        )
        tokens = server.tokens_for(ALICE, CAPABILITIES)
        gateway = Gateway(url, tokens)
    with LocalProxy(gateway, max_cost_microusd=MAXIMUM) as proxy, tool_of(proxy) as tool:
        refused = tool.post(CHAT, json=BODY)
        assert (refused.status_code, refused.json()["error"]["code"]) == (503, "not_ready")
        assert int(refused.headers["Retry-After"]) > 0
        assert tool.post("/v1/messages", json=BODY).json()["error"]["type"] == "overloaded_error"
        assert proxy.spending.reserved == 0
        with HeldStand(product_key.public_jwks(), port=before.port) as after:
            assert tool.post(CHAT, json=BODY).status_code == 200
            assert len(after.served) == 1


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("ALL_PROXY", "socks5://127.0.0.1:1"),
        ("HTTPS_PROXY", "nonsense://127.0.0.1:1"),
        ("REQUESTS_CA_BUNDLE", "/nowhere.pem"),
    ],
)
def test_an_environment_that_cannot_be_used_is_told_before_it_serves(
    start: StartProxy, monkeypatch: pytest.MonkeyPatch, name: str, value: str
) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(ClientError, match="REQUESTS_CA_BUNDLE"):
        start()


def test_a_redirect_is_not_followed(tool: httpx.Client, stand: HeldStand) -> None:
    stand.redirects = True
    answer = tool.post(CHAT, json=BODY)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_error")
    assert "Location" not in answer.headers
    assert stand.foreign == []


def test_models_in_both_shapes(sdk: OpenAI, anthropic_sdk: Anthropic) -> None:
    assert [model.id for model in sdk.models.list()] == ["fast", "embedding", "balanced"]
    listed = anthropic_sdk.models.list()
    assert [(model.id, model.type, model.display_name) for model in listed] == [("fast", "model", "fast")]
    assert listed.has_more is False


def test_counting_tokens_is_no_call(anthropic_sdk: Anthropic, proxy: LocalProxy) -> None:
    counted = anthropic_sdk.messages.count_tokens(model="fast", messages=MESSAGES)
    assert counted.input_tokens == 3
    assert proxy.spending.calls == 0


def test_binary_answers_pass_untouched(tool: httpx.Client, proxy: LocalProxy) -> None:
    answer = tool.post("/v1/audio/speech", json={"model": "audio", "input": "x"})
    assert answer.content == bytes(range(256)) * 64
    assert proxy.spending.reserved == MAXIMUM  # the charge is in the usage record


def test_errors_of_the_proxy_reach_both_sdks(start: StartProxy) -> None:
    proxy = start(budget_microusd=1)
    url = f"{proxy.base_url}/v1"
    with OpenAI(base_url=url, api_key=proxy.secret) as sdk, pytest.raises(openai.APIStatusError) as refused:
        sdk.chat.completions.create(model="fast", messages=MESSAGES)
    assert (refused.value.status_code, refused.value.code) == (402, "budget_exceeded")
    with (
        Anthropic(base_url=proxy.base_url, api_key=proxy.secret) as other,
        pytest.raises(anthropic.APIStatusError) as also,
    ):
        other.messages.create(model="fast", max_tokens=9, messages=MESSAGES)
    assert also.value.status_code == 402
    assert also.value.body["error"]["code"] == "budget_exceeded"  # type: ignore[index]
    with OpenAI(base_url=url, api_key="wrong") as wrong, pytest.raises(openai.AuthenticationError):
        wrong.models.list()
