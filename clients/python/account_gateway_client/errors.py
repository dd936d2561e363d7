"""What can go wrong.

ClientError
  ForeignOrigin      a request was about to carry the token to another origin
  InvalidEvent       a request is not an event that the gateway has just signed
  InvalidReceipt     a signed receipt is not the gateway's, or does not add up
  UnsafeRetry        a retry could not be matched to its call, so its Idempotency-Key is not known
  GatewayUnreachable the gateway did not answer
  GatewayError       the gateway refused; code, status and request id say why
"""

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing_extensions import Self  # typing has it from Python 3.11 on


class ClientError(Exception):
    """The base of every error raised here."""


class ForeignOrigin(ClientError):
    """A request was about to carry the token to another origin than the gateway's."""


class InvalidEvent(ClientError):
    """A request is not an event that the gateway has just signed for this endpoint. The text says why."""


class InvalidReceipt(ClientError):
    """A signed receipt is not the gateway's, or does not add up. The text says why."""


class UnsafeRetry(ClientError):
    """A retry could not be matched to the call it belongs to; a new key would pay for the call twice."""


class GatewayUnreachable(ClientError):
    """The gateway did not answer."""


class GatewayError(ClientError):
    """The gateway refused. `code` is stable and meant for programs, `message` is for people. `reason` is the cause, which
    only a gateway in development tells."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str = "",
        *,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        request_id: str | None = None,
        reason: str | None = None,
    ) -> None:
        self.status = status
        self.code = code
        self.message = message
        self.param = param
        self.details = dict(details or {})
        self.request_id = request_id
        self.reason = reason
        text = f"{status} {code}: {message}" if message else f"{status} {code}"
        super().__init__(f"{text} Reason: {reason}" if reason else text)

    @classmethod
    def of(cls, status: int, body: Any) -> "Self":
        """Read an error body: the API's shape, that of OAuth (RFC 6749 section 5.2), or that of messages, whose request id is
        beside the error."""
        error = body.get("error") if isinstance(body, Mapping) else None
        if isinstance(error, Mapping):
            return cls(
                status,
                str(error.get("code")),
                str(error.get("message", "")),
                param=error.get("param"),
                details=error.get("details"),
                request_id=error.get("request_id") or body.get("request_id"),
            )
        if isinstance(error, str):
            return cls(
                status,
                error,
                str(body.get("error_description", "")),
                param=body.get("param"),
                request_id=body.get("request_id"),
                reason=body.get("reason"),
            )
        return cls(status, "unreadable", "The answer is not the gateway's.")
