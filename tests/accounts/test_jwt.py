"""Strict compact JWS, compared with PyJWT."""

import hmac
import json
from typing import Any

import jwt as pyjwt
import pytest
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from hypothesis import given
from hypothesis import strategies as st

from accounts.rules import jwt
from tests.factories.proofs import Signer, b64

P256_ORDER = 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551
CLAIMS = {"sub": "alice", "n": 1}
ALGS = ["ES256", "EdDSA"]
FIXED = Signer().public
SIGNED = [(signer, signer.sign({}, CLAIMS)) for signer in map(Signer, ALGS)]


@pytest.fixture(params=ALGS)
def signer(request: pytest.FixtureRequest) -> Signer:
    return Signer(request.param)


def test_tokens_signed_by_pyjwt_verify(signer: Signer) -> None:
    token = pyjwt.encode(CLAIMS, signer.private, signer.alg, headers={"kid": "k1"})
    jws = jwt.parse(token)
    jwt.verify(jws, signer.public)
    assert (jws.alg, jws.claims, jws.header["kid"]) == (signer.alg, CLAIMS, "k1")


def test_signed_tokens_verify_with_pyjwt(signer: Signer) -> None:
    token = jwt.sign({"typ": "at+jwt"}, CLAIMS, signer.private)
    assert pyjwt.decode(token, signer.private.public_key(), [signer.alg]) == CLAIMS
    assert pyjwt.get_unverified_header(token) == {"alg": signer.alg, "typ": "at+jwt"}


@given(st.integers(min_value=0, max_value=10_000), st.sampled_from("AQZaz09-_"))
def test_of_tokens_that_were_tampered_with_it_accepts_only_what_pyjwt_does(place: int, character: str) -> None:
    for signer, token in SIGNED:
        place %= len(token)
        tampered = token[:place] + character + token[place + 1 :]
        assert accepts(tampered, signer) == (tampered == token)
        assert not accepts(tampered, signer) or pyjwt.decode(tampered, signer.private.public_key(), [signer.alg])


def accepts(token: str, signer: Signer) -> bool:
    try:
        jwt.verify(jwt.parse(token), signer.public)
    except jwt.JwtError:
        return False
    return True


def test_a_parsed_token_can_be_written_again(signer: Signer) -> None:
    token = signer.sign({"kid": "k1"}, CLAIMS)
    assert jwt.parse(token).compact() == token


def test_the_fully_specified_name_of_eddsa_is_accepted() -> None:
    signer = Signer("EdDSA")
    jws = jwt.parse(signer.sign({"alg": "Ed25519"}, CLAIMS))
    jwt.verify(jws, signer.public)
    assert jws.alg == "EdDSA"


@pytest.mark.parametrize("kid", ["k1", "k" * jwt.SHORT_HEADER_CHARACTERS])
def test_a_header_that_was_seen_before_is_read_as_at_first(signer: Signer, kid: str) -> None:
    first, again = (jwt.parse(jwt.sign({"kid": kid}, {"n": n}, signer.private)) for n in (1, 2))
    jwt.verify(again, signer.public)
    assert (first.header, first.alg) == (again.header, again.alg) == ({"alg": signer.alg, "kid": kid}, signer.alg)
    assert (first.claims, again.claims) == ({"n": 1}, {"n": 2})


def test_a_long_header_is_not_remembered(signer: Signer) -> None:
    remembered = jwt._short_header.cache_info().currsize
    jwt.parse(jwt.sign({"kid": "k" * jwt.SHORT_HEADER_CHARACTERS}, CLAIMS, signer.private))
    assert jwt._short_header.cache_info().currsize == remembered


def test_another_key_does_not_verify(signer: Signer) -> None:
    with pytest.raises(jwt.JwtError, match="does not verify"):
        jwt.verify(jwt.parse(signer.sign({}, CLAIMS)), Signer(signer.alg).public)


def test_a_key_of_the_other_algorithm_does_not_verify(signer: Signer) -> None:
    other = Signer("EdDSA" if signer.alg == "ES256" else "ES256")
    with pytest.raises(jwt.JwtError, match="does not match the header's algorithm"):
        jwt.verify(jwt.parse(signer.sign({}, CLAIMS)), other.public)


def test_a_header_that_names_the_other_algorithm_does_not_verify(signer: Signer) -> None:
    lie = "EdDSA" if signer.alg == "ES256" else "ES256"
    with pytest.raises(jwt.JwtError, match="does not match the header's algorithm"):
        jwt.verify(jwt.parse(signer.sign({"alg": lie}, CLAIMS)), signer.public)


def test_every_flipped_bit_of_the_signed_text_is_noticed(signer: Signer) -> None:
    token = signer.sign({}, CLAIMS)
    for position in range(token.rindex(".")):
        changed = token[:position] + ("A" if token[position] != "A" else "B") + token[position + 1 :]
        with pytest.raises(jwt.JwtError):
            jwt.verify(jwt.parse(changed), signer.public)


@pytest.mark.parametrize(
    "alg",
    ["none", "None", "NONE", "", "HS256", "HS512", "RS256", "PS256", "ES384", "ES512", "ES256K", "es256", "ES256 "],
)
def test_other_algorithms_are_refused(alg: str) -> None:
    with pytest.raises(jwt.JwtError, match="alg"):
        jwt.parse(Signer().sign({"alg": alg}, CLAIMS))


@pytest.mark.parametrize("alg", [None, 1, True, ["ES256"], {"ES256": 1}])
def test_an_algorithm_that_is_no_text_is_refused(alg: object) -> None:
    with pytest.raises(jwt.JwtError, match="alg"):
        jwt.parse(Signer().sign_raw(json.dumps({"alg": alg}).encode(), b"{}"))


def test_an_unsigned_token_is_refused() -> None:
    header, claims = b64(b'{"alg":"none"}'), b64(b"{}")
    for token in (f"{header}.{claims}.", f"{header}.{claims}", f"{header}.{claims}.{b64(b'')}"):
        with pytest.raises(jwt.JwtError):
            jwt.parse(token)


def test_an_hmac_with_the_public_key_is_refused() -> None:
    signing_input = b64(b'{"alg":"HS256"}') + "." + b64(b"{}")
    mac = hmac.digest(json.dumps(Signer().jwk).encode(), signing_input.encode(), "sha256")
    with pytest.raises(jwt.JwtError, match="alg"):
        jwt.parse(f"{signing_input}.{b64(mac)}")


@pytest.mark.parametrize("member", [{"crit": ["exp"]}, {"crit": []}, {"b64": False}, {"crit": ["b64"], "b64": False}])
def test_critical_extensions_are_refused(member: dict[str, Any]) -> None:
    with pytest.raises(jwt.JwtError, match="critical"):
        jwt.parse(Signer().sign(member, CLAIMS))


@pytest.mark.parametrize(
    "token",
    [
        "",
        ".",
        "..",
        "a",
        "a.b",
        "a.b.c.d",
        "a.b.c.d.e",
        "e30.e30.",
        ".e30.AA",
        "e30..AA",
        " e30.e30.AA",
        "e30.e30.AA\n",
        "e30.e30.AA,e30.e30.AA",
        "e30=.e30.AA",
        "e3+.e30.AA",
        "e3/.e30.AA",
        "e3é.e30.AA",
        "e30.e30.\x00A",
    ],
)
def test_anything_but_three_base64url_segments_is_refused(token: str) -> None:
    with pytest.raises(jwt.JwtError):
        jwt.parse(token)


def test_the_size_is_checked_first() -> None:
    with pytest.raises(jwt.JwtError, match="too long"):
        jwt.parse("!" * (jwt.JWS_MAX_BYTES + 1))


def test_stray_bits_in_a_segment_are_refused(signer: Signer) -> None:
    token = signer.sign({}, CLAIMS)
    assert token[-1] in "AQgw"
    for stray in {"A": "BP", "Q": "Rf", "g": "hv", "w": "x_"}[token[-1]]:
        with pytest.raises(jwt.JwtError, match="canonical"):
            jwt.parse(token[:-1] + stray)


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"[]",
        b"null",
        b"1",
        b'"ES256"',
        b"{",
        b"{} {}",
        b'{"alg":"ES256","alg":"none"}',
        b'{"alg":"ES256","\\u0061lg":"none"}',
        b'{"a":NaN}',
        b'{"a":Infinity}',
        b'{"a":-Infinity}',
        b'{"a":1e999}',
        b'{"a":"\\ud800"}',
        b'{"a":"\xff"}',
        b"\xef\xbb\xbf{}",
        b'{"a":' + b"[" * 500 + b"]" * 500 + b"}",
        b'{"a":' + b"1" * 5000 + b"}",
        b'{"alg":"ES256",}',
        b"{'alg':'ES256'}",
    ],
)
def test_json_that_two_readers_could_read_differently_is_refused(text: bytes) -> None:
    signer = Signer()
    for token in (signer.sign_raw(text, b"{}"), signer.sign_raw(b'{"alg":"ES256"}', text)):
        with pytest.raises(jwt.JwtError):
            jwt.parse(token)


def test_a_signature_of_another_length_is_refused(signer: Signer) -> None:
    signing_input = signer.sign({}, CLAIMS).rpartition(".")[0]
    for length in (1, 63, 65, 70, 128):
        with pytest.raises(jwt.JwtError, match="wrong length"):
            jwt.parse(f"{signing_input}.{b64(bytes(length))}")


def test_a_der_signature_is_refused() -> None:
    signer = Signer()
    jws = jwt.parse(signer.sign({}, CLAIMS))
    der = jwt._der(jws.signature)
    with pytest.raises(jwt.JwtError, match="wrong length"):
        jwt.parse(f"{jws.signing_input.decode()}.{b64(der)}")


@pytest.mark.parametrize(
    ("r", "s"),
    [
        (0, 0),
        (0, 1),
        (1, 0),
        (1, 1),
        (P256_ORDER, P256_ORDER),
        (P256_ORDER, 1),
        (2**256 - 1, 2**256 - 1),
        (0, P256_ORDER),
    ],
)
def test_signatures_that_a_careless_verifier_accepts_are_refused(r: int, s: int) -> None:
    signer = Signer()
    jws = jwt.parse(signer.sign({}, CLAIMS))
    forged = jwt.Jws(jws.alg, jws.header, jws.claims, jws.signing_input, r.to_bytes(32, "big") + s.to_bytes(32, "big"))
    with pytest.raises(jwt.JwtError, match="does not verify"):
        jwt.verify(forged, signer.public)


def test_r_and_s_keep_their_leading_zeros() -> None:
    signer = Signer()
    for number in range(3000):
        jws = jwt.parse(signer.sign({}, {"n": number}))
        if jws.signature[0] == 0 or jws.signature[32] == 0:
            jwt.verify(jws, signer.public)
            assert decode_dss_signature(jwt._der(jws.signature))
            return
    pytest.fail("no signature with a leading zero came up")


@given(st.text(max_size=200))
def test_any_text_is_refused_or_parsed(text: str) -> None:
    with pytest.raises(jwt.JwtError):
        jwt.parse(text)


@given(st.binary(max_size=120), st.binary(max_size=120), st.binary(min_size=64, max_size=64))
def test_any_bytes_are_refused_or_do_not_verify(header: bytes, claims: bytes, signature: bytes) -> None:
    with pytest.raises(jwt.JwtError):
        jwt.verify(jwt.parse(f"{b64(header)}.{b64(claims)}.{b64(signature)}"), FIXED)


@given(st.binary(min_size=1, max_size=100))
def test_every_value_has_one_spelling(data: bytes) -> None:
    encoded = jwt.encode(data)
    assert jwt.decode(encoded) == data
    for last in set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") - {encoded[-1]}:
        try:
            assert jwt.decode(encoded[:-1] + last) != data
        except jwt.JwtError:
            continue
