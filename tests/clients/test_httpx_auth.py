"""The httpx auth signs each request that goes out."""

import httpx
import pytest

from account_gateway_client import CachedTokens, ForeignOrigin, Gateway, RequestSigner
from tests.clients.stand import Stand


def test_a_nonce_is_learned_and_remembered(stand: Stand, gateway: Gateway) -> None:
    with httpx.Client(base_url=stand.base_url, auth=gateway.httpx_auth, timeout=60) as http:
        for nonce in ("nonce-1", "nonce-2"):
            stand.orders.nonce = nonce
            assert http.get("/v1/wallet").json()["balanceMicrousd"] == 7


async def test_a_nonce_is_learned_on_an_event_loop(stand: Stand, gateway: Gateway) -> None:
    stand.orders.nonce = "nonce-1"
    async with httpx.AsyncClient(base_url=stand.base_url, auth=gateway.httpx_auth, timeout=60) as http:
        assert (await http.get("/v1/wallet")).json()["balanceMicrousd"] == 7


@pytest.mark.parametrize(("status", "method"), [(307, "POST"), (308, "POST"), (303, "GET"), (302, "GET")])
def test_a_redirect_is_proved_afresh(stand: Stand, gateway: Gateway, status: int, method: str) -> None:
    with httpx.Client(base_url=stand.base_url, auth=gateway.httpx_auth, follow_redirects=True, timeout=60) as http:
        answer = http.post(f"/moved/{status}", content="text").json()
    assert answer == {"method": method, "body": "text" if method == "POST" else ""}


def test_another_origin_never_sees_the_token(stand: Stand, gateway: Gateway) -> None:
    foreign = f"http://localhost:{stand.port}/foreign"
    with httpx.Client(auth=gateway.httpx_auth, follow_redirects=True, timeout=60) as http:
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
