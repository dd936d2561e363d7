"""Scripted misbehavior of the fake provider: a script waits for the next requests that match it."""

import asyncio
import dataclasses
import threading
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any


class Gate:
    """Holds a request until it is opened: on its way to the provider, or with its answer made."""

    def __init__(self, *, is_answered: bool = False) -> None:
        self.is_answered = is_answered
        self.is_reached = threading.Event()
        self._is_open = threading.Event()

    def open(self) -> None:
        """Release the request that waits."""
        self._is_open.set()

    async def wait(self) -> None:
        """Be reached, and wait until it is open."""
        self.is_reached.set()
        await asyncio.to_thread(self._is_open.wait)


@dataclass(frozen=True, slots=True)
class Behaviour:
    """Describes the response to one request. The default is an honest provider."""

    works: bool = True
    """Perform the operation, whatever the response then says."""
    status: int = 0
    """Respond with this error instead."""
    is_stored: bool = False
    """Store the error under the idempotency key, as the vendor does once work has begun."""
    form: str = "json"
    """json, garbage, empty, html, array."""
    cut: bool = False
    """Close the connection instead of responding."""
    delay_seconds: float = 0.0
    """The delay before the response, after the work."""
    retry_after_seconds: int | None = None
    gate: Gate | None = None


HONEST = Behaviour()
PRESETS = {
    "array": Behaviour(form="array"),
    "conflict": Behaviour(works=False, status=409),
    "drop-answer": Behaviour(cut=True),
    "drop-request": Behaviour(works=False, cut=True),
    "empty": Behaviour(form="empty"),
    "error": Behaviour(works=False, status=500),
    "error-after-work": Behaviour(status=500),
    "error-kept": Behaviour(works=False, status=500, is_stored=True),
    "forbidden": Behaviour(works=False, status=403),
    "garbage": Behaviour(form="garbage"),
    "html": Behaviour(works=False, status=502, form="html"),
    "rate-limited": Behaviour(works=False, status=429, retry_after_seconds=1),
    "slow": Behaviour(delay_seconds=30),
    "unauthorized": Behaviour(works=False, status=401),
    "unavailable": Behaviour(works=False, status=503),
}
ERRORS = {
    401: ("invalid_request_error", None, "Invalid API Key provided: sk_test_********dard"),
    403: ("invalid_request_error", "secret_key_required", "The provided key does not have the required permissions."),
    409: ("invalid_request_error", "lock_timeout", "This object cannot be accessed right now. Please try again."),
    429: ("invalid_request_error", "rate_limit", "Too many requests hit the API too quickly."),
}
HTML = b"<html><head><title>502 Bad Gateway</title></head><body>api-7.internal</body></html>"


@dataclass(slots=True)
class Script:
    """Responds to the next `times` matching requests as `behaviour` says; `path` may contain wildcards."""

    behaviour: Behaviour
    method: str | None = None
    path: str = "*"
    times: int = 1

    def matches(self, *request: str) -> bool:
        """Return whether this script waits for a request of this method and path."""
        method, path = request
        return self.method in {None, method} and fnmatchcase(path, self.path)


def script_of(preset: str | None, *, method: str | None, path: str, times: int, **settings: Any) -> Script:
    """Build a script from a preset, or from single settings over it."""
    behaviour = dataclasses.replace(PRESETS[preset] if preset else HONEST, **settings)
    return Script(behaviour, method, path, times)


def error_body(status: int) -> dict[str, Any]:
    """Return the body of an error that nothing in the request caused."""
    kind, code, message = ERRORS.get(status, ("api_error", None, "An unknown error occurred."))
    error = {"code": code, "message": message, "type": kind}
    return {"error": {name: value for name, value in error.items() if value is not None}}


def deform(payload: bytes, form: str) -> bytes:
    """Convert an honest body to what `form` says."""
    return {"array": b"[%s]" % payload, "empty": b"", "garbage": payload[: len(payload) // 2], "html": HTML}.get(
        form, payload
    )
