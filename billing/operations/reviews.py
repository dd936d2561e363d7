"""Resolve calls whose outcome is not known: each exactly once, whoever gets there first.

Billing knows no upstream. Whoever does registers a look-up (`register`), and reconciliation asks it first; else a call is
charged by what is known to have been delivered, or waits for the operator.
"""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from billing.models import Reservation
from billing.operations import ledger
from billing.queries import reviews
from billing.rules.quantities import QUANTITY_NAMES

log = logging.getLogger("billing.reviews")

_IN_REVIEW = ("review",)


@dataclass(frozen=True, slots=True)
class Finding:
    """What an upstream's own record says of a call: its cost and quantities, or that it took nothing (`cost` None)."""

    cost_microusd: int | None
    quantities: Mapping[str, int] = field(default_factory=dict)


LookUp = Callable[[Reservation], Finding | None]
_look_ups: list[LookUp] = []


def register(look_up: LookUp) -> None:
    """Have reconciliation ask `look_up` of every call in review; it gives None where the upstream cannot say (yet)."""
    if look_up not in _look_ups:
        _look_ups.append(look_up)


def resolve(usage_id: str, finding: Finding) -> bool:
    """Settle or release by the upstream's own record; False where the call was not in review any more."""
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
    quantities: Mapping[str, int] | None = None,
    basis: str = "operator",
    resolution: str = "operator",
) -> bool:
    """Charge a call in review, at most its hold; False where it was not in review any more."""
    settled = ledger.settle(
        usage_id=usage_id,
        cost_microusd=cost_microusd,
        basis=basis,
        quantities=quantities or {},
        resolution=resolution,
        expected=_IN_REVIEW,
    ).run()
    return settled.outcome is ledger.CloseOutcome.SETTLED


def release(usage_id: str, *, resolution: str = "operator", book_loss: bool = False) -> bool:
    """Give a reviewed call's hold back; False where it was not in review any more."""
    released = ledger.release(usage_id=usage_id, resolution=resolution, book_loss=book_loss, expected=_IN_REVIEW).run()
    return released.outcome is ledger.CloseOutcome.RELEASED


def reconcile(*, limit: int = 500) -> int:
    """Resolve what can be resolved now; return how many calls were. One that fails does not keep the others waiting."""
    return sum(_reconcile_one(call) for call in reviews.waiting(limit))


def release_unresolved(*, now: datetime, after: timedelta, limit: int = 500) -> int:
    """Release, in the customer's favour, what has had no evidence for so long, and book it as a possible loss."""
    released = 0
    for call in reviews.waiting(limit, since=now - after):
        if release(call.id, resolution="unresolved", book_loss=True):
            log.error("call %s released without evidence: possibly lost %d micro-USD", call.id, call.hold_microusd)
            released += 1
    return released


def _reconcile_one(call: Reservation) -> bool:
    for look_up in _look_ups:
        try:
            finding = look_up(call)
        except Exception:
            log.exception("looking up call %s failed", call.id)
            continue
        if finding is not None:
            return resolve(call.id, finding)
    return _charge_delivered(call)


def _charge_delivered(call: Reservation) -> bool:
    evidence = call.evidence or {}
    if "charge_microusd" not in evidence:
        return False
    quantities = {name: count for name, count in evidence.items() if name in QUANTITY_NAMES}
    return charge(
        call.id,
        cost_microusd=evidence["charge_microusd"],
        quantities=quantities,
        basis="delivered",
        resolution="delivered",
    )
