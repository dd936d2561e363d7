"""Public keys as people have them, and what is said about what is none."""

import json
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric import ec, ed25519, rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat

from accounts.rules import jwk, key_files
from accounts.rules.key_files import KeyFileRefused

P256, EDWARDS = ec.generate_private_key(ec.SECP256R1()), ed25519.Ed25519PrivateKey.generate()
RSA, P384 = rsa.generate_private_key(65537, 2048), ec.generate_private_key(ec.SECP384R1())
SECRET = "Zm9vYmFyc2VjcmV0"


def pem(key: Any) -> str:
    public = key.public_key()
    return str(public.public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo).decode())


def private(key: Any, form: PrivateFormat = PrivateFormat.PKCS8) -> str:
    return str(key.private_bytes(Encoding.PEM, form, NoEncryption()).decode())


def of(key: Any, **more: Any) -> dict[str, Any]:
    return {**jwk.of_public_key(key.public_key()).members, **more}


@pytest.mark.parametrize("key", [P256, EDWARDS])
def test_a_key_is_read_from_pem_and_json(key: Any) -> None:
    assert key_files.parse(pem(key)) == [of(key)]
    assert key_files.parse(f"a comment\r\n{pem(key)}", "k1") == [of(key, kid="k1")]
    assert key_files.parse(json.dumps(of(key, kid="k1"))) == [of(key, kid="k1")]
    assert key_files.parse(json.dumps({"keys": [of(key, kid="k1", use="sig")]})) == [of(key, kid="k1", use="sig")]


def test_several_keys_are_read() -> None:
    assert key_files.parse(pem(P256) + pem(EDWARDS)) == [of(P256), of(EDWARDS)]
    both = [of(P256, kid="a"), of(EDWARDS, kid="b")]
    assert key_files.parse(json.dumps({"keys": both})) == both


REFUSED = [
    ("", "Choose a file"),
    ("  \n", "Choose a file"),
    ("x" * 40_000, "larger than"),
    ("ssh-ed25519 AAAA", "neither PEM nor a JSON object"),
    ("[]", "neither PEM nor a JSON object"),
    ('{"a": 1, "a": 2}', "neither PEM nor a JSON object"),
    ('{"keys": []}', "The set has no keys"),
    ('{"keys": {}}', "The set has no keys"),
    ('{"keys": [1]}', "Key 1 of 1: not an object"),
    (json.dumps(of(P256, d=SECRET)), "Key 1 of 1 is private. Nobody but your product's server"),
    (json.dumps({"keys": [of(P256), {"kty": "oct", "k": SECRET}]}), "Key 2 of 2 is private"),
    (json.dumps({"kty": "RSA", "n": "AQAB", "e": "AQAB", "d": SECRET}), "is an RSA key"),
    (json.dumps({"kty": "EC", "crv": "P-384", "x": "a", "y": "b"}), "is on the curve 'P-384'"),
    (json.dumps(of(P256) | {"crv": "secp256k1"}), "is on the curve 'secp256k1'"),
    (json.dumps(of(P256) | {"y": of(P256)["x"]}), "not a point on P-256"),
    (json.dumps(of(P256, use="enc")), "use is not sig"),
    (json.dumps({"keys": [of(P256, kid="a"), of(EDWARDS, kid="a")]}), "the same key ID"),
    (json.dumps(of(P256, kid=7)), "must be text"),
    (private(P256), "This is a private key. Nobody but"),
    (private(P256, PrivateFormat.TraditionalOpenSSL), "This is a private key"),
    (private(RSA), "This is a private key"),
    (pem(P256) + private(EDWARDS), "This is a private key"),
    (pem(RSA), "This is an RSA key"),
    (pem(P384), "on the curve secp384r1"),
    (pem(P256).replace("-----END PUBLIC KEY-----", ""), "has no end"),
    ("-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----", "damaged"),
    ("-----BEGIN PUBLIC KEY-----\n\u00e4\n-----END PUBLIC KEY-----", "damaged"),
    ("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----", "This is a certificate"),
    ("-----BEGIN PGP PUBLIC KEY BLOCK-----\nA\n-----END PGP PUBLIC KEY BLOCK-----", "PEM of another kind"),
]


@pytest.mark.parametrize(("text", "words"), REFUSED)
def test_what_is_wrong_is_said_and_the_secret_is_not(text: str, words: str) -> None:
    with pytest.raises(KeyFileRefused, match=words) as refused:
        key_files.parse(text)
    assert SECRET not in str(refused.value)


def test_one_key_id_does_not_fit_several_keys() -> None:
    with pytest.raises(KeyFileRefused, match="does not fit"):
        key_files.parse(pem(P256) + pem(EDWARDS), "k1")


def test_keys_are_added_beside_others() -> None:
    first, second = of(P256, kid="a"), of(EDWARDS, kid="b")
    assert key_files.merged([first], [second]) == [first, second]
    for old, new, words in (
        (first, of(P256, kid="b"), "has this key already"),
        (first, of(EDWARDS, kid="a"), "another key with the key ID 'a'"),
        (first, of(EDWARDS), "each needs a key ID"),
        (of(P256), second, "each needs a key ID"),
    ):
        with pytest.raises(KeyFileRefused, match=words):
            key_files.merged([old], [new])
