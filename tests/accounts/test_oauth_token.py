"""POST /v1/oauth/token."""

import json
import time
from typing import Any
from urllib.parse import urlencode

import pytest
from django.test import Client, override_settings

from accounts.models import Account, ConsumedAssertion, ProofReplay
from tests.factories.accounts import make_integration
from tests.factories.proofs import ProductServer, Signer

PATH = "/v1/oauth/token"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"
FORM = "application/x-www-form-urlencoded"


@pytest.fixture
def server(db: None) -> ProductServer:
    server = ProductServer()
    make_integration(server)
    return server


@pytest.fixture(params=["ES256", "EdDSA"])
def signer(request: pytest.FixtureRequest) -> Signer:
    return Signer(request.param)


def send(client: Client, parameters: Any, proof: str | None) -> Any:
    body = parameters if isinstance(parameters, bytes | str) else urlencode(parameters)
    return client.post(PATH, body, content_type=FORM, headers={"DPoP": proof} if proof else {})


def grant(server: ProductServer, **parameters: str) -> dict[str, str]:
    return {"grant_type": JWT_BEARER, "assertion": server.assertion(), **parameters}


def refused(response: Any, code: str, *, param: str | None = None, status: int = 400) -> None:
    body = json.loads(response.content)
    assert (response.status_code, body["error"], body.get("param")) == (status, code, param), body
    assert "WWW-Authenticate" not in response
    assert not ConsumedAssertion.objects.exists()
    assert not Account.objects.exists()


def test_a_stock_client_redeems_an_assertion(client: Client, server: ProductServer, signer: Signer) -> None:
    response = send(client, grant(server, scope="wallet:read", client_id="ignored"), signer.proof("POST", PATH))
    body = response.json()
    token = body.pop("access_token")
    assert body == {"token_type": "DPoP", "expires_in": 300, "scope": "wallet:read"}
    assert (response["Cache-Control"], response["Pragma"]) == ("no-store", "no-cache")
    account = client.get("/v1/account", headers=signer.headers("GET", "/v1/account", token))
    assert account.json()["scopes"] == ["wallet:read"]


def test_both_routes_share_the_single_use(client: Client, server: ProductServer, signer: Signer) -> None:
    parameters = grant(server)
    assert send(client, parameters, signer.proof("POST", PATH)).status_code == 200
    body = json.dumps({"assertion": parameters["assertion"], "dpop_jwk": signer.jwk})
    response = client.post("/v1/auth/token/exchange", body, content_type="application/json")
    assert response.json()["error"] == "invalid_grant"


def test_a_proof_is_required_and_serves_once(client: Client, server: ProductServer, signer: Signer) -> None:
    refused(send(client, grant(server), None), "invalid_dpop_proof")
    proof = signer.proof("POST", PATH)
    refused(send(client, grant(server, assertion="x"), proof), "invalid_grant")
    assert ProofReplay.objects.count() == 1
    refused(send(client, grant(server), proof), "invalid_dpop_proof")


def test_a_proof_must_be_for_this_request(client: Client, server: ProductServer, signer: Signer) -> None:
    for proof in (
        signer.proof("GET", PATH),
        signer.proof("POST", "/v1/auth/token/exchange"),
        signer.proof("POST", PATH, "token"),
        signer.proof("POST", PATH, iat=int(time.time()) - 61),
    ):
        refused(send(client, grant(server), proof), "invalid_dpop_proof")


@pytest.mark.parametrize("grant_type", ["client_credentials", "password", "implicit", "x", JWT_BEARER.upper()])
def test_other_grants_are_refused(client: Client, server: ProductServer, grant_type: str) -> None:
    signer = Signer()
    response = send(client, grant(server, grant_type=grant_type), signer.proof("POST", PATH))
    refused(response, "unsupported_grant_type", param="grant_type")


def test_missing_parameters_are_named(client: Client, server: ProductServer) -> None:
    signer = Signer()
    for missing in ("grant_type", "assertion"):
        for parameters in (grant(server), grant(server, **{missing: ""})):
            if parameters[missing]:
                del parameters[missing]
            refused(send(client, parameters, signer.proof("POST", PATH)), "invalid_request", param=missing)


def test_a_parameter_without_a_value_counts_as_left_out(client: Client, server: ProductServer) -> None:
    signer = Signer()
    response = send(client, grant(server, scope=""), signer.proof("POST", PATH))
    assert response.json()["scope"] == "usage:read wallet:read"


def test_a_parameter_may_stand_only_once(client: Client, server: ProductServer) -> None:
    for name in ("grant_type", "assertion", "scope", "unknown"):
        parameters = [*grant(server).items(), (name, "a"), (name, "a")]
        refused(send(client, parameters, Signer().proof("POST", PATH)), "invalid_request", param=name)


@pytest.mark.parametrize("body", [b"\xff=1", b"a=%ff", "é=1".encode(), b"&".join(b"a%d=1" % i for i in range(70))])
def test_bodies_that_are_no_form(client: Client, server: ProductServer, body: bytes) -> None:
    refused(send(client, body, Signer().proof("POST", PATH)), "invalid_request")


def test_other_content_types_and_sizes(client: Client, server: ProductServer) -> None:
    proof = Signer().proof("POST", PATH)
    response = client.post(PATH, json.dumps(grant(server)), content_type="application/json", headers={"DPoP": proof})
    refused(response, "unsupported_media_type", status=415)
    refused(send(client, grant(server, pad="x" * 70_000), proof), "request_too_large", status=413)


def test_a_body_with_a_content_coding(client: Client, server: ProductServer) -> None:
    headers = {"DPoP": Signer().proof("POST", PATH), "Content-Encoding": "gzip"}
    response = client.post(PATH, urlencode(grant(server)), content_type=FORM, headers=headers)
    refused(response, "unsupported_media_type", param="Content-Encoding", status=415)
    assert response["Accept-Encoding"] == "identity"


def test_a_scope_beyond_the_assertion(client: Client, server: ProductServer) -> None:
    response = send(client, grant(server, scope="orgs:manage"), Signer().proof("POST", PATH))
    refused(response, "invalid_scope", param="scope")


def test_a_nonce_is_required_with_status_400(client: Client, server: ProductServer) -> None:
    signer = Signer()
    with override_settings(DPOP_NONCES=True):
        response = send(client, grant(server), signer.proof("POST", PATH))
        refused(response, "use_dpop_nonce")
        proof = signer.proof("POST", PATH, nonce=response["DPoP-Nonce"])
        assert send(client, grant(server), proof).status_code == 200
