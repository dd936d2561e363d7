"""The public documents."""

import pytest
from django.test import Client, override_settings
from django.utils import timezone
from jwt import PyJWKSet

from accounts.operations import signing_keys
from accounts.operations.keyring import keyring
from tests.contract.routes import mapped_routes

pytestmark = pytest.mark.django_db


def test_the_keys_are_public_and_cacheable(client: Client) -> None:
    response = client.get("/.well-known/jwks.json")
    keys = response.json()["keys"]
    assert response["Cache-Control"] == "public, max-age=300"
    assert response["Content-Type"] == "application/json"
    assert len(keys) == 2
    assert {frozenset(key) for key in keys} == {frozenset({"kty", "crv", "x", "y", "kid", "alg", "use"})}
    assert {(key["kty"], key["alg"], key["use"]) for key in keys} == {("EC", "ES256", "sig")}
    assert len(PyJWKSet.from_dict(response.json()).keys) == 2


def test_the_next_key_is_published_before_its_first_use(client: Client) -> None:
    before = {key["kid"] for key in client.get("/.well-known/jwks.json").json()["keys"]}
    active = signing_keys.rotate(now=timezone.now())
    keyring.forget()
    after = {key["kid"] for key in client.get("/.well-known/jwks.json").json()["keys"]}
    assert active.kid in before
    assert before < after
    assert len(after) == 3


def test_a_retired_key_is_gone(client: Client) -> None:
    key = signing_keys.ensure_active_key(now=timezone.now())
    signing_keys.retire(key.kid, now=timezone.now())
    keyring.forget()
    assert key.kid not in {key["kid"] for key in client.get("/.well-known/jwks.json").json()["keys"]}


def test_the_authorization_server_metadata_lists_what_is_served(client: Client) -> None:
    response = client.get("/.well-known/oauth-authorization-server")
    body = response.json()
    assert response["Cache-Control"] == "public, max-age=300"
    assert body["issuer"] == "https://gateway.example"
    assert body["token_endpoint"] == "https://gateway.example/v1/oauth/token"
    assert body["jwks_uri"] == "https://gateway.example/.well-known/jwks.json"
    assert body["dpop_signing_alg_values_supported"] == ["ES256", "EdDSA"]
    assert body["authorization_response_iss_parameter_supported"] is True
    assert "urn:ietf:params:oauth:grant-type:jwt-bearer" in body["grant_types_supported"]
    assert "wallet:read" in body["scopes_supported"]


def test_it_names_only_scopes_that_some_route_needs(client: Client) -> None:
    needed = {str(route.access.capability) for route in mapped_routes() if route.access.capability}
    for document in ("oauth-authorization-server", "oauth-protected-resource"):
        supported = client.get(f"/.well-known/{document}").json()["scopes_supported"]
        assert {scope for scope in supported if not scope.startswith("infer:")} == needed


def test_the_resource_names_its_authorization_server(client: Client) -> None:
    body = client.get("/.well-known/oauth-protected-resource").json()
    assert body["resource"] == "https://gateway.example"
    assert body["authorization_servers"] == ["https://gateway.example"]
    assert body["dpop_bound_access_tokens_required"] is True
    assert body["dpop_signing_alg_values_supported"] == ["ES256", "EdDSA"]


@pytest.mark.parametrize("document", ["oauth-authorization-server", "oauth-protected-resource"])
def test_the_base_urls_path_may_stand_behind_the_well_known_one(client: Client, document: str) -> None:
    path = f"/.well-known/{document}"
    assert client.get(path + "/gateway").status_code == 404
    with override_settings(GATEWAY_BASE_URL="https://api.example/gateway"):
        inserted = client.get(path + "/gateway")
        assert inserted.status_code == 200
        assert inserted.json() == client.get(path).json()
        assert "https://api.example/gateway" in inserted.json().values()
        assert client.get(path + "/other").status_code == 404
        assert client.get(path + "/gateway/").status_code == 404


def test_the_documents_need_no_token_and_take_no_other_method(client: Client) -> None:
    for document in ("jwks.json", "oauth-authorization-server", "oauth-protected-resource"):
        assert client.post(f"/.well-known/{document}").status_code == 405


def test_browsers_learn_where_to_sign_in_and_how(client: Client) -> None:
    body = client.get("/.well-known/oauth-authorization-server").json()
    assert body["authorization_endpoint"] == "https://gateway.example/authorize"
    assert body["response_types_supported"] == ["code"]
    assert body["code_challenge_methods_supported"] == ["S256"]
    assert {"authorization_code", "refresh_token"} <= set(body["grant_types_supported"])
