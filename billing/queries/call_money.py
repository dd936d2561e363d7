"""The money of one call, as the ledger's rows have it: what was held, from what, charged, and moved."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import F, Q, QuerySet

from billing.models import Budget, Call, Loss, PriceVersion, Seal, Takeover, Transfer, UsageRecord
from billing.queries import charges, seals
from billing.rules import hold_components
from billing.rules.charge_components import Component, Outcome, components_of
from billing.rules.prices import PriceList
from billing.rules.quantities import QUANTITY_NAMES, Quantities

BUDGETS_MAX = 50


@dataclass(frozen=True, slots=True)
class CallMoney:
    """What the ledger knows of a call's money.

    `held` explains the hold, from a `bound` that was kept for a while and that may be None; `charged` the charge, and `costed` the
    upstream's own. Each is empty if nothing explains the amount. `margin_microusd` is None unless charge and cost are known.
    """

    used: UsageRecord | None
    takeover: Takeover | None
    bound: Quantities | None
    held: list[Component]
    held_at: PriceVersion
    credits_held: list[tuple[str, int]]
    credits_charged: list[tuple[str, int]]
    budgets: list[Budget]
    charged: list[Component]
    costed: list[Component]
    transfers: list[Transfer]
    losses: list[Loss]
    seal: Seal | None

    @property
    def cost_microusd(self) -> int | None:
        """Return what the upstream charges for the call, None if it is not known."""
        return self.used.cost_microusd if self.used else None

    @property
    def margin_microusd(self) -> int | None:
        """Return what the operator earned, negative for a loss."""
        if self.used is None or self.used.cost_microusd is None:
            return None
        return self.used.charge_microusd - self.used.cost_microusd


def of_call(call: Call, hold_inputs: Mapping[str, object]) -> CallMoney:
    """Read the money of a call; `hold_inputs` is what its hold was computed from, empty if it was not kept."""
    used: UsageRecord | None = getattr(call, "usage_record", None)
    bound, held_at = hold_components.bound_of(hold_inputs), _held_at(call, hold_inputs)
    return CallMoney(
        used=used,
        takeover=getattr(call, "takeover", None),
        bound=bound,
        held=_held(call, bound, held_at),
        held_at=held_at,
        credits_held=list(zip(call.lot_ids or (), call.lot_amounts_microusd or (), strict=True)),
        credits_charged=charges.by_lot(call.pk),
        budgets=list(_budgets(call)[:BUDGETS_MAX]),
        charged=charges.components(call),
        costed=_costed(used) if used else [],
        transfers=list(Transfer.objects.filter(source=call.pk).order_by("kind", "seq")),
        losses=list(Loss.objects.filter(call=call).order_by("id")),
        seal=seals.covering(call),
    )


def _held_at(call: Call, hold_inputs: Mapping[str, object]) -> PriceVersion:
    """Return the price by which the hold was computed: the call's own, or that of a model that might have taken it over."""
    version_id = hold_inputs.get("price_version")
    if type(version_id) is not int or version_id == call.price_version_id:
        return call.price_version
    return PriceVersion.objects.filter(pk=version_id).first() or call.price_version


def _held(call: Call, bound: Quantities | None, version: PriceVersion) -> list[Component]:
    if bound is None:
        return []
    return hold_components.components_of(bound, PriceList.parse(version.components), call.hold_microusd)


def _costed(used: UsageRecord) -> list[Component]:
    if used.cost_microusd is None or used.cost_version is None:
        return []
    counts = {name: getattr(used, name) for name in QUANTITY_NAMES}
    cost = used.cost_microusd
    # Nothing caps a cost: with a hold beyond it, a part that no price explains is an adjustment.
    outcome = Outcome(charge_microusd=cost, cost_microusd=cost, hold_microusd=cost + 1, is_decided=False)
    quantities = Quantities(**counts, service_tier=used.service_tier)
    return components_of(quantities, PriceList.parse(used.cost_version.components), outcome)


def _budgets(call: Call) -> QuerySet[Budget]:
    """Find the budgets that count the call: those of its wallet whose subject it belongs to, and that there were by then."""
    return Budget.objects.filter(
        Q(product=None) | Q(product=call.product),
        Q(membership_id=None) | Q(membership_id=call.membership_id),
        Q(client_id=None) | Q(client_id=call.client_id),
        wallet=call.wallet_id,
        created_at__lte=call.created_at,
    ).order_by(F("product").asc(nulls_first=True), "period", "id")
