"""The requests auth signs each request that goes out, also those that requests makes by itself."""

import io

import pytest
import requests

from account_gateway_client import ForeignOrigin, Gateway, receipt_of
from tests.clients.stand import Stand


def test_each_request_has_a_proof_of_its_own(stand: Stand, gateway: Gateway) -> None:
    with requests.Session() as session:
        session.auth = gateway.requests_auth
        for _ in range(3):
            assert session.get(f"{stand.base_url}/v1/wallet").json()["balanceMicrousd"] == 7


def test_a_nonce_and_a_new_token_are_each_tried_once(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce = "nonce-1"
    stand.orders.revoked.add(gateway.signer.tokens.token())
    answer = requests.get(f"{stand.base_url}/v1/wallet", auth=gateway.requests_auth, timeout=60)
    assert answer.json()["balanceMicrousd"] == 7
    assert [earlier.status_code for earlier in answer.history] == [401, 401]
    assert len(stand.exchanges) == 2


@pytest.mark.parametrize(("status", "method"), [(307, "POST"), (308, "POST"), (303, "GET"), (302, "GET")])
def test_a_redirect_is_proved_afresh(stand: Stand, gateway: Gateway, status: int, method: str) -> None:
    url = f"{stand.base_url}/moved/{status}"
    answer = requests.post(url, data="text", auth=gateway.requests_auth, timeout=60)
    assert answer.json() == {"method": method, "body": "text" if method == "POST" else ""}


def test_a_file_is_sent_again_from_its_start(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce = "nonce-1"
    url = f"{stand.base_url}/elsewhere"
    answer = requests.post(url, data=io.BytesIO(b"whole"), auth=gateway.requests_auth, timeout=60)
    assert answer.json() == {"method": "POST", "body": "whole"}


def test_another_origin_never_sees_token_or_proof(stand: Stand, gateway: Gateway) -> None:
    foreign = f"http://localhost:{stand.port}/foreign"
    with pytest.raises(ForeignOrigin):
        requests.get(foreign, auth=gateway.requests_auth, timeout=60)
    requests.get(f"{stand.base_url}/moved/307", params={"to": foreign}, auth=gateway.requests_auth, timeout=60)
    (headers,) = stand.foreign
    assert not {"Authorization", "DPoP"} & set(headers)


def test_a_metered_answer_has_a_receipt_and_a_read_has_none(stand: Stand, gateway: Gateway) -> None:
    from account_gateway_client import call_headers

    answer = requests.post(
        f"{stand.base_url}/v1/embeddings",
        json={"model": "embedding", "input": "x"},
        headers=call_headers(max_cost_microusd=1000, idempotency_key="k-1"),
        auth=gateway.requests_auth,
        timeout=60,
    )
    receipt = receipt_of(answer)
    assert receipt is not None
    assert (receipt.hold_microusd, receipt.charge_microusd, receipt.replayed) == (900, 420, False)
    read = requests.get(f"{stand.base_url}/v1/wallet", auth=gateway.requests_auth, timeout=60)
    assert receipt_of(read) is None
