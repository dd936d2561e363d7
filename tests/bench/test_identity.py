"""What the bench's customers send satisfies somebody else's verifier, and nothing of it is sent twice."""

import base64
import hashlib
import time

import jwt

from bench.identity import Customer
from bench.servers import GATEWAY_BASE_URL

PATH = "/v1/chat/completions"


def test_proofs_are_signed_bound_to_the_token_and_used_once() -> None:
    customer, began_at = Customer("alice", token="token"), int(time.time())
    proofs = [customer.headers("POST", PATH, 1000)["DPoP"] for _ in range(50)]
    claims = [jwt.decode(proof, jwt.PyJWK(customer.key.jwk).key, algorithms=["ES256"]) for proof in proofs]
    header = jwt.get_unverified_header(proofs[0])
    ath = base64.urlsafe_b64encode(hashlib.sha256(b"token").digest()).rstrip(b"=").decode()
    assert (header["typ"], header["alg"], header["jwk"]) == ("dpop+jwt", "ES256", customer.key.jwk)
    assert {(claim["htm"], claim["htu"], claim["ath"]) for claim in claims} == {("POST", GATEWAY_BASE_URL + PATH, ath)}
    assert len({claim["jti"] for claim in claims}) == 50
    assert all(began_at <= claim["iat"] <= time.time() for claim in claims)


def test_keys_are_never_the_same() -> None:
    customer = Customer("alice", token="token")
    assert len({customer.headers("POST", PATH, 1000)["Idempotency-Key"] for _ in range(100)}) == 100
