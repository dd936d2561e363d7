"""Who may use the proxy: a program of this computer that knows its secret, and never a web page."""

import hmac
import ipaddress
from collections.abc import Mapping

from account_gateway_client.proxy.refusals import Refusal

HOST = "127.0.0.1"
HOST_NAMES = (HOST, "localhost")


class Admission:
    """The checks of one proxy. Raises Refusal."""

    def __init__(self, port: int, secret: str) -> None:
        self._hosts = frozenset(f"{name}:{port}" for name in HOST_NAMES)
        self._secret = secret.encode("ascii")

    def check(self, peer: str | None, headers: Mapping[str, str]) -> None:
        """Admit a request by where it comes from and by its secret; `headers` has lower-case names, and several values of
        one name joined by a comma."""
        self._check_origin(peer, headers)
        if not self._knows_secret(headers):
            message = "Send the proxy's secret as API key: `agw proxy` printed it when it started."
            raise Refusal(401, "invalid_token", message, headers={"WWW-Authenticate": 'Bearer realm="agw proxy"'})

    def _check_origin(self, peer: str | None, headers: Mapping[str, str]) -> None:
        if peer is None or not ipaddress.ip_address(peer).is_loopback:
            raise Refusal(403, "forbidden", "The proxy serves programs of its own computer only.")
        if headers.get("host", "").lower() not in self._hosts:  # a name that was rebound to this address
            raise Refusal(403, "forbidden", f"The proxy is asked for as {' or '.join(sorted(self._hosts))} only.")
        if "origin" in headers or headers.get("sec-fetch-site", "none") != "none":
            raise Refusal(403, "forbidden", "The proxy does not serve web pages.")

    def _knows_secret(self, headers: Mapping[str, str]) -> bool:
        scheme, _, token = headers.get("authorization", "").partition(" ")
        is_bearer = self._is_secret(token.strip() if scheme.lower() == "bearer" else "")
        return self._is_secret(headers.get("x-api-key", "")) or is_bearer

    def _is_secret(self, sent: str) -> bool:
        """Compare in a time that tells nothing."""
        return hmac.compare_digest(sent.encode("utf-8"), self._secret)
