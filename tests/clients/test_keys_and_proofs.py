"""Keys and the proofs they sign, read back by PyJWT."""

import base64
import json
import time
from pathlib import Path

import jwt
import pytest
import yaml
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519

from account_gateway_client import ProductKey, ProofKey, dpop_proof
from tests.clients.verifier import Refused, thumbprint, verify_proof

URL = "https://gateway.example/v1/wallet"


def test_a_proof_names_the_method_the_target_and_the_token() -> None:
    key, began_at = ProofKey.generate(), int(time.time())
    claims = verify_proof(
        dpop_proof(key, "get", URL + "?limit=5#top", access_token="t"),
        method="GET",
        target=URL,
        token="t",
        seen=set(),
    )
    assert claims["jkt"] == key.thumbprint == thumbprint(key.jwk)
    assert began_at <= claims["iat"] <= time.time()
    assert claims["exp"] == claims["iat"] + 60
    assert "nonce" not in claims


def test_no_two_proofs_are_the_same() -> None:
    key, seen = ProofKey.generate(), set[str]()
    for _ in range(50):
        proof = dpop_proof(key, "GET", URL, access_token="t")
        verify_proof(proof, method="GET", target=URL, token="t", seen=seen)
    with pytest.raises(Refused, match="replayed"):
        verify_proof(proof, method="GET", target=URL, token="t", seen=seen)


def test_a_proof_without_a_token_carries_no_ath_and_one_with_a_nonce_carries_it() -> None:
    claims = jwt.decode(dpop_proof(ProofKey.generate(), "POST", URL, nonce="n-1"), options={"verify_signature": False})
    assert "ath" not in claims
    assert claims["nonce"] == "n-1"


def test_a_bare_origin_is_proved_with_its_slash() -> None:
    claims = jwt.decode(
        dpop_proof(ProofKey.generate(), "GET", "https://a.example"), options={"verify_signature": False}
    )
    assert claims["htu"] == "https://a.example/"


def test_the_header_shows_only_the_public_half() -> None:
    header = jwt.get_unverified_header(dpop_proof(ProofKey.generate(), "GET", URL))
    assert set(header) == {"typ", "alg", "jwk"}
    assert set(header["jwk"]) == {"kty", "crv", "x", "y"}


def test_coordinates_are_always_32_bytes() -> None:
    for _ in range(300):  # one in 128 keys has a coordinate with a leading zero byte
        jwk = ProofKey.generate().jwk
        assert {len(base64.urlsafe_b64decode(jwk[name] + "=")) for name in ("x", "y")} == {32}


@pytest.mark.parametrize("password", [None, b"correct horse"])
def test_a_saved_key_is_the_same_key_and_only_its_owner_reads_it(tmp_path: Path, password: bytes | None) -> None:
    key, path = ProofKey.generate(), tmp_path / "key.pem"
    key.save(path, password)
    assert path.stat().st_mode & 0o777 == 0o600
    assert ProofKey.load(path, password).thumbprint == key.thumbprint
    with pytest.raises(FileExistsError):
        ProofKey.generate().save(path)


def test_other_kinds_of_keys_are_refused() -> None:
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    for other in (ed25519.Ed25519PrivateKey.generate(), ec.generate_private_key(ec.SECP384R1())):
        with pytest.raises(ValueError, match="P-256"):
            ProofKey.from_pem(other.private_bytes(*plain))


@pytest.mark.parametrize("content", [b"", b"-----BEGIN PRIVATE KEY-----\nMA==\n-----END PRIVATE KEY-----\n", b"{}"])
def test_a_file_without_a_key_is_named(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "product.pem"
    file.write_bytes(content)
    with pytest.raises(ValueError, match=r"product\.pem has no key that can be read: "):
        ProductKey.load(file)


def test_a_file_that_needs_another_password_is_named(tmp_path: Path) -> None:
    file = tmp_path / "product.pem"
    ProductKey.generate().save(file, b"secret")
    for password in (None, b"guess"):
        with pytest.raises(ValueError, match=r"product\.pem has no key that can be read: .*[Pp]assword"):
            ProductKey.load(file, password)


def test_a_product_publishes_the_public_half_of_its_key() -> None:
    key = ProductKey.generate()
    assert key.public_jwks() == {
        "keys": [{**key.jwk, "kid": thumbprint(key.jwk), "use": "sig", "alg": "ES256"}],
    }


def test_a_products_key_set_goes_into_the_configuration_file_printed_or_dumped() -> None:
    keys = ProductKey.generate().public_jwks()
    for text in (str(keys), json.dumps(keys), yaml.safe_dump(keys)):
        assert yaml.safe_load(text) == keys
