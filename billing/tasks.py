"""Billing's jobs. Each may run twice, concurrently or late, without repeating another run's effect."""

import logging
from collections.abc import Sequence
from datetime import timedelta

from celery import shared_task
from django.conf import settings
from django.utils import timezone

from billing.models import ProviderEvent
from billing.operations import (
    auto_top_up_charges,
    auto_top_ups,
    events,
    invoice_payments,
    invoices,
    ledger,
    limits,
    margins,
    payment_matching,
    payment_methods,
    reconciliation,
    replays,
    reviews,
    seals,
    usage_days,
)
from billing.queries import audit
from gateway.core.contract.ids import new_id
from gateway.core.database.clock import database_now
from gateway.core.jobs.operations.messages import notify
from gateway.core.jobs.operations.recording import job
from gateway.core.telemetry.operations import traffic_days

log = logging.getLogger("billing.tasks")

BATCH = 100

AUDITED = timedelta(hours=1)
"""The period that the frequent audit covers: several of its intervals, so that a missed run leaves no gap."""


@job("calls")
def reap() -> int:
    """Move calls past their deadline to review."""
    reaped = 0
    while rows := ledger.reap(limit=BATCH).rows():
        for usage_id, outcome in rows:
            log.warning("call %s was abandoned: %s", usage_id, outcome)
        reaped += len(rows)
    return reaped


@job("calls")
def reconcile() -> dict[str, int]:
    """Resolve calls in review: by the upstream's record, by what was delivered, or, after long enough, as a loss."""
    now = timezone.now()
    after = timedelta(hours=settings.REVIEW_RELEASE_HOURS)
    return {"resolved": reviews.reconcile(now=now), "released": reviews.release_unresolved(now=now, after=after)}


@job("checkouts")
def reconcile_payments() -> dict[str, int]:
    """Compare checkouts with the payment provider's record, and repay debts from released money."""
    compared = reconciliation.reconcile(now=timezone.now())
    repaid = 0
    while rows := ledger.repay_debts(limit=BATCH).rows():
        repaid += len(rows)
    return {**compared, "debts": repaid}


@job("charges")
def charge_auto_top_ups() -> dict[str, int]:
    """Send the charges of automatic top-up and follow up those with an unknown outcome; delete removed payment methods."""
    now = database_now()  # it leases charges
    return {**auto_top_up_charges.send_all(now=now), "forgotten": payment_methods.forget_removed(now=now)}


@job("charges")
def find_auto_top_ups() -> int:
    """Begin the automatic top-ups that no change of a wallet began: after a month has turned, or a credit has expired."""
    return auto_top_ups.begin_missed(now=database_now())  # by the clock with which they are sent


@job("days")
def match_payments() -> dict[str, int]:
    """Match past days of the payment provider's balance with our payments; raise the alarm for each difference."""
    return payment_matching.match(now=timezone.now())


@job("invoice payments")
def collect_invoices() -> dict[str, int]:
    """Follow up charges with an unknown outcome; if collection is enabled, issue drafts and charge them."""
    now, since = timezone.now(), settings.SEAT_COLLECTION_FROM
    followed = {"followed": invoice_payments.follow(now=now)}
    if since is None:
        return followed
    return {
        **followed,
        "issued": invoices.issue_all(since=since, now=now),
        "begun": invoice_payments.collect(now=now),
        "past due": invoices.mark_past_due(now=now),
    }


@shared_task
def handle_event(event_pk: int) -> None:
    """Process a payment provider's event now; `reconcile_payments` retries it if that fails."""
    event = ProviderEvent.objects.get(pk=event_pk)
    if event.handled_at is not None:
        return
    try:
        events.handle(event, now=timezone.now())
    except Exception:
        log.exception("event %s is left to the scheduled job", event.event_id)


def hand_over(event: ProviderEvent) -> None:
    """Send an event to a worker once it is committed; if no worker can be notified, the schedule finds it."""
    notify(handle_event, event.pk, f"event {event.event_id}")


@job("credits")
def sweep_lots() -> int:
    """Post the remainder of expired credits."""
    swept = 0
    while rows := ledger.sweep_lots(limit=BATCH).rows():
        swept += len(rows)
    return swept


@job("credits")
def merge_lots() -> int:
    """Merge credits of the same terms if a wallet has more of them than a call may hold."""
    merged = 0
    while rows := ledger.merge_lots(lot_id=new_id("crd")).rows():
        [(wallet_id, lots, amount_microusd)] = rows
        log.info("merged %d credits of wallet %s into one of %d micro-USD", lots, wallet_id, amount_microusd)
        merged += lots
    return merged


@job("answers")
def purge_replays() -> int:
    """Delete expired stored responses."""
    return replays.purge(now=timezone.now())


@job("rows")
def purge_limit_uses() -> int:
    """Count used tokens that no call has counted for an hour, and delete those of no rate limit."""
    return limits.purge_uses(now=timezone.now())


@job("events")
def purge_events() -> int:
    """Delete the payment provider's events that are no longer needed."""
    return events.purge(now=timezone.now())


@job("seals")
def seal_ledger() -> int:
    """Seal what closed since the last run."""
    return int(seals.seal() is not None)


@job("calls")
def roll_up_usage() -> int:
    """Add the calls that closed since the last run to the daily totals that reports read, and sum the requests of past
    days."""
    traffic_days.roll_up(now=timezone.now())
    return usage_days.roll_up()


@job("models")
def check_margins() -> int:
    """Raise the alarm for each model whose last calls cost more than they earned."""
    return margins.check(now=timezone.now())


@job("findings")
def audit_ledger() -> int:
    """Check balances, and what closed within the last hour; raise the alarm for each finding."""
    return _alarm(audit.findings(since=timezone.now() - AUDITED))


@job("findings")
def audit_whole_ledger() -> int:
    """Check everything that was ever booked, and every seal; raise the alarm for each finding."""
    return _alarm(audit.findings())


def _alarm(findings: Sequence[audit.Finding]) -> int:
    for finding in findings:
        log.critical("ledger audit: %s", finding)
    return len(findings)
