"""The jobs of the accounts app. Each may run twice."""

from datetime import timedelta

from django.utils import timezone

from accounts.operations import (
    authorize,
    cache_entries,
    closing,
    codes,
    devices,
    exchange,
    limits,
    operator_log,
    portal_sessions,
    receipt_keys,
    refusals,
    replays,
    signing_keys,
)
from gateway.core.jobs.operations.recording import job

SIGNING_KEY_LIFETIME = timedelta(days=30)
RECEIPT_KEY_LIFETIME = timedelta(days=365)
PUBLISHED_AHEAD = timedelta(hours=1)  # longer than any cache stores the public keys


@job("proofs")
def purge_proofs() -> int:
    """Delete expired records of used proofs; return how many."""
    return replays.purge_expired(now=timezone.now())


@job("assertions")
def purge_assertions() -> int:
    """Delete the records of expired assertions, and of old refusals; return how many."""
    now = timezone.now()
    return exchange.purge_expired(now=now) + refusals.purge(now=now)


@job("authorizations")
def purge_authorizations() -> dict[str, int]:
    """Delete old authorization requests, codes and device sessions; return how many."""
    now = timezone.now()
    return {
        "requests": authorize.purge_expired(now=now),
        "codes": codes.purge_expired(now=now),
        "sessions": devices.purge_ended(now=now),
    }


@job("cache entries")
def purge_cache() -> int:
    """Delete expired cache entries; return how many."""
    return cache_entries.purge_expired(now=timezone.now())


@job("closed accounts")
def erase_closed() -> int:
    """Delete what is still stored for closed accounts; return how many of them are done with."""
    return closing.erase(now=timezone.now())


@job("limits")
def purge_limits() -> int:
    """Delete the counts of limits whose window has ended; return how many."""
    return limits.purge_ended(now=timezone.now())


@job("browsers")
def purge_portal_sessions() -> int:
    """Delete expired portal sessions and the records of their browsers; return the number of browsers."""
    return portal_sessions.purge_ended(now=timezone.now())


@job("entries")
def purge_operator_log() -> int:
    """Delete entries of the operators' log that are older than `AUDIT_DAYS`; return how many."""
    return operator_log.purge(now=timezone.now())


@job("signing keys")
def tend_signing_keys() -> None:
    """Rotate the signing key and the key of receipts if they are due, and retire keys whose tokens have all expired."""
    now = timezone.now()
    signing_keys.rotate_if_due(
        now=now, signing_since=now - SIGNING_KEY_LIFETIME, published_before=now - PUBLISHED_AHEAD
    )
    signing_keys.retire_expired(now=now)
    receipt_keys.rotate_if_due(now=now, signing_since=now - RECEIPT_KEY_LIFETIME)
