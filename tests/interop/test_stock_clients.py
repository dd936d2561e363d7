"""Stock OAuth clients against the gateway's metadata and standard token endpoint, with nonces asked for."""

import hashlib

import pytest

from tests.interop.node_script import run_script
from tests.support.demo_gateway import DemoGateway

pytestmark = pytest.mark.usefixtures("npm_packages")


def test_oauth4webapi(demo: DemoGateway, assertion: str) -> None:
    found = run_script("oauth4webapi.js", demo.base_url, assertion)
    assert found["as"]["token_endpoint"] == f"{demo.base_url}/v1/oauth/token"
    tokens, refreshed = found["tokens"], found["refreshed"]
    assert (tokens["token_type"], tokens["expires_in"]) == ("dpop", 300)
    assert tokens["scope"] == "usage:read wallet:read"
    assert tokens["device_session"]["name"] == "Stock client"
    assert refreshed["refresh_token"] != tokens["refresh_token"]
    assert refreshed["device_session"]["id"] == tokens["device_session"]["id"]
    assert (found["byAssertion"]["scope"], "refresh_token" in found["byAssertion"]) == ("wallet:read", False)
    assert [wallet["status"] for wallet in found["wallets"]] == [200, 200, 200]
    assert found["nonceErrors"] == ["use_dpop_nonce"], "asked once, then the client keeps the nonce"


def test_openid_client(demo: DemoGateway, assertion: str) -> None:
    found = run_script("openid_client.js", demo.base_url, assertion)
    account, wallet, paid = found["account"], found["wallet"], found["paid"]
    assert account["status"] == 200
    assert account["body"]["clientId"] == "http://localhost:45679"
    assert account["body"]["scopes"] == ["infer:fast", "wallet:read"]
    assert found["refreshed"]["scope"] == "wallet:read"
    assert (wallet["status"], wallet["body"]["availableMicrousd"]) == (200, 0)
    assert paid["status"] == 200
    assert paid["body"]["model"] == "fast"
    assert found["twice"] == {"error": "invalid_grant", "status": 400}


@pytest.mark.parametrize("algorithm", ["ES256", "Ed25519"])
def test_dpop(demo: DemoGateway, assertion: str, algorithm: str) -> None:
    found = run_script("dpop.js", demo.base_url, algorithm, assertion)
    assert (found["minted"]["status"], found["minted"]["attempt"]) == (200, 2)
    assert (found["account"]["status"], found["account"]["attempt"]) == (200, 1)
    assert found["wallet"]["told"]["currency"] == "USD"
    assert found["refusals"] == ["invalid_dpop_proof", "invalid_dpop_proof"]


def test_jose_verifies_a_signed_receipt(demo: DemoGateway, assertion: str) -> None:
    found = run_script("signed_receipts.js", demo.base_url, assertion)
    claims, paid = found["payload"], found["paid"]
    assert found["ours"] == claims
    assert found["protectedHeader"]["typ"] == "receipt+jwt"
    assert (claims["jti"], claims["charge_microusd"]) == (paid["usageId"], paid["chargeMicrousd"])
    assert claims["request_sha256"] == hashlib.sha256(found["sent"].encode()).hexdigest()
    assert claims["components"] == found["record"]["components"] != []
    assert found["refusals"] == [
        "JWSSignatureVerificationFailed",
        "InvalidReceipt",
        "JOSEAlgNotAllowed",
        "InvalidReceipt",
    ]
