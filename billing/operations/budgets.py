"""Set and disable an owner's budgets. SPEC: Organization-related resources, Budget."""

from datetime import date, datetime
from enum import Enum
from typing import Final, Literal, NamedTuple

from django.db import transaction
from django.db.models import QuerySet

from billing.models import Budget, Wallet
from billing.operations import ledger
from billing.queries import budgets, locked, spending
from billing.queries.spending import PastCharges
from billing.rules.budgets import BudgetPeriod, Subject, begin_of
from billing.rules.owners import Owner
from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.ids import new_id


class Keep(Enum):
    """What leaves an override as it is."""

    KEEP = "keep"


KEEP: Final = Keep.KEEP


class Override(NamedTuple):
    """A limit that is in force instead of the budget's own, until an instant."""

    limit_microusd: int
    until: datetime


class Raise(NamedTuple):
    """A change from the limit in force that an operator saw to a higher one, for good or until an instant."""

    from_microusd: int
    to_microusd: int
    until: datetime | None


NewOverride = Override | None | Literal[Keep.KEEP]
"""What a budget's override is to be: another, none, or what it was."""


class _Change(NamedTuple):
    limit_microusd: int
    override: NewOverride


def put(
    subject: Subject,
    *,
    limit_microusd: int,
    period: BudgetPeriod = BudgetPeriod.MONTH,
    override: NewOverride = KEEP,
    now: datetime | None = None,
) -> Budget:
    """Set the limit and the override of the subject's budget for this kind of period, and enable the budget if it was
    disabled.

    A subject's first budget starts with the period's spending so far and the current holds, so that a limit refuses
    the same calls whenever it is set. Calls continue while the period's spending is summed. Unless `now` is given, the
    database's clock determines the period, as everywhere in the ledger. Raises InvalidRequest if the override has ended.
    """
    change = _Change(limit_microusd, override)
    budget = None
    while budget is None:
        at = locked.instant(subject.owner)
        begin = begin_of(period, now or at)
        past = None if _of(subject, period).exists() else spending.charges_before(subject, begin, at)
        budget = _put(subject, period, begin, past, change, now)
    return budget


def _put(
    subject: Subject,
    period: BudgetPeriod,
    begin: date,
    past: PastCharges | None,
    change: _Change,
    now: datetime | None,
) -> Budget | None:
    """Make the change. Return None if the subject's period ended before its first budget could be created."""
    with transaction.atomic():
        wallet = locked.wallet(subject.owner)
        at = now or locked.clock()
        budget = _of(subject, period).first()
        if budget is None:
            if begin_of(period, at) != begin:
                return None
            assert past is not None, "budgets are never deleted"
            budget = _open(wallet, subject, period, past)
        _set_override(budget, change.override, at)
        budget.limit_microusd = change.limit_microusd
        budget.disabled_at = None
        budget.save()
        _watch(budget, at)
    return budget


def _set_override(budget: Budget, override: NewOverride, now: datetime) -> None:
    if override is KEEP:
        return
    if override is not None and override.until <= now:
        raise InvalidRequest("An override must end in the future.", param="override.until")
    budget.override_limit_microusd, budget.override_until = override or (None, None)


@transaction.atomic
def end_override(owner: Owner, budget_id: str) -> Budget | None:
    """End a budget's override. Return None if the owner has no such budget."""
    budget = _locked(owner, budget_id)
    if budget is not None:
        budget.override_limit_microusd = budget.override_until = None
        budget.save(update_fields=["override_limit_microusd", "override_until"])
        _watch(budget, locked.clock())
    return budget


@transaction.atomic
def raise_limit(budget_id: str, change: Raise, *, now: datetime) -> bool:
    """Raise a budget that is on, as an operator decided; return False if its limit in force is another, and then nothing changed.

    With `until`, the limit is an override; without, it is the budget's own, and an override ends.
    """
    owner = Wallet.objects.values_list("owner_kind", "owner_key").get(budgets=budget_id)
    budget = _locked(owner, budget_id)
    if budget is None or budget.disabled_at is not None or budget.limit_at(now) != change.from_microusd:
        return False
    if change.to_microusd <= change.from_microusd:
        return False
    if change.until is None:
        budget.limit_microusd = change.to_microusd
    _set_override(budget, None if change.until is None else Override(change.to_microusd, change.until), now)
    budget.save(update_fields=["limit_microusd", "override_limit_microusd", "override_until"])
    _watch(budget, now)
    return True


@transaction.atomic
def disable(owner: Owner, budget_id: str, *, now: datetime) -> Budget | None:
    """Disable a budget. It keeps counting but refuses no calls. Return None if the owner has no such budget."""
    budget = _locked(owner, budget_id)
    if budget is not None and budget.disabled_at is None:
        budget.disabled_at = now
        budget.save(update_fields=["disabled_at"])
    return budget


def _watch(budget: Budget, now: datetime) -> None:
    """Record the thresholds that the wallet's budgets have reached, as a charge does."""
    ledger.watch_budgets(wallet_id=budget.wallet_id, now=now).run()


def _locked(owner: Owner, budget_id: str) -> Budget | None:
    return Budget.objects.filter(wallet=locked.wallet(owner), id=budget_id).first()


def _of(subject: Subject, period: str) -> QuerySet[Budget]:
    return budgets.of_subject(subject).filter(period=period)


def _open(wallet: Wallet, subject: Subject, period: str, past: PastCharges) -> Budget:
    spent, held = spending.total(subject, past)
    return Budget(
        id=new_id("bud"),
        wallet=wallet,
        scope=subject.scope,
        product=subject.product,
        membership_id=subject.membership_id,
        client_id=subject.client_id,
        period=period,
        period_start=past.begin,
        held_microusd=held,
        spent_microusd=spent,
    )
