"""Tokens are fetched once, kept, and renewed in time."""

import asyncio
import time
from types import SimpleNamespace

import pytest

from account_gateway_client import CachedTokens, Gateway, GatewayError, ProductKey, ProductServer
from tests.clients.conftest import ALICE, CAPABILITIES
from tests.clients.stand import AUDIENCE, Stand
from tests.support.concurrency import PATIENCE_SECONDS, at_once


def test_an_assertion_says_who_for_what_and_for_which_key(stand: Stand, tokens: CachedTokens) -> None:
    began_at = int(time.time())
    tokens.token()
    (claims,) = stand.exchanges
    assert began_at <= claims.pop("iat") <= time.time()
    assert claims.pop("exp") <= time.time() + 60
    assert len(claims.pop("jti")) >= 22
    assert claims == {
        "iss": "https://studio.example",
        "aud": AUDIENCE,
        "product": "studio",
        "sub": ALICE,
        "capabilities": CAPABILITIES,
        "cnf": {"jkt": tokens.key.thumbprint},
    }


@pytest.mark.parametrize(("seconds", "told"), [(3000, r"\d+ s ahead of"), (-3000, r"\d+ s behind")])
def test_a_wrong_clock_is_told_where_an_assertion_is_refused(
    product: ProductServer, monkeypatch: pytest.MonkeyPatch, seconds: int, told: str
) -> None:
    wrong = SimpleNamespace(time=lambda: time.time() + seconds, monotonic=time.monotonic)
    monkeypatch.setattr("account_gateway_client.products.time", wrong)
    with pytest.raises(GatewayError, match=f"clock is {told} the gateway's") as refused:
        product.tokens_for(ALICE, CAPABILITIES).token()
    assert (refused.value.status, refused.value.code) == (400, "invalid_grant")


def test_a_refusal_says_nothing_of_a_clock_that_is_right(
    stand: Stand, product_key: ProductKey, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("account_gateway_client.products.CLOCK_SECONDS", PATIENCE_SECONDS)
    stranger = ProductServer(stand.base_url, issuer="https://studio.example", product="studio", key=product_key)
    with pytest.raises(GatewayError) as refused:
        stranger.tokens_for(ALICE, CAPABILITIES).token()  # for another audience
    assert refused.value.reason is None


def test_consents_are_sent_where_there_are_any(stand: Stand, product: ProductServer) -> None:
    product.tokens_for(ALICE, ["realtime:connect"], consents=["realtime"]).token()
    assert stand.exchanges[0]["consents"] == ["realtime"]


def test_a_token_serves_many_requests(stand: Stand, gateway: Gateway) -> None:
    for _ in range(3):
        assert gateway.wallet() == {"currency": "USD", "balanceMicrousd": 7}
    assert len(stand.exchanges) == 1


def test_a_token_is_renewed_before_it_expires(stand: Stand, gateway: Gateway) -> None:
    stand.orders.expires_in = 31  # renewed 30 s before its end, so after 1 s
    gateway.wallet()
    time.sleep(1.1)
    gateway.wallet()
    assert len(stand.exchanges) == 2


def test_a_refused_token_is_replaced_once(stand: Stand, gateway: Gateway, tokens: CachedTokens) -> None:
    stand.orders.revoked.add(tokens.token())
    assert gateway.wallet()["balanceMicrousd"] == 7
    assert len(stand.exchanges) == 2


def test_a_token_that_is_refused_again_and_again_ends_in_its_error(stand: Stand, product: ProductServer) -> None:
    stand.orders.refuse_tokens = True
    gateway = Gateway(stand.base_url, product.tokens_for(ALICE, CAPABILITIES))
    with pytest.raises(GatewayError) as refused:
        gateway.wallet()
    assert (refused.value.status, refused.value.code) == (401, "invalid_token")
    assert len(stand.exchanges) == 2


def test_forgetting_a_token_that_was_replaced_keeps_the_new_one(tokens: CachedTokens) -> None:
    old = tokens.token()
    tokens.forget(old)
    new = tokens.token()
    tokens.forget(old)
    assert tokens.token() == new != old


def test_threads_that_ask_at_once_share_one_exchange(stand: Stand, tokens: CachedTokens) -> None:
    stand.orders.exchange_seconds = 0.1
    assert len(set(at_once(*[tokens.token] * 8))) == 1
    assert len(stand.exchanges) == 1


async def test_tasks_that_ask_at_once_share_one_exchange_and_the_loop_goes_on(
    stand: Stand, tokens: CachedTokens
) -> None:
    stand.orders.exchange_seconds = 1.0
    beats = 0

    async def beat() -> None:
        nonlocal beats
        while True:
            await asyncio.sleep(0.01)
            beats += 1

    heart = asyncio.create_task(beat())
    assert len(set(await asyncio.gather(*(tokens.token_async() for _ in range(20))))) == 1
    heart.cancel()
    assert len(stand.exchanges) == 1
    assert beats >= 5


def test_a_refused_assertion_raises_the_gateways_error(stand: Stand) -> None:
    stranger = ProductServer(stand.base_url, issuer="x", audience=AUDIENCE, product="x", key=ProductKey.generate())
    with pytest.raises(GatewayError, match="invalid_grant") as refused:
        stranger.tokens_for(ALICE, CAPABILITIES).token()
    assert (refused.value.status, refused.value.reason) == (400, None)
    assert "Reason" not in str(refused.value)


def test_a_token_is_not_shown_when_printed(product: ProductServer, tokens: CachedTokens) -> None:
    token = product.exchange(product.assertion(ALICE, CAPABILITIES, tokens.key), tokens.key)
    assert token.value not in repr(token)
    assert token.scopes == frozenset(CAPABILITIES)
