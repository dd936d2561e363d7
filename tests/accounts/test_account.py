"""GET /v1/account."""

from datetime import UTC, datetime
from urllib.parse import urlsplit

import jwt as pyjwt
import pytest
from django.test import Client, override_settings

from tests.factories.accounts import Caller, make_account, make_caller
from tests.factories.organizations import Team
from tests.factories.proofs import Signer, mint_token

pytestmark = pytest.mark.django_db

PATH = "/v1/account"


def test_returns_the_tokens_account(client: Client) -> None:
    caller = make_caller("wallet:read", "usage:read", product="studio")
    caller.account.display_name = "Alice"
    caller.account.created_at = datetime(2026, 11, 21, 9, 30, tzinfo=UTC)
    caller.account.save()
    response = client.get(PATH, headers=caller.headers("GET", PATH))
    expires_at = datetime.fromtimestamp(pyjwt.decode(caller.token, options={"verify_signature": False})["exp"], UTC)
    assert response.status_code == 200
    assert response.json() == {
        "did": "did:web:studio.example:alice",
        "displayName": "Alice",
        "createdAt": "2026-11-21T09:30:00Z",
        "clientId": "https://studio.example",
        "product": "studio",
        "scopes": ["usage:read", "wallet:read"],
        "organization": None,
        "tokenExpiresAt": f"{expires_at:%Y-%m-%dT%H:%M:%SZ}",
    }
    assert response["Cache-Control"] == "no-store"


def test_needs_no_capability_and_no_name(client: Client) -> None:
    caller = make_caller()
    body = client.get(PATH, headers=caller.headers("GET", PATH)).json()
    assert (body["displayName"], body["product"], body["scopes"]) == (None, None, [])


def test_an_organizations_token_names_it(client: Client) -> None:
    team = Team("olivia")
    membership_id = team["olivia"].id
    signer = Signer()
    caller = Caller(
        team.owner, (), signer, mint_token(team.owner.did, [], signer, org_id=team.id, membership_id=membership_id)
    )
    body = client.get(PATH, headers=caller.headers("GET", PATH)).json()
    assert body["organization"] == {"orgId": team.id, "membershipId": membership_id, "role": "owner"}


def test_nothing_in_the_request_selects_another_account(client: Client) -> None:
    make_account("bob")
    caller = make_caller()
    path = PATH + "?did=did:web:studio.example:bob"
    headers = {**caller.headers("GET", PATH), "X-Account": "did:web:studio.example:bob"}
    assert client.get(path, headers=headers).json()["did"] == "did:web:studio.example:alice"


def test_without_a_token_it_asks_for_one(client: Client) -> None:
    response = client.get(PATH)
    assert response.status_code == 401
    assert response.json()["error"] == {
        "code": "invalid_dpop_proof",
        "message": "Send a DPoP proof.",
        "type": "authentication_error",
        "param": None,
        "details": {},
        "request_id": response["X-Request-Id"],
        "docs_url": "https://gateway.example/docs/errors#invalid_dpop_proof",
    }
    assert response["WWW-Authenticate"] == (
        'DPoP error="invalid_dpop_proof", error_description="Send a DPoP proof.", '
        'resource_metadata="https://gateway.example/.well-known/oauth-protected-resource", algs="ES256 EdDSA"'
    )


@pytest.mark.parametrize("base_url", ["https://gateway.example", "https://api.example/gateway"])
def test_the_challenge_leads_to_the_metadata_of_this_resource(client: Client, base_url: str) -> None:
    with override_settings(GATEWAY_BASE_URL=base_url):
        challenge = client.get(PATH)["WWW-Authenticate"]
        url = challenge.partition('resource_metadata="')[2].partition('"')[0]
        assert url.startswith(f"https://{urlsplit(base_url).hostname}/.well-known/")
        assert client.get(urlsplit(url).path).json()["resource"] == base_url
