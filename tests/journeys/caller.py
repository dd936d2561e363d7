"""A caller that shares no code with the gateway: PyJWT signs its assertions and proofs, httpx carries its requests."""

import base64
import hashlib
import json
import time
import uuid
from typing import Any

import httpx
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from jwt.algorithms import ECAlgorithm

from tests.support import plain_http

ISSUER = "https://studio.example"
AUDIENCE = "https://gateway.example"
DID_PREFIX = "did:web:studio.example:"


class Key:
    """An ES256 key pair; `jwk` is its public half."""

    def __init__(self) -> None:
        self.private = ec.generate_private_key(ec.SECP256R1())
        self.jwk: dict[str, str] = json.loads(ECAlgorithm.to_jwk(self.private.public_key()))
        self.jwk = {name: self.jwk[name] for name in ("kty", "crv", "x", "y")}

    def sign(self, claims: dict[str, Any], headers: dict[str, Any]) -> str:
        return jwt.encode(claims, self.private, algorithm="ES256", headers=headers)


class Caller:
    """One account's client: it exchanges an assertion of the product's and then proves its own key on each request."""

    def __init__(self, base_url: str, product_key: Key, name: str) -> None:
        self.base_url = base_url
        self.product_key = product_key
        self.did = DID_PREFIX + name
        self.key = Key()
        self.token = ""
        self.http = plain_http.client(base_url=base_url, timeout=30)

    def __enter__(self) -> "Caller":
        return self

    def __exit__(self, *exc: object) -> None:
        self.http.close()

    def assertion(self, capabilities: list[str], **claims: Any) -> str:
        now = int(time.time())
        standard = {"iss": ISSUER, "aud": AUDIENCE, "sub": self.did, "product": "studio", "capabilities": capabilities}
        times = {"iat": now, "exp": now + 60, "jti": uuid.uuid4().hex}
        return self.product_key.sign({**standard, **times, **claims}, {"kid": "k1"})

    def exchange(self, assertion: str, **members: Any) -> httpx.Response:
        body = {"assertion": assertion, "dpop_jwk": self.key.jwk, **members}
        return self.http.post("/v1/auth/token/exchange", json=body)

    def sign_in(self, *capabilities: str) -> "Caller":
        response = self.exchange(self.assertion(list(capabilities)))
        assert response.status_code == 200, response.text
        self.token = response.json()["access_token"]
        return self

    def proof(self, method: str, path: str, **claims: Any) -> str:
        ath = base64.urlsafe_b64encode(hashlib.sha256(self.token.encode()).digest()).rstrip(b"=").decode()
        target = self.base_url + path.partition("?")[0]
        standard = {"htm": method, "htu": target, "iat": int(time.time()), "jti": uuid.uuid4().hex, "ath": ath}
        return self.key.sign({**standard, **claims}, {"typ": "dpop+jwt", "jwk": self.key.jwk})

    def headers(self, method: str, path: str) -> dict[str, str]:
        return {"Authorization": f"DPoP {self.token}", "DPoP": self.proof(method, path)}

    def get(self, path: str) -> httpx.Response:
        return self.http.get(path, headers=self.headers("GET", path))

    def post(self, path: str, body: Any, *, max_cost: int = 100_000, key: str | None = None) -> httpx.Response:
        return self.http.post(path, json=body, headers=self.paid_headers(path, max_cost, key))

    def paid_headers(self, path: str, max_cost: int = 100_000, key: str | None = None) -> dict[str, str]:
        metering = {"Idempotency-Key": key or uuid.uuid4().hex, "x-service-max-cost-microusd": str(max_cost)}
        return self.headers("POST", path) | metering

    def chat(
        self, text: str = "Hello there.", *, max_cost: int = 100_000, key: str | None = None, **members: Any
    ) -> httpx.Response:
        return self.post("/v1/chat/completions", chat_body(text, **members), max_cost=max_cost, key=key)

    def wallet(self) -> dict[str, Any]:
        return self.get("/v1/wallet").json()

    def usage(self, limit: int = 100) -> list[dict[str, Any]]:
        return self.get(f"/v1/usage?limit={limit}").json()["data"]


def chat_body(text: str = "Hello there.", **members: Any) -> dict[str, Any]:
    return {"model": "fast", "messages": [{"role": "user", "content": text}], **members}
