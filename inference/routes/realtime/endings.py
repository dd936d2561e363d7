"""How a session ends: the close code for the client, the error event before it, and the treatment of responses in
progress."""

from dataclasses import dataclass

from gateway.core.contract.errors import ApiError, MaxCostExceeded
from gateway.core.http.draining import ServerStopped
from gateway.core.telemetry.causes import Cause
from inference.rules.causes import of_reason

NORMAL = 1000
UPSTREAM = 1011
RESTART = 1012
TOKEN_ENDED = 4401
CEILING = 4402
ACCESS_LOST = 4403
IDLE = 4408
KEY_USED = 4409

LINGER_SECONDS = 5.0
"""How long cancelled responses may take to report their usage."""

FINISH_SECONDS = 60.0
"""How long responses covered by the hold may take to finish."""


@dataclass(frozen=True, slots=True)
class Ending:
    """`patience_seconds` is how long to wait for the upstream's reports; `finishes` lets responses finish.
    `review_reason` is set if the upstream's reports cannot be trusted or will not come. `cause` says why, unless the client ended the
    session."""

    code: int
    reason: str
    error: ApiError | None = None
    patience_seconds: float = LINGER_SECONDS
    finishes: bool = False
    review_reason: str | None = None
    cause: str = ""


LEFT = Ending(NORMAL, "the client left")
ENDED_IDLE = Ending(IDLE, "idle", cause=Cause.SESSION_IDLE)


def spent() -> Ending:
    """Build the end of a session whose hold does not cover another response."""
    message = "What is left of the maximum does not cover another response."
    error, cause = MaxCostExceeded(message), Cause.CUT_AT_CEILING
    return Ending(CEILING, "ceiling reached", error, FINISH_SECONDS, finishes=True, cause=cause)


def stopped(error: ApiError) -> Ending:
    """Build the end of a session whose token or access has ended, or whose server stops."""
    if isinstance(error, ServerStopped):
        return Ending(RESTART, "service restart", error, cause=Cause.SERVER_STOPPED)
    if error.status == 401:
        return Ending(TOKEN_ENDED, "token ended", error, cause=Cause.ACCESS_LOST)
    if error.status == 403:
        return Ending(ACCESS_LOST, "access lost", error, cause=Cause.ACCESS_LOST)
    return Ending(UPSTREAM, "closed", error, cause=Cause.ACCESS_LOST)


def broken(error: ApiError, reason: str) -> Ending:
    """Build the end of a session whose upstream disconnected, or reported an invalid usage."""
    cause = of_reason(reason, has_begun=True)
    return Ending(UPSTREAM, "upstream", error, patience_seconds=0.0, review_reason=reason, cause=cause)
