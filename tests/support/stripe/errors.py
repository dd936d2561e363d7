"""Refusals in the vendor's error envelope."""

from typing import Any


class Refusal(Exception):
    """An error response: status, type, code, param and a message."""

    def __init__(
        self,
        status: int,
        message: str,
        *,
        kind: str = "invalid_request_error",
        code: str | None = None,
        param: str | None = None,
        **members: Any,
    ) -> None:
        super().__init__(message)
        self.status = status
        self.error = {"code": code, "message": message, "param": param, "type": kind, **members}

    @property
    def is_stored(self) -> bool:
        """Return whether it is stored under the idempotency key: work had begun, and a bank refused."""
        return self.status == 402

    def envelope(self) -> dict[str, Any]:
        """Return the body; empty members are omitted, as by the vendor."""
        return {"error": {name: value for name, value in self.error.items() if value is not None}}


def missing(name: str) -> Refusal:
    """Refuse a request without a required parameter."""
    return Refusal(400, f"Missing required param: {name}.", code="parameter_missing", param=name)


def no_such(kind: str, object_id: str, param: str = "id", *, elsewhere: str = "") -> Refusal:
    """Refuse an id that this key does not see; `elsewhere` names the mode that has it."""
    message = f"No such {kind}: '{object_id}'"
    if elsewhere:
        other = "test" if elsewhere == "live" else "live"
        message += (
            f"; a similar object exists in {elsewhere} mode, but a {other} mode key was used to make this request."
        )
    return Refusal(404, message, code="resource_missing", param=param)
