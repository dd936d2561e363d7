"""Unit tests of product assertions, with a fixed clock."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from jwt import PyJWS

from accounts.rules import assertion as assertions
from accounts.rules.assertion import Assertion, AssertionRefused, Issuer
from tests.factories.proofs import ProductServer, Signer

NOW = 1_790_000_000
SERVER = ProductServer()
ISSUER = Issuer(
    name=SERVER.issuer,
    audience=SERVER.audience,
    product=SERVER.product,
    did_prefix=SERVER.did_prefix,
    capabilities=("wallet:read", "infer:*"),
    keys=tuple(SERVER.jwks["keys"]),
)


def make(**claims: Any) -> str:
    return SERVER.assertion(**{"iat": NOW, "exp": NOW + 60, **claims})


def check(token: object, *, issuer: Issuer = ISSUER, now: float = NOW) -> Assertion:
    jws, name = assertions.parse(token)
    return assertions.check(jws, replace(issuer, name=name) if name == ISSUER.name else issuer, now)


def refused(token: object, reason: str | None = None, **options: Any) -> None:
    with pytest.raises(AssertionRefused, match=reason):
        check(token, **options)


def test_a_good_assertion_is_read() -> None:
    token = make(jti="once", capabilities=["wallet:read", "infer:fast", "orgs:read"], consents=["realtime"])
    assert check(token) == Assertion(
        issuer=SERVER.issuer,
        did="did:web:studio.example:alice",
        product="studio",
        capabilities=("wallet:read", "infer:fast"),
        excess=("orgs:read",),
        consents=("realtime",),
        jti="once",
        jkt=None,
        expires_at=NOW + 60,
    )


def test_an_ed25519_key_signs_as_well() -> None:
    server = ProductServer(alg="EdDSA")
    issuer = replace(ISSUER, keys=tuple(server.jwks["keys"]))
    for alg in ("EdDSA", "Ed25519"):  # RFC 9864 gives it a name of its own
        token = server.assertion(iat=NOW, exp=NOW + 60, header={"alg": alg})
        assert check(token, issuer=issuer).did == "did:web:studio.example:alice"


def test_pyjwt_verifies_the_signature(monkeypatch: pytest.MonkeyPatch) -> None:
    """The check that the metered calls have for themselves is not the only one."""
    decoded: list[str] = []
    decode = PyJWS.decode

    def counted(self: PyJWS, token: str, *args: Any, **options: Any) -> Any:
        decoded.append(token)
        return decode(self, token, *args, **options)

    monkeypatch.setattr(PyJWS, "decode", counted)
    token = make()
    check(token)
    assert decoded == [token]


@pytest.mark.parametrize("value", [None, 1, b"x", [], {}, "", "a.b.c", "x" * 20_000])
def test_malformed_tokens_are_refused(value: object) -> None:
    refused(value)


@pytest.mark.parametrize("typ", ["dpop+jwt", "at+jwt", "AT+JWT", "application/at+jwt", 1, ["JWT"]])
def test_another_kind_of_token_is_refused(typ: object) -> None:
    refused(make(header={"typ": typ}), "typ")


@pytest.mark.parametrize("typ", [None, "JWT", "jwt", "authorization-grant+jwt"])
def test_typ_may_be_left_out_or_its_own(typ: str | None) -> None:
    check(make(header={"typ": typ}))


def test_another_servers_signature_is_refused() -> None:
    refused(make(signer=Signer()), "does not verify")


def test_a_key_in_the_header_is_not_believed() -> None:
    evil = Signer()
    refused(make(signer=evil, header={"jwk": evil.jwk}), "does not verify")


@pytest.mark.parametrize("alg", ["none", "HS256", "EdDSA", "RS256"])
def test_another_algorithm_is_refused(alg: str) -> None:
    refused(make(header={"alg": alg}))


def test_kid_selects_among_several_keys() -> None:
    old, new = ProductServer(kid="old"), ProductServer(kid="new")
    issuer = replace(ISSUER, keys=(*old.jwks["keys"], *new.jwks["keys"]))
    times: dict[str, Any] = {"iat": NOW, "exp": NOW + 60}
    for server in (old, new):
        check(server.assertion(**times), issuer=issuer)
    refused(old.assertion(**times, header={"kid": "new"}), "does not verify", issuer=issuer)
    refused(old.assertion(**times, header={"kid": None}), "kid", issuer=issuer)
    refused(old.assertion(**times, header={"kid": "other"}), "kid", issuer=issuer)
    refused(old.assertion(**times, header={"kid": ["old"]}), "kid", issuer=issuer)


def test_a_lone_key_needs_no_kid_but_minds_a_wrong_one() -> None:
    check(make(header={"kid": None}))
    refused(make(header={"kid": "k2"}), "kid")
    nameless = replace(ISSUER, keys=(SERVER.signer.jwk,))
    check(make(header={"kid": "whatever"}), issuer=nameless)


def test_an_integration_without_keys_accepts_nothing() -> None:
    refused(make(), "kid", issuer=replace(ISSUER, keys=()))
    refused(make(), issuer=replace(ISSUER, keys=({"kty": "EC"},)))


@pytest.mark.parametrize("iss", [None, "", 1, ["https://studio.example"], "x" * 300, "a\x00b"])
def test_iss_is_text(iss: object) -> None:
    refused(make(iss=iss), "iss")


def test_iss_is_the_integrations() -> None:
    refused(make(iss="https://studio.example/"), "iss")


@pytest.mark.parametrize(
    "aud",
    [
        None,
        "",
        1,
        [],
        "https://gateway.example/",
        "https://other.example",
        ["https://other.example"],
        ["https://gateway.example", "https://other.example"],
        [["https://gateway.example"]],
        {"https://gateway.example": 1},
    ],
)
def test_aud_is_only_the_gateway(aud: object) -> None:
    refused(make(aud=aud), "aud")


def test_aud_may_be_a_list_of_one() -> None:
    check(make(aud=["https://gateway.example"]))


@pytest.mark.parametrize("product", [None, "", "courier", 1, ["studio"]])
def test_product_is_the_integrations(product: object) -> None:
    refused(make(product=product), "product")


@pytest.mark.parametrize(
    "sub",
    [
        None,
        "",
        1,
        "alice",
        "did:web:courier.example:alice",
        "did:web:studio.example:",
        "did:web:studio.example",
        "did:web:studio.example.evil:alice",
        "did:web:studio.example:alice#k",
        "did:web:studio.example:a b",
        "did:web:studio.example:" + "a" * 600,
        ["did:web:studio.example:alice"],
    ],
)
def test_sub_is_a_did_that_the_integration_speaks_for(sub: object) -> None:
    refused(make(sub=sub), "sub")


@pytest.mark.parametrize(
    ("iat", "exp"), [(NOW, NOW + 1), (NOW, NOW + 60), (NOW - 59, NOW + 1), (NOW + 15, NOW + 75), (NOW - 0.5, NOW + 59)]
)
def test_times_within_a_minute_pass(iat: float, exp: float) -> None:
    check(make(iat=iat, exp=exp))


@pytest.mark.parametrize(
    ("iat", "exp", "reason"),
    [
        (NOW, NOW + 61, "within"),
        (NOW, NOW + 60.5, "within"),
        (NOW, NOW, "within"),
        (NOW, NOW - 1, "within"),
        (NOW - 60, NOW, "expired"),
        (NOW - 61, NOW - 1, "expired"),
        (NOW + 16, NOW + 60, "future"),
        (None, NOW + 60, "iat"),
        (NOW, None, "exp"),
        (True, NOW + 60, "iat"),
        (NOW, "later", "exp"),
        (-1, 59, "iat"),
        (2**62, 2**62 + 1, "iat"),
        (1e300, 1e300, "iat"),
    ],
)
def test_other_times_are_refused(iat: object, exp: object, reason: str) -> None:
    refused(make(iat=iat, exp=exp), reason)


def test_an_assertion_that_is_not_valid_yet_is_refused() -> None:
    check(make(nbf=NOW + 15))
    refused(make(nbf=NOW + 16), "not valid yet")
    refused(make(nbf="now"), "nbf")


@pytest.mark.parametrize("jti", [None, "", 1, "x" * 256, "a\x00b", ["a"]])
def test_jti_is_text(jti: object) -> None:
    refused(make(jti=jti), "jti")


@pytest.mark.parametrize(
    "capabilities", [None, "wallet:read", {"wallet:read": 1}, [1], [None], ["a b"], [""], ['"'], ["é"], ["a"] * 300]
)
def test_capabilities_are_scopes(capabilities: Any) -> None:
    header = {"alg": "ES256", "kid": "k1"}
    claims = {
        "iss": ISSUER.name,
        "aud": ISSUER.audience,
        "sub": SERVER.did(),
        "product": "studio",
        "iat": NOW,
        "exp": NOW + 60,
        "jti": "a",
        "capabilities": capabilities,
    }
    refused(SERVER.signer.sign_raw(json.dumps(header).encode(), json.dumps(claims).encode()), "capabilities")


def test_capabilities_beyond_the_integrations_are_dropped() -> None:
    assert check(make(capabilities=["orgs:manage"])).capabilities == ()
    assert check(make(capabilities=[])).capabilities == ()
    assert check(make(capabilities=["infer:*"])).capabilities == ("infer:*",)


def test_cnf_binds_a_key() -> None:
    assert check(make(cnf={"jkt": "thumb"})).jkt == "thumb"


@pytest.mark.parametrize("cnf", ["thumb", [], {}, {"jkt": ""}, {"jkt": 1}, {"jwk": {}}, {"jkt": "a", "x5t#S256": "b"}])
def test_a_confirmation_that_is_not_understood_is_refused(cnf: object) -> None:
    refused(make(cnf=cnf))


@pytest.mark.parametrize("consents", ["realtime", [1], {}, ["x" * 300]])
def test_consents_are_texts(consents: object) -> None:
    refused(make(consents=consents), "consents")


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CLAIM_NAMES = ["iss", "aud", "sub", "product", "iat", "exp", "nbf", "jti", "cnf", "consents", "capabilities"]


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(CLAIM_NAMES, JSON)))
def test_any_claims_are_read_or_refused(claims: dict[str, Any]) -> None:
    attempt: Callable[[], Any] = lambda: check(  # noqa: E731
        SERVER.signer.sign_raw(b'{"alg":"ES256","kid":"k1"}', json.dumps({**GOOD, **claims}).encode())
    )
    try:
        attempt()
    except AssertionRefused:
        assert claims


GOOD = {
    "iss": ISSUER.name,
    "aud": ISSUER.audience,
    "sub": SERVER.did(),
    "product": "studio",
    "iat": NOW,
    "exp": NOW + 60,
    "jti": "a",
    "capabilities": ["wallet:read"],
}
