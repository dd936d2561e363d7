"""The public clients' token routes over HTTP: bodies, proofs, refusals, CORS."""

from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import pytest
from django.http import HttpResponse
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from accounts.models import AuthorizationCode, AuthorizationRequest, DeviceSession, PublicClient
from accounts.operations import codes
from accounts.operations.keyring import keyring
from accounts.rules import pkce
from gateway.core.json.strict import dumps
from inference.models import Alias
from tests.factories.accounts import make_account
from tests.factories.proofs import Signer, access_token_hash

pytestmark = pytest.mark.django_db

APP = "https://app.example"
CALLBACK = f"{APP}/callback"
VERIFIER = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
SCOPES = ["wallet:read", "usage:read"]


class Browser:
    """A browser app with a key of its own."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.signer = Signer()

    def code(self, name: str = "alice") -> str:
        request = AuthorizationRequest(
            client_id=APP, redirect_uri=CALLBACK, code_challenge=pkce.challenge_of(VERIFIER), dpop_jkt=None
        )
        code = codes.issue(request, account=make_account(name), scopes=SCOPES, consents=[], now=timezone.now())
        assert code
        return code

    def post(self, path: str, body: dict[str, Any], **headers: str) -> Any:
        return self.client.post(path, dumps(body), content_type="application/json", headers=headers)

    def redeem(self, **changes: Any) -> Any:
        standard = {
            "code_verifier": VERIFIER,
            "client_id": APP,
            "redirect_uri": CALLBACK,
            "dpop_jwk": self.signer.jwk,
            "device_session": True,
            "device_name": "Laptop",
        }
        body = {**standard, **changes}
        if "code" not in body:
            body["code"] = self.code()
        return self.post("/v1/public/token", {name: value for name, value in body.items() if value is not None})

    def refresh(self, refresh_token: str, *, signer: Signer | None = None, **claims: Any) -> Any:
        path = "/v1/public/device/token"
        proof = (signer or self.signer).proof("POST", path, **claims)
        return self.post(path, {"grant_type": "refresh_token", "refresh_token": refresh_token}, DPoP=proof)

    def form(self, body: dict[str, str], signer: Signer | None = None) -> Any:
        path = "/v1/oauth/token"
        proof = (signer or self.signer).proof("POST", path)
        form = "application/x-www-form-urlencoded"
        return self.client.post(path, urlencode(body), content_type=form, headers={"DPoP": proof})


@pytest.fixture
def browser(client: Client) -> Browser:
    keyring.forget()
    return Browser(client)


def refusal(response: HttpResponse) -> tuple[int, str]:
    return response.status_code, response.json()["error"]  # type: ignore[attr-defined]


def test_a_code_becomes_a_token_and_a_device_session(browser: Browser) -> None:
    response = browser.redeem()
    assert response.status_code == 200
    assert response["Cache-Control"] == "no-store"
    body = response.json()
    session = DeviceSession.objects.get()
    assert (body["token_type"], body["expires_in"], body["scope"]) == ("DPoP", 300, "usage:read wallet:read")
    expires_at = int(session.expires_at.timestamp())
    assert body["device_session"] == {"id": session.pk, "name": "Laptop", "expires_at": expires_at}
    assert expires_at - session.created_at.timestamp() == pytest.approx(30 * 86400, abs=1)
    path = "/v1/account"
    account = browser.client.get(path, headers=browser.signer.headers("GET", path, body["access_token"]))
    assert account.json()["clientId"] == APP


def test_without_a_device_there_is_no_refresh_token(browser: Browser) -> None:
    body = browser.redeem(device_session=None, device_name=None).json()
    assert set(body) == {"access_token", "token_type", "expires_in", "scope"}


@pytest.mark.parametrize(
    ("changes", "param"),
    [
        ({"code_verifier": None}, "code_verifier"),
        ({"code_verifier": "short"}, "code_verifier"),
        ({"code_verifier": "a" * 129}, "code_verifier"),
        ({"code": None}, "code"),
        ({"code": 7}, "code"),
        ({"device_name": "Laptop\u202e"}, "device_name"),
        ({"device_name": "Lap\x07top"}, "device_name"),
        ({"dpop_jwk": None}, "dpop_jwk"),
        ({"dpop_jwk": "key"}, "dpop_jwk"),
        ({"dpop_jwk": {"kty": "RSA"}}, "dpop_jwk"),
        ({"device_session": "true"}, "device_session"),
        ({"device_name": ""}, "device_name"),
        ({"device_name": "x" * 121}, "device_name"),
        ({"redirect_uri": None}, "redirect_uri"),
    ],
)
def test_a_malformed_member_is_named_and_burns_nothing(browser: Browser, changes: dict[str, Any], param: str) -> None:
    code = browser.code("bob")
    response = browser.redeem(**{"code": code} | changes)
    assert (*refusal(response), response.json()["param"]) == (400, "invalid_request", param)
    assert browser.redeem(code=code).status_code == 200


def test_a_private_key_is_refused(browser: Browser) -> None:
    response = browser.redeem(dpop_jwk={**browser.signer.jwk, "d": "A" * 43})
    assert (*refusal(response), response.json()["param"]) == (400, "invalid_request", "dpop_jwk")


def test_a_used_code_ends_the_token_that_it_gave(browser: Browser) -> None:
    code = browser.code("bob")
    token = browser.redeem(code=code).json()["access_token"]
    assert refusal(browser.redeem(code=code)) == (400, "invalid_grant")
    path = "/v1/account"
    response = browser.client.get(path, headers=browser.signer.headers("GET", path, token))
    assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_token")


def test_a_proof_of_another_key_than_the_bodys_is_refused(browser: Browser) -> None:
    body = {
        "code": browser.code(),
        "code_verifier": VERIFIER,
        "client_id": APP,
        "redirect_uri": CALLBACK,
        "dpop_jwk": browser.signer.jwk,
    }
    proof = Signer().proof("POST", "/v1/public/token")
    assert refusal(browser.post("/v1/public/token", body, DPoP=proof)) == (400, "invalid_dpop_proof")


def test_refreshing_rotates(browser: Browser) -> None:
    first = browser.redeem().json()["refresh_token"]
    second = browser.refresh(first)
    assert second.status_code == 200
    assert second.json()["refresh_token"] != first
    assert second.json()["device_session"]["name"] == "Laptop"


def test_a_refresh_proof_may_carry_the_credentials_hash_and_no_other(browser: Browser) -> None:
    grant = browser.redeem().json()
    first = grant["refresh_token"]
    stranger = browser.refresh(first, ath=access_token_hash(grant["access_token"]))
    assert refusal(stranger) == (400, "invalid_dpop_proof")
    assert browser.refresh(first, ath=access_token_hash(first)).status_code == 200


def test_a_refresh_proof_opens_no_protected_route(browser: Browser) -> None:
    grant = browser.redeem().json()
    proof = browser.signer.proof("GET", "/v1/account")
    headers = {"Authorization": f"DPoP {grant['access_token']}", "DPoP": proof}
    response = browser.client.get("/v1/account", headers=headers)
    assert (response.status_code, response.json()["error"]["code"]) == (401, "invalid_dpop_proof")


def test_a_thief_without_the_key_gets_and_harms_nothing(browser: Browser) -> None:
    first = browser.redeem().json()["refresh_token"]
    assert refusal(browser.refresh(first, signer=Signer())) == (400, "invalid_grant")
    without = browser.post("/v1/public/device/token", {"grant_type": "refresh_token", "refresh_token": first})
    assert refusal(without) == (400, "invalid_dpop_proof")
    assert browser.refresh(first).status_code == 200


def test_a_replayed_proof_rotates_nothing(browser: Browser) -> None:
    first = browser.redeem().json()["refresh_token"]
    path = "/v1/public/device/token"
    proof = browser.signer.proof("POST", path)
    body = {"grant_type": "refresh_token", "refresh_token": first}
    assert browser.post(path, body, DPoP=proof).status_code == 200
    assert refusal(browser.post(path, body, DPoP=proof)) == (400, "invalid_dpop_proof")


def test_revoking_answers_204_whether_or_not_it_was_live(browser: Browser) -> None:
    grant = browser.redeem().json()
    path = "/v1/public/device/revoke"
    for token in (grant["refresh_token"], grant["refresh_token"], "nonsense"):
        proof = browser.signer.proof("POST", path)
        response = browser.post(path, {"refresh_token": token}, DPoP=proof)
        assert (response.status_code, response.content) == (204, b"")
    assert refusal(browser.refresh(grant["refresh_token"])) == (400, "invalid_grant")
    headers = browser.signer.headers("GET", "/v1/account", grant["access_token"])
    assert browser.client.get("/v1/account", headers=headers).status_code == 401


def test_an_expired_session_ends_its_tokens(browser: Browser) -> None:
    grant = browser.redeem().json()
    DeviceSession.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    assert refusal(browser.refresh(grant["refresh_token"])) == (400, "invalid_grant")


def test_stock_clients_redeem_and_refresh_at_the_standard_endpoint(browser: Browser) -> None:
    code = {"code": browser.code(), "code_verifier": VERIFIER, "client_id": APP, "redirect_uri": CALLBACK}
    grant = browser.form({"grant_type": "authorization_code", "device_session": "true", **code})
    assert grant.status_code == 200
    refresh = {"grant_type": "refresh_token", "refresh_token": grant.json()["refresh_token"], "client_id": APP}
    again = browser.form({**refresh, "scope": "wallet:read"})
    assert (again.status_code, again.json()["scope"]) == (200, "wallet:read")
    wide = browser.form({**refresh, "refresh_token": again.json()["refresh_token"], "scope": "orgs:manage"})
    assert refusal(wide) == (400, "invalid_scope")


ODD_CREDENTIALS = {
    "one character": "x",
    "beyond the usual length": "drt_" + "a" * 20_000,
    "another alphabet": "пароль 🔑",
    "control characters": "drt_\x00\x1f\u202e",
    "spaces around": " drt_dev ",
}


@pytest.mark.parametrize("credential", ODD_CREDENTIALS.values(), ids=ODD_CREDENTIALS.keys())
def test_a_refresh_token_of_any_length_and_alphabet_is_an_invalid_grant(browser: Browser, credential: str) -> None:
    assert refusal(browser.refresh(credential)) == (400, "invalid_grant")
    form = {"grant_type": "refresh_token", "refresh_token": credential}
    assert refusal(browser.form(form)) == (400, "invalid_grant")
    path = "/v1/public/device/revoke"
    proof = browser.signer.proof("POST", path)
    assert browser.post(path, {"refresh_token": credential}, DPoP=proof).status_code == 204


def test_an_empty_refresh_token_is_an_invalid_grant_unless_it_counts_as_omitted(browser: Browser) -> None:
    assert refusal(browser.refresh("")) == (400, "invalid_grant")


def test_a_disabled_client_redeems_and_refreshes_nothing(browser: Browser) -> None:
    refresh_token = browser.redeem().json()["refresh_token"]
    AuthorizationCode.objects.all().delete()
    code = browser.code("bob")
    ours = PublicClient.objects.create(client_id=APP, name="Ours", enabled=False)
    form = {"grant_type": "refresh_token", "refresh_token": refresh_token}
    for response in (browser.redeem(code=code), browser.refresh(refresh_token), browser.form(form)):
        assert refusal(response) == (401, "invalid_client")
    ours.enabled = True
    ours.save()
    assert browser.refresh(refresh_token).status_code == 200
    assert browser.redeem(code=code).status_code == 200


def test_a_refresh_leaves_out_scopes_of_aliases_that_are_disabled(browser: Browser) -> None:
    fast = Alias.objects.create(name="fast", enabled=True)
    refresh_token = browser.redeem().json()["refresh_token"]
    DeviceSession.objects.update(scopes=["infer:fast", "wallet:read"])
    body = browser.refresh(refresh_token).json()
    assert body["scope"] == "infer:fast wallet:read"
    fast.enabled = False
    fast.save()
    body = browser.refresh(body["refresh_token"]).json()
    assert body["scope"] == "wallet:read"
    form = {"grant_type": "refresh_token", "refresh_token": body["refresh_token"], "scope": "infer:fast"}
    assert refusal(browser.form(form)) == (400, "invalid_scope")
    assert browser.refresh(body["refresh_token"]).status_code == 200  # the refusal consumed nothing


def test_cors_is_only_for_configured_origins(browser: Browser, settings: Settings) -> None:
    settings.CORS_ALLOWED_ORIGINS = [APP]
    preflight = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "dpop,content-type"}
    allowed = browser.client.options("/v1/public/token", headers={"Origin": APP, **preflight})
    assert (allowed.status_code, allowed["Access-Control-Allow-Origin"]) == (200, APP)
    assert "dpop" in allowed["Access-Control-Allow-Headers"]
    stranger = browser.client.options("/v1/public/token", headers={"Origin": "https://evil.example", **preflight})
    assert "Access-Control-Allow-Origin" not in stranger
    answer = browser.client.get("/v1/account", headers={"Origin": APP})
    assert "WWW-Authenticate" in answer["Access-Control-Expose-Headers"]


@pytest.mark.parametrize(
    ("grant_type", "error"),
    [("authorization_code", "unsupported_grant_type"), (None, "invalid_request"), (["x"], "unsupported_grant_type")],
)
def test_another_grant_is_refused_by_its_name(browser: Browser, grant_type: Any, error: str) -> None:
    path = "/v1/public/device/token"
    proof = browser.signer.proof("POST", path)
    response = browser.post(path, {"grant_type": grant_type, "refresh_token": "x"}, DPoP=proof)
    assert (*refusal(response), response.json()["param"]) == (400, error, "grant_type")
