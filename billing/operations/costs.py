"""Publish what upstreams charge, as dated rows that are never edited, and compute what a call cost by them."""

import logging
from collections.abc import Callable, Mapping
from datetime import datetime
from functools import partial
from typing import Any

from django.db import transaction

from billing.models import Call, CostVersion
from billing.queries import costs
from billing.rules.costs import upstream_cost_microusd
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.database.turns import take_turn
from gateway.core.runtime.logs import RecurringLog

_failed = RecurringLog("billing.costs", logging.ERROR)


def take_cost_turn(deployment: str) -> None:
    """Wait for other transactions that publish a cost of this deployment, and let later ones wait for the caller's."""
    take_turn("cost of " + deployment)


@transaction.atomic
def publish(deployment: str, components: Mapping[str, Any], *, now: datetime) -> CostVersion | None:
    """Add a version that applies from now on, without components if the cost is not known; return None if the one in force
    is the same.

    Raises PriceError if a component cannot be read.
    """
    cost_list = PriceList.parse(components)
    take_cost_turn(deployment)
    newest = costs.newest(deployment)
    if PriceList.parse(newest.components if newest else {}) == cost_list:
        return None
    if newest is not None:  # `now` may have been read before somebody else's turn
        now = max(now, newest.effective_at + datetime.resolution)
    return CostVersion.objects.create(deployment=deployment, components=dict(components), effective_at=now)


def recorded(version_id: int, compute: Callable[[], int | None]) -> dict[str, int]:
    """Return what a usage record says of a cost that is computed at this version; nothing if it is not known.

    Never raises, because no charge depends on a cost.
    """
    try:
        cost_microusd = compute()
    except Exception as error:  # noqa: BLE001 - see above
        text = f"the cost of a call at version {version_id} is not known: {type(error).__name__}: {error}"
        _failed.write(str(version_id), text)
        return {}
    return {} if cost_microusd is None else {"cost_microusd": cost_microusd, "cost_version_id": version_id}


def recorded_of_review(call: Call, usage: Mapping[str, int | str]) -> dict[str, int]:
    """Return the same for the usage of a call in review, by what its deployment cost when it was sent."""
    version = costs.in_force(call.deployment, call.dispatched_at or call.created_at) if call.deployment else None
    return recorded(version.pk, partial(_cost_microusd, version, usage)) if version else {}


def _cost_microusd(version: CostVersion, usage: Mapping[str, Any]) -> int | None:
    used = Quantities(**{name: value for name, value in usage.items() if name != "price_band"})
    return upstream_cost_microusd(used, PriceList.parse(version.components), used.service_tier)
