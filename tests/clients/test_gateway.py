"""Reads of the account's own resources, and what they raise."""

from typing import Any

import pytest

from account_gateway_client import CachedTokens, Gateway, GatewayError, GatewayUnreachable, call_headers
from tests.clients.stand import Stand
from tests.support.upstream import closed_port


def test_reads_of_the_account(gateway: Gateway) -> None:
    assert gateway.account() == {"did": "did:web:studio.example:alice"}
    assert gateway.models() == [{"id": "fast"}]
    assert gateway.usage(limit=7) == [{"limit": "7"}]


def test_a_checkout_names_its_key(gateway: Gateway) -> None:
    assert gateway.checkout(5_000_000, idempotency_key="k") == {"amountMicros": 5_000_000, "idempotencyKey": "k"}
    keys = {gateway.checkout(1_000_000)["idempotencyKey"] for _ in range(2)}
    assert len(keys) == 2


def test_an_error_is_raised_with_its_code(stand: Stand, gateway: Gateway) -> None:
    stand.orders.refuse_tokens = True
    with pytest.raises(GatewayError, match="401 invalid_token") as refused:
        gateway.models()
    assert (refused.value.status, refused.value.code, refused.value.param) == (401, "invalid_token", "model")
    assert (refused.value.details, refused.value.request_id) == ({}, "req_1")


def test_an_answer_that_is_not_the_gateways_is_an_error(stand: Stand, tokens: CachedTokens) -> None:
    elsewhere = Gateway(f"{stand.base_url}/nothing", tokens)
    with pytest.raises(GatewayError) as refused:
        elsewhere.wallet()
    assert (refused.value.status, refused.value.code) == (404, "unreadable")


def test_a_gateway_that_does_not_answer(tokens: CachedTokens) -> None:
    tokens.token()
    with pytest.raises(GatewayUnreachable, match="does not answer"):
        Gateway(f"http://127.0.0.1:{closed_port()}", tokens).wallet()


def test_a_nonce_is_learned_and_remembered(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce = "nonce-1"
    assert gateway.wallet()["balanceMicrousd"] == 7
    stand.orders.nonce = "nonce-2"
    assert gateway.wallet()["balanceMicrousd"] == 7


def test_a_nonce_that_never_satisfies_is_tried_once(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce, stand.orders.refuse_nonces = "nonce-1", True
    with pytest.raises(GatewayError, match="use_dpop_nonce"):
        gateway.wallet()


@pytest.mark.parametrize("limit", [0.02, 0, -1, 1_000_000_001, "20000", True])
def test_a_limit_that_is_none_is_refused_before_anything_is_sent(stand: Stand, gateway: Gateway, limit: Any) -> None:
    with pytest.raises(ValueError, match="20_000 is two cents"):
        gateway.http_client(max_cost_microusd=limit)
    with pytest.raises(ValueError, match="20_000 is two cents"):
        call_headers(max_cost_microusd=limit, idempotency_key="k")
    with pytest.raises(ValueError, match="20_000 is two cents"):
        gateway.judge("", {}, max_cost_microusd=limit)
    assert stand.exchanges == []
