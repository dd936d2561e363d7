"""Unit tests of DPoP proofs: header, claims, target and time, with a fixed clock."""

import contextlib
import hashlib
import json
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from accounts.operations.replays import PROOF_LIFE_MAX
from accounts.rules import dpop
from gateway.core.contract.errors import InvalidDpopProof
from tests.factories.proofs import Signer, b64

NOW = 1_790_000_000.0
URL = "https://gateway.example/v1/account"
FIXED = Signer()


@pytest.fixture(params=["ES256", "EdDSA"])
def signer(request: pytest.FixtureRequest) -> Signer:
    return Signer(request.param)


def read(proof: str, *, now: float = NOW, **options: Any) -> dpop.Proof:
    return dpop.read_proof(proof, method="GET", target=URL, now=now, **options)


def make(signer: Signer = FIXED, **overrides: Any) -> str:
    return signer.proof("GET", URL, **{"iat": int(NOW), **overrides})


def refused(proof: str, reason: str | None = None, **options: Any) -> None:
    with pytest.raises(InvalidDpopProof) as raised:
        read(proof, **options)
    assert reason is None or reason in raised.value.message
    assert raised.value.status == 401


def test_a_good_proof_gives_its_key_and_its_ticket(signer: Signer) -> None:
    proof = read(make(signer, jti="once", ath="hash"))
    assert proof.key.thumbprint == signer.jkt
    assert proof.claims["ath"] == "hash"
    assert proof.ticket == dpop.ProofTicket(
        digest=hashlib.sha256(signer.jkt.encode() + b"\0once").digest(),
        issued_at=int(NOW),
        expires_at=int(NOW) + 60 + 15,
    )


def test_the_same_jti_of_another_key_is_another_ticket(signer: Signer) -> None:
    tickets = {read(make(key, jti="same")).ticket.digest for key in (signer, FIXED)}
    assert len(tickets) == 2


@pytest.mark.parametrize(
    "typ", [None, "", "JWT", "jwt", "at+jwt", "DPOP+JWT", "dpop", "dpop+jwt ", "application/dpop+jwt", 1, ["dpop+jwt"]]
)
def test_typ_must_be_dpop_jwt(typ: object) -> None:
    refused(make(header={"typ": typ}), "typ")


def test_typ_null_is_refused() -> None:
    header = {"typ": None, "alg": "ES256", "jwk": FIXED.jwk}
    refused(FIXED.sign_raw(json.dumps(header).encode(), b"{}"), "typ")


@pytest.mark.parametrize("alg", ["none", "HS256", "RS256", "ES384", "EdDSA", "ES256K", ""])
def test_another_algorithm_than_the_keys_is_refused(alg: str) -> None:
    refused(make(header={"alg": alg}))


def test_a_missing_jwk_is_refused() -> None:
    refused(make(header={"jwk": None}), "jwk")
    refused(make(header={"jwk": None, "kid": FIXED.jkt}), "jwk")
    refused(make(header={"jwk": None, "jku": "https://evil.example/keys"}), "jwk")
    refused(make(header={"jwk": None, "x5c": ["AA=="]}), "jwk")


@pytest.mark.parametrize("value", ["", 1, [], {}, "key", {"kty": "EC"}, {"keys": []}])
def test_a_jwk_that_is_no_key_is_refused(value: object) -> None:
    refused(make(header={"jwk": value}), "jwk")


@pytest.mark.parametrize("member", ["d", "k", "p"])
def test_a_private_member_is_refused(member: str) -> None:
    refused(make(header={"jwk": {**FIXED.jwk, member: "AQAB"}}), "private")


@pytest.mark.parametrize("members", [{"use": "enc"}, {"key_ops": ["sign"]}, {"alg": "EdDSA"}])
def test_a_key_for_something_else_is_refused(members: dict[str, Any]) -> None:
    refused(make(header={"jwk": {**FIXED.jwk, **members}}), "jwk")


@pytest.mark.parametrize("members", [{"kid": "1"}, {"ext": True}, {"use": "sig"}, {"key_ops": ["verify"]}])
def test_harmless_members_are_ignored(members: dict[str, Any]) -> None:
    assert read(make(header={"jwk": {**FIXED.jwk, **members}})).key.thumbprint == FIXED.jkt


def test_a_key_that_did_not_sign_is_refused() -> None:
    refused(make(header={"jwk": Signer().jwk}), "does not verify")


def test_unknown_header_members_and_claims_are_ignored() -> None:
    read(make(header={"x": 1}, extra={"a": [1]}))


def test_crit_is_refused() -> None:
    refused(make(header={"crit": ["exp"]}), "critical")


@pytest.mark.parametrize("htm", [None, "", "get", "POST", "GET ", 1, ["GET"], True])
def test_htm_is_the_method_in_its_case(htm: object) -> None:
    refused(make(htm=htm), "htm")


@pytest.mark.parametrize("htu", [None, "", 1, [URL], "https://other.example/v1/account", URL + "/", URL + "\n"])
def test_htu_is_the_target(htu: object) -> None:
    refused(make(htu=htu), "htu")


def test_htu_may_carry_a_query() -> None:
    read(make(htu=URL + "?limit=5"))


@pytest.mark.parametrize("jti", [None, "", 1, True, [], "x" * 256, ["a"]])
def test_jti_has_1_to_255_characters(jti: object) -> None:
    refused(make(jti=jti), "jti")


@pytest.mark.parametrize("jti", ["x", "x" * 255, "\x00", "é", "\U0001f600" * 255, " "])
def test_any_other_jti_will_do(jti: str) -> None:
    assert len(read(make(jti=jti)).ticket.digest) == 32


@pytest.mark.parametrize("age", [0, 1, 59, 60, -1, -15])
def test_an_iat_within_the_window_passes(age: int) -> None:
    read(make(iat=int(NOW) - age))


@pytest.mark.parametrize("age", [61, 60.001, 3600, NOW, -16, -15.001, -3600])
def test_an_iat_outside_the_window_is_refused(age: float) -> None:
    refused(make(iat=NOW - age), "iat")


def test_the_window_is_measured_to_the_fraction() -> None:
    read(make(iat=int(NOW)), now=NOW + 60.0)
    refused(make(iat=int(NOW)), "iat", now=NOW + 60.001)


@pytest.mark.parametrize(
    "iat",
    [None, "1790000000", True, False, [], {}, -1, -1790000000, 0, 2**53, 2**62, 1e300, "now", [1790000000]],
)
def test_an_iat_that_is_no_date_is_refused(iat: object) -> None:
    refused(make(iat=iat), "iat")


@pytest.mark.parametrize(
    "text", ["NaN", "Infinity", "-Infinity", "1e999", "9" * 400, "1" + "0" * 30, "1_790_000_000", "0x10", "٣"]
)
def test_an_iat_that_is_no_json_number_is_refused(text: str) -> None:
    header = json.dumps({"typ": "dpop+jwt", "alg": "ES256", "jwk": FIXED.jwk})
    claims = f'{{"htm":"GET","htu":"{URL}","jti":"a","iat":{text}}}'
    refused(FIXED.sign_raw(header.encode(), claims.encode()))


def test_a_fraction_of_a_second_is_allowed_and_recorded_until_the_proof_expires() -> None:
    ticket = read(make(iat=NOW - 0.5)).ticket
    assert (ticket.issued_at, ticket.expires_at) == (int(NOW) - 1, int(NOW) + 75)


def test_the_ticket_outlives_the_last_moment_at_which_the_proof_passes() -> None:
    for ahead in (15, 0, -60):
        proof = make(iat=int(NOW) + ahead)
        ticket = read(proof).ticket
        read(proof, now=ticket.issued_at + 60)
        assert ticket.expires_at >= ticket.issued_at + 60 + 15
        refused(proof, now=ticket.expires_at - 14)


@pytest.mark.parametrize("fraction", [0, 0.001, 0.5, 0.999])
def test_no_proof_outlives_those_that_a_lost_store_refuses(fraction: float) -> None:
    ticket = read(make(iat=NOW + fraction + 15), now=NOW + fraction).ticket
    assert ticket.expires_at <= NOW + fraction + PROOF_LIFE_MAX.total_seconds()


def test_an_exp_ends_a_proof_sooner() -> None:
    read(make(exp=int(NOW) + 1))
    refused(make(exp=int(NOW)), "exp")
    refused(make(exp=int(NOW) - 1), "exp")


def test_an_exp_never_lengthens_the_window() -> None:
    refused(make(iat=int(NOW) - 61, exp=int(NOW) + 3600), "iat")
    assert read(make(exp=int(NOW) + 3600)).ticket.expires_at == int(NOW) + 75


@pytest.mark.parametrize("exp", ["soon", True, -1, [], 2**63])
def test_an_exp_that_is_no_date_is_refused(exp: object) -> None:
    refused(make(exp=exp), "exp")


@pytest.mark.parametrize("nonce", ["null", "1", "true", "[]", '["x"]', "{}"])
def test_a_nonce_that_is_no_string_is_refused(nonce: str) -> None:
    header = json.dumps({"typ": "dpop+jwt", "alg": "ES256", "jwk": FIXED.jwk})
    claims = f'{{"htm":"GET","htu":"{URL}","jti":"a","iat":{int(NOW)},"nonce":{nonce}}}'
    refused(FIXED.sign_raw(header.encode(), claims.encode()), "nonce")


def test_an_exp_may_be_required() -> None:
    refused(make(), "exp", require_exp=True)
    read(make(exp=int(NOW) + 30), require_exp=True)


def test_an_nbf_is_honoured() -> None:
    read(make(nbf=int(NOW) + 15))
    refused(make(nbf=int(NOW) + 16), "nbf")
    refused(make(nbf="now"), "nbf")


def test_a_proof_that_is_too_long_is_refused_before_it_is_read() -> None:
    refused("!" * (dpop.PROOF_MAX_BYTES + 1), "too long")
    refused(make(pad="x" * dpop.PROOF_MAX_BYTES), "too long")


@pytest.mark.parametrize("separator", [",", ", ", " ", ";"])
def test_two_proofs_in_one_header_are_refused(separator: str) -> None:
    refused(make() + separator + make(), "segments")


def test_an_access_token_hash_is_compared_as_text() -> None:
    dpop.check_access_token_hash(read(make(ath="a")), "a")
    for ath in (None, "", "b", "A", 1, ["a"], {"a": 1}):
        with pytest.raises(InvalidDpopProof, match="invalid_dpop_proof"):
            dpop.check_access_token_hash(read(make(ath=ath)), "a")


def test_a_proof_for_a_token_serves_for_no_token_request() -> None:
    dpop.check_access_token_hash(read(make()), None)
    for ath in ("a", "", 1):
        with pytest.raises(InvalidDpopProof):
            dpop.check_access_token_hash(read(make(ath=ath)), None)


def test_a_null_ath_is_no_left_out_one() -> None:
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": FIXED.jwk}
    claims = {"htm": "GET", "htu": URL, "jti": "a", "iat": int(NOW), "ath": None}
    proof = read(FIXED.sign_raw(json.dumps(header).encode(), json.dumps(claims).encode()))
    for expected in (None, "hash"):
        with pytest.raises(InvalidDpopProof):
            dpop.check_access_token_hash(proof, expected)


def test_nothing_of_the_proof_shows_in_the_error() -> None:
    with pytest.raises(InvalidDpopProof) as raised:
        read(make(htm='"secret"\r\nX: y'))
    assert "secret" not in raised.value.message


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=30),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
CLAIM_NAMES = ["htm", "htu", "iat", "jti", "ath", "exp", "nbf", "nonce"]


@given(st.text(max_size=300))
def test_any_text_is_refused(text: str) -> None:
    refused(text)


@given(st.fixed_dictionaries({}, optional=dict.fromkeys(CLAIM_NAMES, JSON)))
def test_any_claims_are_read_or_refused(claims: dict[str, Any]) -> None:
    header = {"typ": "dpop+jwt", "alg": "ES256", "jwk": FIXED.jwk}
    good = {"htm": "GET", "htu": URL, "jti": "a", "iat": int(NOW)}
    text = json.dumps({**good, **claims}).encode(errors="surrogatepass")
    with contextlib.suppress(InvalidDpopProof):
        read(FIXED.sign_raw(json.dumps(header).encode(), text))


HEADERS: dict[str, st.SearchStrategy[Any]] = dict.fromkeys(["typ", "alg", "jwk", "crit"], JSON) | {"kid": st.text()}


@given(st.fixed_dictionaries({}, optional=HEADERS))
@example({"alg": "ES256", "kid": "1"})  # Hypothesis knows the texts of the code, and tries them
def test_any_header_is_refused_or_is_the_good_one(header: dict[str, Any]) -> None:
    good = {"typ": "dpop+jwt", "alg": "ES256", "jwk": FIXED.jwk}
    claims = {"htm": "GET", "htu": URL, "jti": "a", "iat": int(NOW)}
    token = FIXED.sign_raw(json.dumps({**good, **header}).encode(), json.dumps(claims).encode())
    if good == {name: value for name, value in {**good, **header}.items() if name != "kid"}:
        read(token)
    else:
        refused(token)


@given(st.binary(max_size=200), st.binary(max_size=200))
def test_any_signed_bytes_are_refused(header: bytes, claims: bytes) -> None:
    refused(f"{b64(header)}.{b64(claims)}.{b64(FIXED.signature(header))}")
