"""Proofs and assertions of the bench satisfy somebody else's verifier."""

import base64
import hashlib
import time

import jwt

from bench.identity import AUDIENCE, ISSUER, Customer, ProductServer
from bench.proofs import SigningKey, fresh_key

URL = "https://gateway.example/v1/chat/completions"


def test_proofs_are_signed_bound_to_the_token_and_used_once() -> None:
    key, began_at = SigningKey(), int(time.time())
    proofs = [proof.decode() for proof in key.sign_proofs(method="POST", url=URL, token="token", count=50)]
    claims = [jwt.decode(proof, jwt.PyJWK(key.jwk).key, algorithms=["ES256"]) for proof in proofs]
    header = jwt.get_unverified_header(proofs[0])
    ath = base64.urlsafe_b64encode(hashlib.sha256(b"token").digest()).rstrip(b"=").decode()
    assert (header["typ"], header["alg"], header["jwk"]) == ("dpop+jwt", "ES256", key.jwk)
    assert {(claim["htm"], claim["htu"], claim["ath"]) for claim in claims} == {("POST", URL, ath)}
    assert len({claim["jti"] for claim in claims}) == 50
    assert all(began_at <= claim["iat"] <= time.time() for claim in claims)


def test_assertions_are_short_lived_and_single_use() -> None:
    server, customer = ProductServer(), Customer("alice")
    assertions = [server.sign_assertion(customer) for _ in range(2)]
    key = jwt.PyJWK(server.jwks["keys"][0]).key
    claims = [jwt.decode(each, key, algorithms=["ES256"], audience=AUDIENCE, issuer=ISSUER) for each in assertions]
    assert claims[0]["sub"] == "did:web:bench.example:alice"
    assert claims[0]["exp"] - claims[0]["iat"] <= 60
    assert claims[0]["jti"] != claims[1]["jti"]


def test_keys_are_never_the_same() -> None:
    assert len({fresh_key("a") for _ in range(100)}) == 100
