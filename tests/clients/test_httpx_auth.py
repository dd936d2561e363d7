"""The httpx auth signs each request that goes out."""

import httpx
import pytest

from account_gateway_client import CachedTokens, ForeignOrigin, Gateway, GatewayError, RequestSigner
from tests.clients.stand import Stand


def test_reads_of_the_account(gateway: Gateway) -> None:
    assert gateway.account() == {"did": "did:web:studio.example:alice"}
    assert gateway.models() == [{"id": "fast"}]
    assert gateway.usage(limit=7) == [{"limit": "7"}]


def test_an_error_is_told_with_its_code(gateway: Gateway) -> None:
    with pytest.raises(GatewayError) as refused:
        gateway._get("/v1/nothing")
    assert (refused.value.status, refused.value.code) == (404, "unreadable")


def test_a_nonce_is_learned_and_kept(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce = "nonce-1"
    assert gateway.wallet()["balanceMicrousd"] == 7
    stand.orders.nonce = "nonce-2"
    assert gateway.wallet()["balanceMicrousd"] == 7


def test_a_nonce_that_never_satisfies_is_tried_once(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce, stand.orders.refuse_nonces = "nonce-1", True
    with pytest.raises(GatewayError, match="use_dpop_nonce"):
        gateway.wallet()


async def test_the_same_on_an_event_loop(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce = "nonce-1"
    async with httpx.AsyncClient(base_url=stand.base_url, auth=gateway.auth) as http:
        assert (await http.get("/v1/wallet")).json()["balanceMicrousd"] == 7


@pytest.mark.parametrize(("status", "method"), [(307, "POST"), (308, "POST"), (303, "GET"), (302, "GET")])
def test_a_redirect_is_proved_afresh(stand: Stand, gateway: Gateway, status: int, method: str) -> None:
    with httpx.Client(base_url=stand.base_url, auth=gateway.auth, follow_redirects=True) as http:
        answer = http.post(f"/moved/{status}", content="text").json()
    assert answer == {"method": method, "body": "text" if method == "POST" else ""}


def test_another_origin_never_sees_the_token(stand: Stand, gateway: Gateway) -> None:
    foreign = f"http://localhost:{stand.port}/foreign"
    with httpx.Client(auth=gateway.auth, follow_redirects=True) as http:
        with pytest.raises(ForeignOrigin):
            http.get(foreign)
        http.get(f"{stand.base_url}/moved/307", params={"to": foreign})
    (headers,) = stand.foreign
    assert "Authorization" not in headers


def test_the_default_port_and_a_missing_one_are_one_origin(tokens: CachedTokens) -> None:
    signer = RequestSigner("https://gateway.example", tokens)
    assert signer.serves("https://gateway.example:443/v1/wallet")
    assert not signer.serves("http://gateway.example/v1/wallet")
    assert not signer.serves("https://gateway.example.evil.example/v1/wallet")
