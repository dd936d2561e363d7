"""Authentication of protected requests by proof and token."""

import json
import re
import time
from datetime import timedelta
from typing import Any

import jwt as pyjwt
import pytest
from django.test import Client, override_settings
from django.utils import timezone
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from accounts.authentication import Verified, verify_proof, verify_sync
from accounts.models import ProofReplay, SigningKey
from accounts.operations import presented_tokens, signing_keys
from accounts.operations.keyring import keyring
from accounts.rules import jwt
from accounts.rules.principal import Principal
from gateway.core.contract.errors import ApiError, InvalidDpopProof, InvalidToken
from tests.factories.accounts import Caller, make_caller
from tests.factories.proofs import BASE_URL, Signer, b64, mint_token
from tests.support.session_keys import no_signing_keys  # noqa: F401

pytestmark = pytest.mark.django_db

PATH = "/v1/account"
URL = BASE_URL + PATH
DID = "did:web:studio.example:alice"


@pytest.fixture(params=["ES256", "EdDSA"])
def signer(request: pytest.FixtureRequest) -> Signer:
    return Signer(request.param)


def attempt(token: str, proof: str | None, *, scheme: str = "DPoP", now: float | None = None) -> Verified:
    headers = {"authorization": f"{scheme} {token}"}
    if proof is not None:
        headers["dpop"] = proof
    return verify_sync("GET", PATH, headers, time.time() if now is None else now)


def refused(kind: type[ApiError], headers: dict[Any, Any], *, path: str = PATH, now: float | None = None) -> ApiError:
    with pytest.raises(kind) as raised:
        verify_sync("GET", path, headers, time.time() if now is None else now)
    error = raised.value
    assert error.status == 401
    assert error.headers["WWW-Authenticate"].startswith(f'DPoP error="{error.code}", error_description="')
    assert error.headers["WWW-Authenticate"].endswith('", algs="ES256 EdDSA"')
    return error


def test_a_good_request_names_its_caller(signer: Signer) -> None:
    token = mint_token(DID, ["wallet:read"], signer, product="studio", consents=["realtime"])
    verified = attempt(token, signer.proof("GET", URL, token, jti="once"))
    claims = pyjwt.decode(token, options={"verify_signature": False})
    assert verified.principal == Principal(
        did=DID,
        client_id="https://studio.example",
        scopes=frozenset({"wallet:read"}),
        jkt=signer.jkt,
        token_id=claims["jti"],
        product="studio",
        org_id=None,
        membership_id=None,
        session_id=None,
        issued_at=claims["iat"],
        expires_at=claims["iat"] + 300,
        consents=frozenset({"realtime"}),
    )
    assert verified.principal.owner == ("account", DID)
    assert verified.ticket.issued_at + 75 == verified.ticket.expires_at


def test_an_organizations_token_speaks_for_the_organization(signer: Signer) -> None:
    token = mint_token(DID, [], signer, org_id="org_1", membership_id="mem_1", session_id="dev_1")
    principal = attempt(token, signer.proof("GET", URL, token)).principal
    assert principal.owner == ("organization", "org_1")
    assert (principal.did, principal.membership_id, principal.session_id) == (DID, "mem_1", "dev_1")


def test_headers_may_be_bytes_and_the_scheme_in_any_case(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    headers = {b"authorization": f"dpop  {token}".encode(), b"dpop": signer.proof("GET", URL, token).encode()}
    assert verify_sync("GET", PATH, headers, time.time()).principal.did == DID


def test_no_headers_at_all() -> None:
    assert refused(InvalidDpopProof, {}).message == "Send a DPoP proof."


def test_no_token(signer: Signer) -> None:
    refused(InvalidToken, {"dpop": signer.proof("GET", URL, "x")})


def test_no_proof(signer: Signer) -> None:
    refused(InvalidDpopProof, {"authorization": "DPoP " + mint_token(DID, [], signer)})


def test_bearer_with_a_bound_token(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    for scheme in ("Bearer", "bearer", "BEARER", "Basic", "Token"):
        refused(InvalidToken, {"authorization": f"{scheme} {token}"})
        refused(InvalidToken, {"authorization": f"{scheme} {token}", "dpop": signer.proof("GET", URL, token)})


def test_credentials_that_are_none(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    proof = signer.proof("GET", URL, token)
    for credentials in ("", "DPoP", "DPoP ", "DPoP a b", f"DPoP {token},DPoP {token}", f"DPoP {token}, x", "DPoP é"):
        refused(InvalidToken, {"authorization": credentials, "dpop": proof})


def test_two_proofs_in_one_header(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    proof = signer.proof("GET", URL, token)
    refused(InvalidDpopProof, {"authorization": f"DPoP {token}", "dpop": f"{proof},{proof}"})


def test_a_good_proof_by_another_key(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    thief = Signer()
    error = refused(InvalidToken, {"authorization": f"DPoP {token}", "dpop": thief.proof("GET", URL, token)})
    assert error.message == "The access token is bound to another key."


def test_a_proof_for_another_token(signer: Signer) -> None:
    token, other = mint_token(DID, [], signer), mint_token(DID, [], signer)
    for ath in (other, None):
        refused(InvalidDpopProof, {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, ath)})


@pytest.mark.parametrize("ath", ["", "x", 1, ["x"], {"x": 1}, True])
def test_an_ath_that_is_no_hash(ath: object) -> None:
    signer = Signer()
    token = mint_token(DID, [], signer)
    refused(InvalidDpopProof, {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, ath=ath)})


def test_the_proof_is_checked_before_the_token(signer: Signer) -> None:
    refused(InvalidDpopProof, {"authorization": "DPoP nonsense", "dpop": signer.proof("POST", URL, "nonsense")})
    refused(InvalidToken, {"authorization": "DPoP nonsense", "dpop": signer.proof("GET", URL, ath="wrong")})


def test_a_token_ends_with_its_last_second(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    end = pyjwt.decode(token, options={"verify_signature": False})["exp"]
    attempt(token, signer.proof("GET", URL, token, iat=end - 1), now=end - 0.001)
    for moment in (end, end + 1, end + 3600):  # even if the token was verified before
        headers = {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token, iat=int(moment))}
        assert refused(InvalidToken, headers, now=moment).message == "The access token has expired."


def test_a_token_that_the_gateway_did_not_sign(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    header, claims, signature = token.split(".")
    forger = Signer()
    kid = jwt.parse(token).header["kid"]
    body = jwt.parse(token).claims
    forged = [
        f"{header}.{b64(json.dumps({**body, 'scope': 'orgs:manage'}).encode())}.{signature}",
        f"{header}.{claims}.{b64(bytes(64))}",
        forger.sign({"typ": "at+jwt", "kid": kid}, body),
        forger.sign({"typ": "at+jwt", "kid": forger.jkt, "jwk": forger.jwk}, body),
        forger.sign({"typ": "at+jwt", "kid": None}, body),
        forger.sign_raw(
            json.dumps({"alg": "ES256", "typ": "at+jwt", "kid": [kid]}).encode(), json.dumps(body).encode()
        ),
        pyjwt.encode(body, "secret-of-at-least-32-bytes-of-text", "HS256", headers={"typ": "at+jwt", "kid": kid}),
        pyjwt.encode(body, "", "none", headers={"typ": "at+jwt", "kid": kid}),
    ]
    for fake in forged:
        refused(InvalidToken, {"authorization": f"DPoP {fake}", "dpop": signer.proof("GET", URL, fake)})
    attempt(token, signer.proof("GET", URL, token))


@pytest.mark.parametrize(
    "overrides",
    [
        {"iss": "https://other.example"},
        {"aud": "https://other.example"},
        {"iss": None},
        {"aud": ["https://gateway.example"]},
        {"sub": None},
        {"cnf": None},
        {"cnf": {}},
        {"cnf": "jkt"},
        {"exp": None},
        {"scope": None},
        {"jti": None},
        {"client_id": None},
    ],
)
def test_a_token_of_the_gateways_key_for_something_else(overrides: dict[str, Any]) -> None:
    signer = Signer()
    claims = {**jwt.parse(mint_token(DID, [], signer)).claims, **overrides}
    keys = keyring.current_sync()
    claims = {name: value for name, value in claims.items() if value is not None}
    token = jwt.sign({"typ": "at+jwt", "kid": keys.signing_kid}, claims, keys.signing_key)
    refused(InvalidToken, {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token)})


@pytest.mark.parametrize("typ", ["JWT", "dpop+jwt", "", "AT+JWT"])
def test_another_kind_of_token_of_the_gateways_key(typ: str) -> None:
    signer = Signer()
    claims = jwt.parse(mint_token(DID, [], signer)).claims
    keys = keyring.current_sync()
    token = jwt.sign({"typ": typ, "kid": keys.signing_kid}, claims, keys.signing_key)
    refused(InvalidToken, {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token)})


def test_an_old_keys_tokens_outlive_its_rotation_but_not_its_retirement(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    signing_keys.rotate(now=timezone.now())
    keyring.forget()
    attempt(token, signer.proof("GET", URL, token))
    signing_keys.retire(jwt.parse(token).header["kid"], now=timezone.now())
    keyring.forget()
    refused(InvalidToken, {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token)})


def test_a_verified_token_costs_one_signature_check_and_only_its_hash_is_cached(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    presented_tokens._known.clear()
    attempt(token, signer.proof("GET", URL, token))
    assert len(presented_tokens._known) == 1
    (key,) = presented_tokens._known._items
    assert len(key) == 32
    attempt(token, signer.proof("GET", URL, token))
    assert len(presented_tokens._known) == 1


def test_an_expired_token_is_forgotten_when_another_comes(signer: Signer) -> None:
    presented_tokens._known.clear()
    begun_at = timezone.now()
    for minutes in (0, 1, 5):
        now = begun_at + timedelta(minutes=minutes)
        token = mint_token(DID, [], signer, now=now)
        attempt(token, signer.proof("GET", URL, token, iat=int(now.timestamp())), now=now.timestamp())
    assert len(presented_tokens._known) == 2


def test_a_refused_token_is_not_remembered(signer: Signer) -> None:
    presented_tokens._known.clear()
    token = mint_token(DID, [], signer)
    end = pyjwt.decode(token, options={"verify_signature": False})["exp"]
    refused(
        InvalidToken,
        {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token, iat=end)},
        now=end,
    )
    assert len(presented_tokens._known) == 0


@pytest.mark.parametrize("raw_path", ["/v1/%zz", "/v1/\x00", "/v1/é", "/" + "a" * 10_000])
def test_a_path_that_is_no_urls(raw_path: str) -> None:
    signer = Signer()
    token = mint_token(DID, [], signer)
    headers = {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token)}
    refused(InvalidDpopProof, headers, path=raw_path)


def test_a_client_cannot_pick_the_host(client: Client) -> None:
    caller = make_caller()
    spoofed = {
        "Host": "evil.example",
        "X-Forwarded-Host": "evil.example",
        "X-Forwarded-Proto": "http",
        "Forwarded": "host=evil.example;proto=http",
        "X-Original-URL": "/v1/wallet",
    }
    evil = caller.signer.headers("GET", "http://evil.example" + PATH, caller.token)
    assert client.get(PATH, headers={**evil, **spoofed}).status_code == 401
    assert client.get(PATH, headers={**caller.headers("GET", PATH), **spoofed}).status_code == 200


def test_behind_a_proxy_the_public_address_counts(client: Client) -> None:
    with override_settings(GATEWAY_BASE_URL="https://api.studio.example/gateway"):
        caller = make_caller()
        public = caller.signer.headers("GET", "https://api.studio.example/gateway" + PATH, caller.token)
        assert client.get(PATH, headers=public).status_code == 200
        inner = caller.signer.headers("GET", "http://testserver" + PATH, caller.token)
        assert client.get(PATH, headers=inner).status_code == 401


def test_a_replay_is_refused_over_http(client: Client) -> None:
    headers = make_caller().headers("GET", PATH)
    assert client.get(PATH, headers=headers).status_code == 200
    response = client.get(PATH, headers=headers)
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_dpop_proof"
    assert response["WWW-Authenticate"].startswith('DPoP error="invalid_dpop_proof"')


def test_a_refused_proof_is_not_recorded(client: Client) -> None:
    caller = make_caller()
    stale = caller.signer.headers("GET", PATH, caller.token, iat=int(time.time()) - 61)
    assert client.get(PATH, headers=stale).status_code == 401
    assert not ProofReplay.objects.exists()


def test_a_proof_for_get_serves_no_other_method_or_path(client: Client) -> None:
    caller = make_caller()
    headers = caller.headers("GET", PATH)
    assert client.get("/v1/wallet", headers=headers).status_code == 401
    assert client.post("/v1/org-invitations/accept", headers=headers).status_code in (401, 404)
    assert client.head(PATH, headers=headers).status_code == 401
    assert client.get(PATH, headers=headers).status_code == 200


def test_a_suspended_account_is_refused_over_http(client: Client) -> None:
    caller = make_caller()
    caller.account.suspended_at = timezone.now()
    caller.account.save()
    response = client.get(PATH, headers=caller.headers("GET", PATH))
    assert response.status_code == 401
    assert response.json()["error"]["code"] == "invalid_token"


def test_an_unknown_accounts_token_is_refused(client: Client) -> None:
    signer = Signer()
    token = mint_token("did:web:studio.example:nobody", [], signer)
    response = client.get(PATH, headers=signer.headers("GET", PATH, token))
    assert response.json()["error"]["code"] == "invalid_token"


def test_an_exp_may_be_required(signer: Signer) -> None:
    token = mint_token(DID, [], signer)
    with override_settings(DPOP_REQUIRE_EXP=True):
        headers = {"authorization": f"DPoP {token}", "dpop": signer.proof("GET", URL, token)}
        refused(InvalidDpopProof, headers)
        attempt(token, signer.proof("GET", URL, token, exp=int(time.time()) + 30))


def test_a_token_requests_proof_names_no_token(signer: Signer) -> None:
    now = time.time()
    assert verify_proof("POST", "/v1/oauth/token", {}, now) is None
    proof = signer.proof("POST", "/v1/oauth/token")
    read = verify_proof("POST", "/v1/oauth/token", {"dpop": proof}, now)
    assert read is not None
    assert read.key.thumbprint == signer.jkt
    with pytest.raises(InvalidDpopProof):
        verify_proof("POST", "/v1/oauth/token", {"dpop": signer.proof("POST", "/v1/oauth/token", "token")}, now)


HEADER_TEXT = st.text(st.characters(max_codepoint=255), max_size=200)


@pytest.fixture
def caller() -> Caller:
    return make_caller("wallet:read")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(
    method=st.text(max_size=10),
    path=st.text(max_size=60),
    authorization=st.none() | HEADER_TEXT | HEADER_TEXT.map(lambda text: "DPoP " + text) | st.binary(max_size=50),
    proof=st.none() | HEADER_TEXT | st.binary(max_size=50),
    now=st.floats(allow_nan=True, allow_infinity=True),
)
def test_whatever_comes_in_a_catalogue_error_comes_out(
    caller: Caller, method: str, path: str, authorization: Any, proof: Any, now: float
) -> None:
    headers = {
        name: value for name, value in {"authorization": authorization, "dpop": proof}.items() if value is not None
    }
    with pytest.raises(ApiError) as raised:
        verify_sync(method, path, headers, now)
    assert raised.value.code in ("invalid_dpop_proof", "invalid_token")


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200, deadline=None)
@given(cut=st.integers(0, 2000), insert=st.text(max_size=5), which=st.sampled_from(["Authorization", "DPoP"]))
@example(cut=0, insert="d", which="Authorization")
def test_a_good_request_with_one_wound_is_refused(caller: Caller, cut: int, insert: str, which: str) -> None:
    headers = caller.headers("GET", PATH)
    value = headers[which]
    at = cut % len(value)
    headers[which] = value[:at] + insert + value[at + 1 :]
    if headers[which] == value:
        return
    lower = {name.lower(): text for name, text in headers.items()}
    if re.fullmatch(rf"(?i:dpop) +{re.escape(caller.token)} *", lower["authorization"]) and which == "Authorization":
        return  # another spelling of the same credentials
    with pytest.raises(ApiError) as raised:
        verify_sync("GET", PATH, lower, time.time())
    assert raised.value.code in ("invalid_dpop_proof", "invalid_token")


@pytest.mark.usefixtures("no_signing_keys")
def test_the_keys_of_a_fresh_process_are_made_on_demand() -> None:
    assert not SigningKey.objects.exists()
    mint_token(DID, [], Signer())
    assert SigningKey.objects.filter(state="active").count() == 1
