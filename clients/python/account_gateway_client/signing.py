"""Signs requests for one gateway, and decides when a refused one is worth a second try."""

from collections.abc import Mapping
from typing import Any, Protocol

from account_gateway_client.errors import ForeignOrigin
from account_gateway_client.proofs import dpop_proof
from account_gateway_client.tokens import TokenSource
from account_gateway_client.urls import origin_of, target_of

UNAUTHORIZED = 401


class Request(Protocol):
    """What the requests of httpx, httpx2 and requests have in common."""

    @property
    def method(self) -> Any: ...

    @property
    def url(self) -> Any: ...

    @property
    def headers(self) -> Any: ...


class RequestSigner:
    """Puts the token and a fresh proof on requests. Remembers the nonce that the gateway gave last."""

    def __init__(self, base_url: str, tokens: TokenSource) -> None:
        self.tokens = tokens
        self._origin = origin_of(base_url)
        self._nonce: str | None = None

    def serves(self, url: str) -> bool:
        """Return whether the URL is the gateway's."""
        return origin_of(url) == self._origin

    def sign(self, request: Request, token: str) -> None:
        """Authorize the request as it stands, or raise ForeignOrigin: no other origin ever sees the token."""
        url = str(request.url)
        if not self.serves(url):
            raise ForeignOrigin(f"{target_of(url)} is not a URL of the gateway.")
        request.headers.update(self.headers(str(request.method), url, token))

    def headers(self, method: str, url: str, token: str) -> dict[str, str]:
        """Return the two headers of one request."""
        proof = dpop_proof(self.tokens.key, method, url, access_token=token, nonce=self._nonce)
        return {"Authorization": f"DPoP {token}", "DPoP": proof}

    def learn(self, headers: Mapping[str, str]) -> None:
        """Take the nonce for the next proofs. RFC 9449 section 8.2."""
        if nonce := headers.get("DPoP-Nonce"):
            self._nonce = nonce


class Repairs:
    """What one call may try after a 401, each thing once. Nothing was done for a request that got one."""

    def __init__(self, signer: RequestSigner) -> None:
        self._signer = signer
        self._tried: set[str] = set()

    def worthwhile(self, status: int, headers: Mapping[str, str], sent: Request, *, moved: bool = False) -> bool:
        """Return whether to sign and send the request again. `moved`: a redirect changed it after it was signed."""
        self._signer.learn(headers)
        if status != UNAUTHORIZED or not self._signer.serves(str(sent.url)):
            return False
        reason = "moved" if moved else _reason(headers)
        if reason is None or reason in self._tried:
            return False
        self._tried.add(reason)
        if reason == "invalid_token":
            self._signer.tokens.forget(sent.headers["Authorization"].removeprefix("DPoP "))
        return True


def _reason(headers: Mapping[str, str]) -> str | None:
    challenge = headers.get("WWW-Authenticate", "")
    return next((code for code in ("use_dpop_nonce", "invalid_token") if f'error="{code}"' in challenge), None)
