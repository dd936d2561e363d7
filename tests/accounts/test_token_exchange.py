"""POST /v1/auth/token/exchange."""

import json
import logging
import threading
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import jwt as pyjwt
import pytest
from django.test import Client, override_settings
from django.utils import timezone
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from accounts.models import Account, ConsumedAssertion, Integration, ProofReplay
from accounts.operations import exchange
from tests.accounts.race import race
from tests.factories.accounts import make_account, make_integration
from tests.factories.proofs import ProductServer, Signer

PATH = "/v1/auth/token/exchange"
ALICE = "did:web:studio.example:alice"
INVALID_GRANT = "The grant is invalid, expired, already used, or was issued to someone else."


@pytest.fixture
def server(db: None) -> ProductServer:
    server = ProductServer()
    make_integration(server)
    return server


@pytest.fixture
def signer() -> Signer:
    return Signer()


def send(client: Client, body: Any, **headers: str) -> Any:
    text = body if isinstance(body, bytes | str) else json.dumps(body)
    return client.post(PATH, text, content_type="application/json", headers=headers)


def refused(response: Any, code: str, *, param: str | None = None, status: int = 400) -> None:
    body = json.loads(response.content)
    assert (response.status_code, body["error"], body.get("param")) == (status, code, param), body
    assert set(body) == {"error", "error_description", "error_uri", "request_id"} | ({"param"} if param else set())
    assert body["request_id"] == response["X-Request-Id"]
    assert response["Cache-Control"] == "no-store"


def nothing_changed() -> None:
    assert not ConsumedAssertion.objects.exists()
    assert not Account.objects.exists()


def test_an_assertion_is_exchanged_for_a_bound_token(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion(capabilities=["wallet:read", "infer:fast"], jti="once", consents=["realtime"])
    began = int(time.time())
    response = send(client, {"assertion": assertion, "dpop_jwk": signer.jwk})
    body = response.json()
    token = body.pop("access_token")
    assert response.status_code == 200
    assert body == {"token_type": "DPoP", "expires_in": 300, "scope": "infer:fast wallet:read"}
    assert (response["Cache-Control"], response["Pragma"]) == ("no-store", "no-cache")

    jwks = client.get("/.well-known/jwks.json").json()["keys"]
    key = next(pyjwt.PyJWK.from_dict(key) for key in jwks if key["kid"] == pyjwt.get_unverified_header(token)["kid"])
    claims = pyjwt.decode(token, key.key, ["ES256"], audience="https://gateway.example")
    issued_at, token_id = claims.pop("iat"), claims.pop("jti")
    assert pyjwt.get_unverified_header(token)["typ"] == "at+jwt"
    assert began <= issued_at <= time.time()
    assert token_id.startswith("at_")
    assert claims == {
        "iss": "https://gateway.example",
        "aud": "https://gateway.example",
        "sub": ALICE,
        "client_id": "https://studio.example",
        "scope": "infer:fast wallet:read",
        "cnf": {"jkt": signer.jkt},
        "exp": issued_at + 300,
        "product": "studio",
        "consents": ["realtime"],
    }
    account = client.get("/v1/account", headers=signer.headers("GET", "/v1/account", token)).json()
    assert account["did"] == ALICE


def test_the_account_comes_into_being_once_and_cannot_sign_in(
    client: Client, server: ProductServer, signer: Signer
) -> None:
    for _ in range(2):
        assert send(client, {"assertion": server.assertion(), "dpop_jwk": signer.jwk}).status_code == 200
    account = Account.objects.get()
    assert account.did == ALICE
    assert not account.has_usable_password()
    assert (account.is_staff, account.is_superuser) == (False, False)


def test_an_assertion_serves_once(client: Client, server: ProductServer, signer: Signer) -> None:
    body = {"assertion": server.assertion(), "dpop_jwk": signer.jwk}
    assert send(client, body).status_code == 200
    refused(send(client, body), "invalid_grant")
    refused(send(client, {**body, "dpop_jwk": Signer().jwk}), "invalid_grant")
    assert ConsumedAssertion.objects.count() == 1


def test_a_jti_is_single_use_per_issuer(client: Client, server: ProductServer, signer: Signer) -> None:
    courier = ProductServer("https://courier.example", product="courier", did_prefix="did:web:courier.example:")
    make_integration(courier)
    for who in (server, courier):
        response = send(client, {"assertion": who.assertion(jti="same"), "dpop_jwk": signer.jwk})
        assert response.status_code == 200
    refused(send(client, {"assertion": server.assertion(jti="same"), "dpop_jwk": signer.jwk}), "invalid_grant")


@pytest.mark.parametrize(
    "claims",
    [
        {"iss": "https://unknown.example"},
        {"aud": "https://other.example"},
        {"product": "courier"},
        {"sub": "did:web:courier.example:alice"},
        {"sub": "did:web:studio.example.evil:alice"},
        {"iat": -120, "exp": -60},
        {"iat": 0, "exp": 300},
        {"iat": 3600, "exp": 3660},
        {"jti": None},
        {"cnf": {"jkt": "another-key"}},
    ],
)
def test_all_mismatches_have_the_same_error(
    client: Client, server: ProductServer, signer: Signer, claims: dict[str, Any]
) -> None:
    now = int(time.time())
    claims = {name: now + value if name in ("iat", "exp") else value for name, value in claims.items()}
    response = send(client, {"assertion": server.assertion(**claims), "dpop_jwk": signer.jwk})
    refused(response, "invalid_grant")
    assert response.json()["error_description"] == INVALID_GRANT
    nothing_changed()


def test_only_the_log_has_the_reason(
    client: Client, server: ProductServer, signer: Signer, caplog: pytest.LogCaptureFixture
) -> None:
    for _ in range(3):
        send(client, {"assertion": server.assertion(product="courier"), "dpop_jwk": signer.jwk})
    send(client, {"assertion": server.assertion(aud="https://elsewhere.example"), "dpop_jwk": signer.jwk})
    product, audience = [record for record in caplog.records if record.name == "gateway.api"]
    assert product.getMessage().endswith(": product is not the integration's product")
    assert audience.getMessage().endswith(": aud is not the integration's audience, https://gateway.example")
    assert {product.levelname, audience.levelname} == {"WARNING"}


@override_settings(EXPLAIN_REFUSALS=True)
def test_the_reason_is_in_the_response_in_development(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion(aud="https://elsewhere.example")
    body = send(client, {"assertion": assertion, "dpop_jwk": signer.jwk}).json()
    cause = "aud is not the integration's audience, https://gateway.example"
    assert (body["error"], body["error_description"]) == ("invalid_grant", INVALID_GRANT)
    assert body["reason"] == f"assertion of https://studio.example: {cause}"


def test_the_line_in_the_log_carries_the_request_id(
    client: Client, server: ProductServer, signer: Signer, caplog: pytest.LogCaptureFixture
) -> None:
    response = send(client, {"assertion": server.assertion(product="courier"), "dpop_jwk": signer.jwk})
    [console] = [handler for handler in logging.getLogger().handlers if handler.get_name() == "console"]
    [line] = [console.format(record) for record in caplog.records if record.name == "gateway.api"]
    assert line.startswith(f"WARNING gateway.api {response['X-Request-Id']} invalid_grant: ")


def test_a_forged_assertion_is_refused(client: Client, server: ProductServer, signer: Signer) -> None:
    forged = server.assertion(signer=Signer())
    refused(send(client, {"assertion": forged, "dpop_jwk": signer.jwk}), "invalid_grant")
    nothing_changed()


def test_a_disabled_integration_is_refused(client: Client, server: ProductServer, signer: Signer) -> None:
    Integration.objects.update(enabled=False)
    refused(send(client, {"assertion": server.assertion(), "dpop_jwk": signer.jwk}), "invalid_grant")
    nothing_changed()


def test_a_suspended_account_is_refused(client: Client, server: ProductServer, signer: Signer) -> None:
    make_account("alice", suspended_at=timezone.now())
    refused(send(client, {"assertion": server.assertion(), "dpop_jwk": signer.jwk}), "invalid_grant")
    assert not ConsumedAssertion.objects.exists()


def test_an_assertion_that_binds_the_key_needs_that_key(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion(cnf={"jkt": signer.jkt})
    refused(send(client, {"assertion": assertion, "dpop_jwk": Signer().jwk}), "invalid_grant")
    assert send(client, {"assertion": assertion, "dpop_jwk": signer.jwk}).status_code == 200


def test_scope_narrows(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion(capabilities=["wallet:read", "usage:read", "infer:fast"])
    body = {"assertion": assertion, "dpop_jwk": signer.jwk, "scope": "infer:fast wallet:read"}
    assert send(client, body).json()["scope"] == "infer:fast wallet:read"


@pytest.mark.parametrize(
    ("capabilities", "scope"),
    [
        (["wallet:read"], "usage:read"),
        (["wallet:read"], "wallet:read usage:read"),
        (["infer:fast"], "infer:*"),
        (["infer:fast"], "infer:slow"),
        (["sandbox:run"], "sandbox:run"),
        ([], "wallet:read"),
        (["wallet:read"], " wallet:read"),
        (["wallet:read"], "wallet:read  wallet:read"),
        (["wallet:read"], "wallet\u00e9"),
    ],
)
def test_scope_cannot_exceed_the_assertion_or_the_integration(
    client: Client, server: ProductServer, signer: Signer, capabilities: list[str], scope: str
) -> None:
    assertion = server.assertion(capabilities=capabilities)
    refused(
        send(client, {"assertion": assertion, "dpop_jwk": signer.jwk, "scope": scope}), "invalid_scope", param="scope"
    )
    nothing_changed()
    assert send(client, {"assertion": assertion, "dpop_jwk": signer.jwk}).status_code == 200


def test_without_a_scope_all_that_both_allow_is_granted(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion(capabilities=["wallet:read", "sandbox:run", "infer:fast", "infer:vendor/large-2"])
    body = send(client, {"assertion": assertion, "dpop_jwk": signer.jwk}).json()
    assert body["scope"] == "infer:fast infer:vendor/large-2 wallet:read"


def own_warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return this thread's warnings. A gateway that runs for other tests may write some meanwhile."""
    own = (record for record in caplog.records if record.thread == threading.get_ident())
    return [record for record in own if record.levelname == "WARNING"]


def test_capabilities_that_an_assertion_cannot_get_are_one_warning(
    client: Client, server: ProductServer, signer: Signer, caplog: pytest.LogCaptureFixture
) -> None:
    names = ["wallet:read", "sandbox:run", "ci:read", "infer:fast", "infer:no-such-model"]
    body = send(client, {"assertion": server.assertion(capabilities=names), "dpop_jwk": signer.jwk}).json()
    assert body["scope"] == "infer:fast infer:no-such-model wallet:read"
    [warning] = own_warnings(caplog)
    assert warning.getMessage() == (
        "an assertion from https://studio.example asks for capabilities beyond the integration's capabilities: "
        "sandbox:run ci:read; for models that do not exist: infer:no-such-model"
    )


def test_an_assertion_within_its_integration_is_no_warning(
    client: Client, server: ProductServer, signer: Signer, caplog: pytest.LogCaptureFixture
) -> None:
    assertion = server.assertion(capabilities=["wallet:read", "infer:fast", "infer:*"])
    assert send(client, {"assertion": assertion, "dpop_jwk": signer.jwk}).status_code == 200
    assert own_warnings(caplog) == []


def test_a_scope_that_goes_beyond_is_named(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion(capabilities=["wallet:read"])
    body = {"assertion": assertion, "dpop_jwk": signer.jwk, "scope": "wallet:read usage:read"}
    described = send(client, body).json()["error_description"]
    assert described == "The scope usage:read cannot be granted."


def test_nothing_in_common_grants_a_token_without_scopes(client: Client, server: ProductServer, signer: Signer) -> None:
    body = send(client, {"assertion": server.assertion(capabilities=["ci:read"]), "dpop_jwk": signer.jwk}).json()
    assert (body["scope"], body["expires_in"]) == ("", 300)


def test_an_ed25519_product_and_an_ed25519_client(client: Client, db: None) -> None:
    server, signer = ProductServer(alg="EdDSA"), Signer("EdDSA")
    make_integration(server)
    body = send(client, {"assertion": server.assertion(), "dpop_jwk": signer.jwk}).json()
    response = client.get("/v1/account", headers=signer.headers("GET", "/v1/account", body["access_token"]))
    assert response.status_code == 200


def bad_keys() -> list[Any]:
    good = Signer().jwk
    return [
        None,
        "key",
        [],
        {},
        {**good, "d": "AQAB"},
        {**good, "use": "enc"},
        {**good, "alg": "ES384"},
        {**good, "y": good["x"]},
        {**good, "x": good["x"] + "="},
        {**good, "kty": "RSA"},
        {**good, "crv": "P-384"},
        {"kty": "oct", "k": "AQAB"},
    ]


@pytest.mark.parametrize("key", bad_keys())
def test_a_bad_proof_key_is_named(client: Client, server: ProductServer, key: Any) -> None:
    refused(send(client, {"assertion": server.assertion(), "dpop_jwk": key}), "invalid_request", param="dpop_jwk")
    nothing_changed()


def test_missing_and_mistyped_members_are_named(client: Client, server: ProductServer, signer: Signer) -> None:
    assertion = server.assertion()
    refused(send(client, {"dpop_jwk": signer.jwk}), "invalid_request", param="assertion")
    refused(send(client, {"assertion": assertion}), "invalid_request", param="dpop_jwk")
    values: list[Any] = [None, 1, ["x"], {}, "", True]
    for value in values:
        refused(send(client, {"assertion": value, "dpop_jwk": signer.jwk}), "invalid_request", param="assertion")
    for value in values:
        body = {"assertion": assertion, "dpop_jwk": signer.jwk, "scope": value}
        refused(send(client, body), "invalid_request", param="scope")
    nothing_changed()


def test_unknown_members_are_ignored(client: Client, server: ProductServer, signer: Signer) -> None:
    body = {"assertion": server.assertion(), "dpop_jwk": signer.jwk, "did": "did:web:studio.example:bob", "x": 1}
    assert send(client, body).status_code == 200
    assert Account.objects.get().did == ALICE


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"null", b"{", b'{"a":1,"a":2}', b'{"a":NaN}', b"\xff", b'{"a":"\\ud800"}']
)
def test_bodies_that_are_no_json_object(client: Client, server: ProductServer, body: bytes) -> None:
    response = send(client, body)
    refused(response, "invalid_json")


def test_other_content_types_and_sizes(client: Client, server: ProductServer, signer: Signer) -> None:
    refused(client.post(PATH, {"assertion": "x"}), "unsupported_media_type", status=415)
    big = {"assertion": server.assertion(), "dpop_jwk": signer.jwk, "pad": "x" * 70_000}
    refused(send(client, big), "request_too_large", status=413)
    nothing_changed()


def test_other_methods(client: Client, db: None) -> None:
    response = client.get(PATH)
    assert response.status_code == 405
    assert "POST" in response["Allow"]


def test_a_proof_of_the_same_key_may_come_along_once(client: Client, server: ProductServer, signer: Signer) -> None:
    proof = signer.proof("POST", PATH)
    body = {"assertion": server.assertion(), "dpop_jwk": signer.jwk}
    assert send(client, body, DPoP=proof).status_code == 200
    assert ProofReplay.objects.count() == 1
    refused(send(client, {**body, "assertion": server.assertion()}, DPoP=proof), "invalid_dpop_proof")
    assert ConsumedAssertion.objects.count() == 1


def test_a_proof_that_comes_along_must_hold(client: Client, server: ProductServer, signer: Signer) -> None:
    body = {"assertion": server.assertion(), "dpop_jwk": signer.jwk}
    proofs = [
        "nonsense",
        Signer().proof("POST", PATH),
        signer.proof("GET", PATH),
        signer.proof("POST", "/v1/account"),
        signer.proof("POST", PATH, "some token"),
        signer.proof("POST", PATH, iat=int(time.time()) - 61),
    ]
    for proof in proofs:
        refused(send(client, body, DPoP=proof), "invalid_dpop_proof")
    nothing_changed()


@pytest.mark.django_db(transaction=True)
def test_of_exchanges_at_once_in_several_processes_one_gets_a_token(signer: Signer) -> None:
    server = ProductServer()
    make_integration(server)

    def arguments() -> dict[str, Any]:
        # Two assertions about each of several new accounts, and every process tries all of them.
        return {"assertions": [server.assertion(f"user{number // 2}") for number in range(20)], "jkt": signer.jkt}

    reports = race(3, "redeem", arguments)
    for outcomes in zip(*reports, strict=True):
        assert Counter(outcomes) == {"ok": 1, "invalid_grant": 2}
    assert Account.objects.count() == 10
    assert ConsumedAssertion.objects.count() == 20


def test_purging_spares_assertions_that_could_still_be_replayed(
    client: Client, server: ProductServer, signer: Signer
) -> None:
    body = {"assertion": server.assertion(), "dpop_jwk": signer.jwk}
    assert send(client, body).status_code == 200
    assert exchange.purge_expired(now=timezone.now()) == 0
    expires_at = ConsumedAssertion.objects.get().expires_at
    assert exchange.purge_expired(now=expires_at + timedelta(seconds=1)) == 1


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60, deadline=None)
@given(JSON | st.fixed_dictionaries({}, optional={"assertion": JSON, "dpop_jwk": JSON, "scope": JSON}))
def test_any_body_is_refused(client: Client, server: ProductServer, body: Any) -> None:
    response = send(client, body)
    assert response.status_code == 400
    assert response.json()["error"] in ("invalid_request", "invalid_json", "invalid_grant", "invalid_scope")
