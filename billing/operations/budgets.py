"""Set and disable an organization's budgets. SPEC: Organization-related resources, Budget."""

from datetime import datetime

from django.db import transaction
from django.db.models import QuerySet

from billing.models import Budget, Wallet
from billing.queries import locked, spending
from billing.queries.spending import PastCharges, Subject
from billing.rules.budgets import month_of, scope_of
from gateway.core.contract.ids import new_id

LIMIT_MAX_MICROUSD = 10**15


def put(
    org_id: str,
    *,
    limit_microusd: int,
    product: str | None = None,
    membership_id: str | None = None,
    now: datetime | None = None,
) -> Budget:
    """Set the limit of the subject's budget, and enable the budget if it was disabled.

    A subject's first budget starts with the month's spending so far and the current holds, so that a limit refuses
    the same calls whenever it is set. Calls continue while the month's spending is summed. Unless `now` is given, the
    database's clock determines the month, as everywhere in the ledger.
    """
    owner = ("organization", org_id)
    budget = None
    while budget is None:
        at = locked.instant(owner)
        subject = Subject(owner, product, membership_id, month_of(now or at))
        past = None if _of(subject).exists() else spending.charges_before(subject, at)
        budget = _put(subject, past, limit_microusd, now)
    return budget


def _put(subject: Subject, past: PastCharges | None, limit_microusd: int, now: datetime | None) -> Budget | None:
    """Set the limit. Return None if the subject's month ended before its first budget could be created."""
    with transaction.atomic():
        wallet = locked.wallet(subject.owner)
        budget = _of(subject).first()
        if budget is None:
            if month_of(now or locked.clock()) != subject.month:
                return None
            assert past is not None, "budgets are never deleted"
            budget = _open(wallet, subject, past)
        budget.limit_microusd = limit_microusd
        budget.disabled_at = None
        budget.save()
    return budget


@transaction.atomic
def disable(org_id: str, budget_id: str, *, now: datetime) -> Budget | None:
    """Disable a budget. It keeps counting but refuses no calls. Return None if the organization has no such budget."""
    wallet = locked.wallet(("organization", org_id))
    budget = Budget.objects.filter(wallet=wallet, id=budget_id).first()
    if budget is not None and budget.disabled_at is None:
        budget.disabled_at = now
        budget.save(update_fields=["disabled_at"])
    return budget


def _of(subject: Subject) -> QuerySet[Budget]:
    kind, key = subject.owner
    return Budget.objects.filter(
        wallet__owner_kind=kind,
        wallet__owner_key=key,
        product=subject.product,
        membership_id=subject.membership_id,
    )


def _open(wallet: Wallet, subject: Subject, past: PastCharges) -> Budget:
    spent, held = spending.total(subject, past)
    return Budget(
        id=new_id("bud"),
        wallet=wallet,
        scope=scope_of(subject.product, subject.membership_id),
        product=subject.product,
        membership_id=subject.membership_id,
        period_start=subject.month,
        held_microusd=held,
        spent_microusd=spent,
    )
