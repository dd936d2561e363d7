"""Resolve calls with an unknown outcome, each exactly once. Billing knows no upstream: other apps register a look-up
(`register`), which reconciliation asks first. Otherwise a call is charged by what is known to have been delivered, or
waits for the operator.
"""

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from functools import partial

from billing.models import Call
from billing.operations import costs, ledger
from billing.operations.deadlines import deadline
from billing.queries import reviews
from billing.rules.check_intervals import next_look_up
from billing.rules.cost import USAGE_COLUMNS

log = logging.getLogger("billing.reviews")

STEP_SECONDS = 8.0
"""The time limit of each part of a run; all parts end before the next run begins."""
LOOK_UPS_MAX = 500
"""How many calls are looked up at the upstreams in one run."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The upstream's own record of a call: its cost and usage record, or that nothing was used (`cost` None)."""

    cost_microusd: int | None
    quantities: Mapping[str, int | str] = field(default_factory=dict)


LookUp = Callable[[Call], Finding | None]


@dataclass(frozen=True, slots=True)
class Source:
    """A look-up that reconciliation uses: `look_up`, while `is_any` returns that an upstream can be asked."""

    look_up: LookUp
    is_any: Callable[[], bool]


_sources: list[Source] = []


def register(look_up: LookUp, *, is_any: Callable[[], bool] = lambda: True) -> None:
    """Register `look_up`, which reconciliation calls for every call in review; it returns None if the upstream cannot
    say (yet).

    It is called again for the same call after a minute at the earliest, with growing delays. While `is_any` returns
    False, calls do not wait for a look-up.
    """
    if look_up not in [source.look_up for source in _sources]:
        _sources.append(Source(look_up, is_any))


def resolve(usage_id: str, finding: Finding) -> bool:
    """Settle or release a call by the upstream's own record; return False if it was no longer in review."""
    if finding.cost_microusd is None:
        return release(usage_id, resolution="upstream")
    return charge(
        usage_id,
        cost_microusd=finding.cost_microusd,
        quantities=finding.quantities,
        basis="upstream",
        resolution="upstream",
    )


def charge(
    usage_id: str,
    *,
    cost_microusd: int,
    quantities: Mapping[str, int | str] | None = None,
    basis: str = "operator",
    resolution: str = "operator",
) -> bool:
    """Charge a call in review, at most its hold; return False if it was no longer in review."""
    settled = ledger.settle_review(
        usage_id=usage_id,
        cost_microusd=cost_microusd,
        basis=basis,
        quantities=_with_cost(usage_id, quantities) if quantities else {},
        resolution=resolution,
    ).run()
    return settled.outcome is ledger.CloseOutcome.SETTLED


def _with_cost(usage_id: str, usage: Mapping[str, int | str]) -> Mapping[str, int | str]:
    """Add the cost of the usage at the call's upstream, if it is known."""
    call = Call.objects.filter(pk=usage_id).first()
    return {**usage, **costs.recorded_of_review(call, usage)} if call else usage


def release(usage_id: str, *, resolution: str = "operator", book_loss: bool = False) -> bool:
    """Release the hold of a call in review; return False if it was no longer in review."""
    released = ledger.release_review(usage_id=usage_id, resolution=resolution, book_loss=book_loss).run()
    return released.outcome is ledger.CloseOutcome.RELEASED


def reconcile(*, now: datetime, seconds: float = STEP_SECONDS) -> int:
    """Resolve what can be resolved now; return how many calls were resolved.

    First the upstreams are asked, with growing delays per call; then calls are charged by what was delivered. Each part
    ends after `seconds`, and the next run continues. A call that fails does not delay the others.
    """
    look_ups = _look_ups()
    look_up = partial(_look_up, look_ups, now=now)
    found = _each(reviews.to_look_up(now, LOOK_UPS_MAX), look_up, seconds) if look_ups else 0
    return found + _each(reviews.one_by_one(reviews.delivered(looked_up=bool(look_ups))), _charge_delivered, seconds)


def release_unresolved(*, now: datetime, after: timedelta, seconds: float = STEP_SECONDS) -> int:
    """Release, in the customer's favor, calls without evidence for longer than `after`, and book them as possible
    losses.

    Ends after `seconds`; the next run continues.
    """
    calls = reviews.unresolved(now - after, looked_up=bool(_look_ups()))
    return _each(reviews.one_by_one(calls), _give_up, seconds)


def _each(calls: Iterable[Call], resolve: Callable[[Call], bool], seconds: float) -> int:
    is_over = deadline(seconds)
    resolved = 0
    for call in calls:
        try:
            resolved += resolve(call)
        except Exception:
            log.exception("call %s could not be resolved", call.id)
        if is_over():
            break
    return resolved


def _look_ups() -> list[LookUp]:
    return [source.look_up for source in _sources if source.is_any()]


def _look_up(look_ups: Iterable[LookUp], call: Call, *, now: datetime) -> bool:
    findings = (_ask(look_up, call) for look_up in look_ups)
    finding = next((finding for finding in findings if finding is not None), None)
    age = now - (call.dispatched_at or call.created_at)
    # Recorded in any case: a finding that cannot be booked must not be looked up first in every run.
    ledger.note_look_up(usage_id=call.id, next_at=now + next_look_up(age)).run()
    return finding is not None and resolve(call.id, finding)


def _ask(look_up: LookUp, call: Call) -> Finding | None:
    try:
        return look_up(call)
    except Exception:
        log.exception("looking up call %s failed", call.id)
        return None


def _charge_delivered(call: Call) -> bool:
    evidence = call.evidence or {}
    quantities = {name: count for name, count in evidence.items() if name in USAGE_COLUMNS}
    return charge(
        call.id,
        cost_microusd=evidence["charge_microusd"],
        quantities=quantities,
        basis="delivered",
        resolution="delivered",
    )


def _give_up(call: Call) -> bool:
    is_released = release(call.id, resolution="unresolved", book_loss=True)
    if is_released:
        log.error("call %s released without evidence: possibly lost %d micro-USD", call.id, call.hold_microusd)
    return is_released
