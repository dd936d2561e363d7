"""Idempotency keys: the first response under a key, a success or an error, is its only one.

A request that was refused before its work began stores no response. Keys expire after a day, as the vendor's may.
"""

from dataclasses import dataclass, field
from typing import Any

from tests.support.stripe.errors import Refusal
from tests.support.stripe.request import Request

RETENTION_SECONDS = 24 * 60 * 60
KEY_CHARACTERS_MAX = 255


@dataclass(slots=True)
class Answer:
    """A response: a status, a JSON body, and headers."""

    status: int
    body: Any
    headers: dict[str, str] = field(default_factory=dict)


@dataclass(slots=True)
class _Stored:
    fingerprint: tuple[str, str, dict[str, Any]]
    at: int
    answer: Answer | None = None
    request_id: str = ""


class IdempotencyKeys:
    """The keys of each mode; only POST has them."""

    def __init__(self) -> None:
        self._stored: dict[tuple[bool, str], _Stored] = {}

    def begin(self, request: Request, *, request_id: str, now: int) -> Answer | None:
        """Return the key's stored response, or take the key; refuse a mismatch."""
        place = _place(request)
        if place is None:
            return None
        if len(place[1]) > KEY_CHARACTERS_MAX:
            raise Refusal(400, "Idempotency keys are at most 255 characters.", kind="idempotency_error")
        stored = self._stored.get(place)
        if stored is None or stored.at + RETENTION_SECONDS <= now:
            self._stored[place] = _Stored(_fingerprint(request), now, request_id=request_id)
            return None
        _require_same(request, stored)
        if stored.answer is None:
            message = (
                "There is currently another in-progress request using this Idempotent Key. Please try again later."
            )
            raise Refusal(409, message, kind="idempotency_error", code="idempotency_key_in_use")
        headers = {"Idempotent-Replayed": "true", "Original-Request": stored.request_id}
        return Answer(stored.answer.status, stored.answer.body, headers)

    def finish(self, request: Request, answer: Answer) -> None:
        """Store the response for repetitions."""
        place = _place(request)
        if place is not None and place in self._stored:
            self._stored[place].answer = answer

    def abandon(self, request: Request) -> None:
        """Release the key: the work never began."""
        if (place := _place(request)) is not None:
            self._stored.pop(place, None)

    def forget(self) -> None:
        """Forget every key."""
        self._stored.clear()


def _place(request: Request) -> tuple[bool, str] | None:
    if request.method != "POST" or request.idempotency_key is None:
        return None
    return request.live, request.idempotency_key


def _fingerprint(request: Request) -> tuple[str, str, dict[str, Any]]:
    return request.method, request.path, request.params


def _require_same(request: Request, stored: _Stored) -> None:
    if stored.fingerprint == _fingerprint(request):
        return
    what = "parameters" if stored.fingerprint[1] == request.path else "endpoint"
    message = (
        f"Keys for idempotent requests can only be used for the same {what} they were first used "
        f"{'with' if what == 'parameters' else 'for'}. Try using a key other than '{request.idempotency_key}' if you "
        "meant to execute a different request."
    )
    raise Refusal(400, message, kind="idempotency_error")
