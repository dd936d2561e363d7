"""Answers of the proxy's own, in the gateway's shape or in that of messages."""

import json
import secrets
from collections.abc import Mapping
from typing import Any

from account_gateway_client.proxy.paths import Dialect

_TYPES = {401: "authentication_error", 402: "billing_error", 403: "permission_error", 409: "conflict_error"}
_MESSAGES_TYPES = _TYPES | {
    404: "not_found_error",
    409: "rate_limit_error",
    413: "request_too_large",
    503: "overloaded_error",
}


class Refusal(Exception):
    """The proxy's answer to a request that does not go on, or whose answer did not come. Codes are the gateway's."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        *,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.details = dict(details or {})
        self.headers = dict(headers or {})

    def body(self, dialect: Dialect, request_id: str) -> bytes:
        """Write the body that a tool of the dialect reads."""
        error: dict[str, Any] = {
            "type": self._type(dialect),
            "code": self.code,
            "message": self.message,
            "param": self.param,
            "details": self.details,
        }
        if dialect is Dialect.MESSAGES:
            return json.dumps({"type": "error", "error": error, "request_id": request_id}).encode()
        return json.dumps({"error": {**error, "request_id": request_id}}).encode()

    def _type(self, dialect: Dialect) -> str:
        types = _MESSAGES_TYPES if dialect is Dialect.MESSAGES else _TYPES
        return types.get(self.status, "api_error" if self.status >= 500 else "invalid_request_error")


def new_request_id() -> str:
    """Make an id for an answer that the gateway has not seen."""
    return f"req_{secrets.token_hex(12)}"


def signed_out(message: str) -> Refusal:
    """Return the refusal while nobody is signed in."""
    return Refusal(401, "invalid_token", message)


def unreachable(base_url: str) -> Refusal:
    """Return the refusal while the gateway does not take connections; nothing was sent."""
    message = f"The gateway at {base_url} does not answer. Try again, and see `agw doctor`."
    return Refusal(503, "not_ready", message, headers={"Retry-After": "2"})


def lost() -> Refusal:
    """Return the refusal where the connection broke before an answer; a retry of the same call is not paid for twice."""
    message = "The connection to the gateway broke before it answered."
    return Refusal(502, "upstream_error", message, headers={"Retry-After": "1"})
