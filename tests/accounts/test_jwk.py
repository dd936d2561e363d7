"""Strict parsing of public keys."""

import contextlib
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from hypothesis import given
from hypothesis import strategies as st
from jwt import PyJWK

from accounts.rules import jwk
from tests.factories.proofs import Signer, b64

P256_P = 0xFFFFFFFF00000001000000000000000000000000FFFFFFFFFFFFFFFFFFFFFFFF
ED_P = 2**255 - 19
ED_ORDER_8_Y = "c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"
ED_ORDER_8_Y_NEGATED = "26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05"


@pytest.fixture(params=["ES256", "EdDSA"])
def signer(request: pytest.FixtureRequest) -> Signer:
    return Signer(request.param)


def refused(value: object, reason: str | None = None) -> None:
    with pytest.raises(jwk.JwkError, match=reason):
        jwk.parse(value)


def test_a_public_key_is_read(signer: Signer) -> None:
    key = jwk.parse(signer.jwk)
    assert (key.alg, dict(key.members)) == (signer.alg, signer.jwk)
    assert key.key == signer.private.public_key()


def test_the_thumbprint_is_rfc_7638s() -> None:
    # RFC 8037 appendix A.3
    key = {"kty": "OKP", "crv": "Ed25519", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}
    assert jwk.parse(key).thumbprint == "kPrK_qmxVWaYVA9wwBF6Iuo3vVzz7TxHCTwXBygrS4k"


def test_the_thumbprint_does_not_mind_harmless_members(signer: Signer) -> None:
    dressed = {"use": "sig", "kid": "k", "ext": True, "key_ops": ["verify"], "alg": signer.alg, **signer.jwk}
    assert jwk.parse(dressed).thumbprint == signer.jkt


def test_pyjwt_reads_the_same_key(signer: Signer) -> None:
    assert PyJWK.from_dict(signer.jwk).key == jwk.parse(signer.jwk).key


@pytest.mark.parametrize("value", [None, 1, True, "", "{}", [], [{}], {}, {"kty": "EC"}, {"kty": None, "crv": None}])
def test_malformed_keys_are_refused(value: object) -> None:
    refused(value)


@pytest.mark.parametrize("member", sorted(jwk.PRIVATE_MEMBERS))
def test_private_members_are_refused(signer: Signer, member: str) -> None:
    refused({**signer.jwk, member: "AQAB"}, "private")
    refused({**signer.jwk, member: None}, "private")


@pytest.mark.parametrize(
    ("kty", "crv"),
    [
        ("RSA", None),
        ("oct", None),
        ("EC", "P-384"),
        ("EC", "P-521"),
        ("EC", "secp256k1"),
        ("EC", "p-256"),
        ("ec", "P-256"),
        ("EC", "Ed25519"),
        ("OKP", "P-256"),
        ("OKP", "X25519"),
        ("OKP", "Ed448"),
        (["EC"], "P-256"),
        ("EC", {"P-256": 1}),
    ],
)
def test_other_kinds_of_keys_are_refused(kty: object, crv: object) -> None:
    refused({**Signer().jwk, "kty": kty, "crv": crv}, "neither")


def test_an_rsa_key_is_refused() -> None:
    refused({"kty": "RSA", "n": "AQAB" * 86, "e": "AQAB"}, "neither")


@pytest.mark.parametrize(
    "members",
    [
        {"use": "enc"},
        {"use": None},
        {"use": ["sig"]},
        {"alg": "ES384"},
        {"alg": "HS256"},
        {"alg": "ECDH-ES"},
        {"alg": "none"},
        {"alg": None},
        {"alg": []},
        {"key_ops": []},
        {"key_ops": ["sign"]},
        {"key_ops": ["encrypt"]},
        {"key_ops": "verify"},
        {"key_ops": None},
        {"key_ops": {"verify": 1}},
        {"key_ops": ["verify", "verify"]},
        {"key_ops": ["verify", 1]},
        {"key_ops": [["verify"]]},
    ],
)
def test_a_key_that_says_it_is_for_something_else_is_refused(signer: Signer, members: dict[str, Any]) -> None:
    refused({**signer.jwk, **members})


def test_a_key_of_the_other_algorithms_name_is_refused() -> None:
    refused({**Signer("ES256").jwk, "alg": "EdDSA"}, "alg")
    refused({**Signer("EdDSA").jwk, "alg": "ES256"}, "alg")


def spellings(value: str) -> list[Any]:
    stray = value[:-1] + chr(ord(value[-1]) + 1)
    return [
        None,
        1,
        True,
        [value],
        "",
        value[:-1],
        value + "A",
        value + "=",
        "AA" + value,
        value + "\n",
        " " + value,
        value[:20] + "+" + value[21:],
        value[:20] + "/" + value[21:],
        value[:20] + "é" + value[21:],
        stray,
    ]


@pytest.mark.parametrize("name", ["x", "y"])
def test_coordinates_have_one_spelling(name: str) -> None:
    key = Signer().jwk
    for spelling in spellings(key[name]):
        refused({**key, name: spelling}, "coordinate")
    refused({other: value for other, value in key.items() if other != name}, "coordinate")


def test_the_ed25519_coordinate_has_one_spelling() -> None:
    key = Signer("EdDSA").jwk
    for spelling in spellings(key["x"]):
        refused({**key, "x": spelling}, "coordinate")


def test_points_off_p256_are_refused() -> None:
    key = Signer().jwk
    refused({**key, "y": key["x"]}, "P-256")
    refused({**key, "x": key["y"], "y": key["x"]}, "P-256")
    refused({**key, "x": b64(bytes(32)), "y": b64(bytes(32))}, "P-256")


def test_a_point_of_another_curve_is_refused() -> None:
    numbers = ec.generate_private_key(ec.SECP256K1()).public_key().public_numbers()
    x, y = b64(numbers.x.to_bytes(32, "big")), b64(numbers.y.to_bytes(32, "big"))
    refused({"kty": "EC", "crv": "P-256", "x": x, "y": y}, "P-256")


def test_coordinates_beyond_the_field_are_refused() -> None:
    # The point with x = 5 spelled as 5 + p.
    y = 0x459243B9AA581806FE913BCE99817ADE11CA503C64D9A3C533415C083248FBCC
    honest = {"kty": "EC", "crv": "P-256", "x": b64((5).to_bytes(32, "big")), "y": b64(y.to_bytes(32, "big"))}
    assert jwk.parse(honest).alg == "ES256"
    refused({**honest, "x": b64((5 + P256_P).to_bytes(32, "big"))}, "P-256")


@pytest.mark.parametrize(
    "raw",
    [
        bytes(32),
        bytes(31) + b"\x80",
        b"\x01" + bytes(31),
        b"\x01" + bytes(30) + b"\x80",
        (ED_P - 1).to_bytes(32, "little"),
        bytes.fromhex(ED_ORDER_8_Y),
        bytes.fromhex(ED_ORDER_8_Y[:-2] + "fa"),
        bytes.fromhex(ED_ORDER_8_Y_NEGATED),
        bytes.fromhex(ED_ORDER_8_Y_NEGATED[:-2] + "85"),
        ED_P.to_bytes(32, "little"),
        (ED_P + 1).to_bytes(32, "little"),
        (2**255 - 1).to_bytes(32, "little"),
        b"\xff" * 32,
    ],
)
def test_ed25519_points_of_small_order_or_not_canonical_are_refused(raw: bytes) -> None:
    refused({"kty": "OKP", "crv": "Ed25519", "x": b64(raw)}, "Ed25519")


def test_half_of_all_texts_are_no_point_on_ed25519() -> None:
    verdicts = []
    for y in range(2, 202):
        try:
            jwk.parse({"kty": "OKP", "crv": "Ed25519", "x": b64(y.to_bytes(32, "little"))})
            verdicts.append(True)
        except jwk.JwkError:
            verdicts.append(False)
    assert 70 < sum(verdicts) < 130


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=50),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=10,
)


@given(st.dictionaries(st.sampled_from(["kty", "crv", "x", "y", "use", "alg", "key_ops", "d", "kid"]), JSON))
def test_any_object_is_refused(value: dict[str, Any]) -> None:
    refused(value)


@given(st.fixed_dictionaries({}, optional={"use": JSON, "alg": JSON, "key_ops": JSON, "kid": JSON, "ext": JSON}))
def test_any_dress_of_a_good_key_is_read_or_refused(dress: dict[str, Any]) -> None:
    with contextlib.suppress(jwk.JwkError):
        assert jwk.parse({**FIXED.jwk, **dress}).thumbprint == FIXED.jkt


FIXED = Signer()
