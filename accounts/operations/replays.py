"""Accepts each proof once. RFC 9449 section 11.1.

The rule is the SQL function `accounts_admit`, which the metered path calls inside its own statement. Proofs must be
recorded in a transaction that is not rolled back later.
"""

from datetime import UTC, datetime, timedelta

from django.db import connection, connections
from django.db.models import DateTimeField, Value
from django.db.models.functions import Greatest, Now

from accounts.models import ProofReplay, ReplayEpoch
from accounts.operations import limits
from accounts.rules.dpop import ProofTicket
from gateway.core.api.challenges import challenged
from gateway.core.contract.errors import ApiError, InvalidDpopProof, InvalidToken
from gateway.core.contract.limits import PROOF_MAX_AGE_SECONDS, PROOF_MAX_AHEAD_SECONDS
from gateway.core.contract.rate_limits import RateLimit
from gateway.core.contract.route_limits import RouteLimit
from gateway.core.database.history import histories
from gateway.core.database.purge import purge

PROOF_LIFE_MAX = timedelta(seconds=PROOF_MAX_AGE_SECONDS + 2 * PROOF_MAX_AHEAD_SECONDS + 1)
"""The longest that a proof can still be valid if its clock is as far ahead as allowed. Its time is rounded up to a second."""

_ADMIT = "SELECT accounts_admit(%s, %s, %s, %s, %s)"

_ADMIT_WITHIN = f"""
WITH taken AS ({limits.TAKE})
SELECT accounts_admit(%(proof)s, %(issued_at)s, %(expires_at)s, %(did)s, %(session_id)s), taken.used, taken.ends_at
  FROM taken
"""  # noqa: S608 - a constant


def admit(ticket: ProofTicket, *, did: str | None = None, session_id: str | None = None) -> None:
    """Record a proof for a live account and session, or raise InvalidDpopProof or InvalidToken.

    Without `did`, only the proof is checked and recorded (token requests).
    """
    with connection.cursor() as cursor:
        cursor.execute(_ADMIT, admit_arguments(ticket, did=did, session_id=session_id))
        (outcome,) = cursor.fetchone()
    error = refusal(outcome)
    if error:
        raise error


def admit_within(
    limit: RouteLimit, ticket: ProofTicket, *, did: str, session_id: str | None, now: datetime
) -> tuple[RateLimit, ApiError | None]:
    """Record a proof as `admit` does, if the account is within the limit, or raise RateLimited and record nothing. Return what is
    left of the limit, and the error that refuses the caller, if one does.

    One statement, so that a limit costs a management request no round trip.
    """
    names = ("proof", "issued_at", "expires_at", "did", "session_id")
    admitted = dict(zip(names, admit_arguments(ticket, did=did, session_id=session_id), strict=True))
    with connection.cursor() as cursor:
        cursor.execute(_ADMIT_WITHIN, limits.parameters(limit, did, now=now) | admitted)
        row = cursor.fetchone()
    if row is None:
        raise limits.used_up(limit, did, now=now)
    outcome, used, ends_at = row
    return limits.state(limit, used, ends_at, now=now), refusal(outcome)


def _behind_newest() -> datetime | None:
    """Return a time later than any history of this database that this machine has used, None if it has used none."""
    newest = histories.newest_of(str(ReplayEpoch.objects.get().origin))
    return newest + timedelta(microseconds=1) if newest else None


def admit_arguments(
    ticket: ProofTicket, *, did: str | None, session_id: str | None
) -> tuple[bytes, datetime, datetime, str | None, str | None]:
    """Return the arguments of `accounts_admit` in order, for statements that call it."""
    issued_at = datetime.fromtimestamp(ticket.issued_at, UTC)
    return ticket.digest, issued_at, datetime.fromtimestamp(ticket.expires_at, UTC), did, session_id


def refusal(outcome: str) -> ApiError | None:
    """Return the error for an outcome of `accounts_admit`, or None for `ok`."""
    match outcome:
        case "ok":
            return None
        case "replayed":
            return challenged(InvalidDpopProof("The DPoP proof was refused: it was already used."))
        case "epoch":
            message = "The DPoP proof was refused: it may already have been used. Send a new one."
            return challenged(InvalidDpopProof(message))
    return challenged(InvalidToken(private=outcome))


def begin_epoch(*, using: str = "default") -> None:
    """Start the store's epoch if there is none, after migrations and after a flush."""
    with connections[using].cursor() as cursor:
        cursor.execute("SELECT to_regproc('accounts_begin_epoch') IS NOT NULL")
        if cursor.fetchone()[0]:
            cursor.execute("SELECT accounts_begin_epoch() WHERE NOT EXISTS (SELECT 1 FROM accounts_replay_epoch)")


def refuse_earlier() -> datetime:
    """Refuse all proofs that may have been used until now, because the store may have lost their rows. Return the time:
    proofs that expire by then are refused.

    This begins a new history of the database, so that machines accept it that have used a newer copy: also one that began
    when the clock was ahead, if this machine has used it.
    """
    begin_epoch()
    until = Greatest("lost_until", Now() + PROOF_LIFE_MAX)  # PostgreSQL's GREATEST ignores NULL
    behind_newest = Value(_behind_newest(), output_field=DateTimeField())
    ReplayEpoch.objects.update(lost_until=until, began_at=Greatest("began_at", Now(), behind_newest))
    lost_until = ReplayEpoch.objects.get().lost_until
    assert lost_until is not None
    return lost_until


def purge_expired(*, now: datetime) -> int:
    """Delete proofs that have expired on every machine, clock skew included; return how many."""
    return purge(ProofReplay.objects.filter(expires_at__lt=now).order_by("expires_at"))
