"""A call that is in progress."""

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

from billing.operations.closings import Evidence, OpenCall, Takeover
from billing.rules.prices import cost_microusd
from billing.rules.quantities import Quantities
from gateway.core.contract.errors import NotReady
from inference.interface.model import DeploymentTarget
from inference.interface.plan import CallPlan, longest_seconds
from inference.interface.request import Fallback
from inference.interface.upstream import CallContext
from inference.metering import journal
from inference.metering.checks import Checked
from inference.metering.journal import Entry

log = logging.getLogger("inference.calls")


@dataclass
class Call:
    """One metered call. `deployment` is the one that was tried last; `client_left` is set by the request's own task.

    `record` holds the id of the upstream's own record of the call, if the upstream reports one and its records are looked up.
    The plan refers to `record` and not to the call: such a reference cycle would keep the body in memory until the garbage
    collector runs. `fallback` is the model that took the call over, and whose prices the call is charged at.
    """

    checked: Checked
    entry: Entry
    deployment: DeploymentTarget | None = None
    client_left: bool = False
    record: dict[str, str] = field(default_factory=dict)
    fallback: Fallback | None = None

    @classmethod
    def begin(cls, checked: Checked) -> "Call":
        """Begin the call's journal entry. Raises NotReady if the journal has no room."""
        try:
            return cls(checked, journal.begin(checked.usage_id))
        except OSError as error:
            raise NotReady(private=f"no room in the journal: {error}", headers={"Retry-After": "1"}) from error

    @cached_property
    def plan(self) -> CallPlan[Any]:
        """Return the request to send and the deployments that may serve it."""
        checked = self.checked
        return CallPlan(
            route=checked.route.name,
            endpoints=checked.route.endpoints,
            deployments=checked.model.deployments,
            request=checked.request,
            call=CallContext(
                usage_id=checked.usage_id,
                public_model=checked.model.name,
                public_id=checked.public_id,
                on_send=self.entry.sent,
                on_generation=partial(self.record.__setitem__, "generation_id"),
            ),
        )

    @property
    def longest_seconds(self) -> float:
        """Return the longest time until the call is answered or its stream has begun, including the fallback's time."""
        fallback = self.checked.request.fallback
        return self.plan.longest_seconds + (longest_seconds(fallback.model.deployments) if fallback else 0.0)

    def fall_back(self) -> bool:
        """Switch the call to its fallback model. Return False if it has none."""
        fallback = self.checked.request.fallback
        if fallback is None:
            return False
        self.fallback = fallback
        self.checked = replace(self.checked, model=fallback.model, price=fallback.price, request=fallback.request)
        del self.plan
        return True

    @property
    def usage_id(self) -> str:
        """Return the call's id, which its hold and its usage record share."""
        return self.checked.usage_id

    @property
    def reference(self) -> OpenCall:
        """Return the data about the call that a closing needs."""
        deployment, fallback = self.deployment.id if self.deployment else None, self.fallback
        takeover = Takeover(fallback.model.name, fallback.price.id) if fallback else None
        return OpenCall(self.checked.principal.owner, self.usage_id, deployment, takeover)

    @property
    def hold_microusd(self) -> int:
        """Return the most that the call can cost its owner."""
        return self.checked.request.hold_microusd

    @property
    def bills_errors(self) -> bool:
        """Return whether the upstream may bill for error responses."""
        return self.deployment is not None and self.deployment.upstream.bills_errors

    def tried(self, deployment: DeploymentTarget) -> None:
        """Record the deployment that the call is sent to."""
        self.deployment = deployment
        self.record.clear()

    def cost_microusd(self, used: Quantities) -> int:
        """Compute the cost of quantities at the prices of the hold. Raises PriceError."""
        return cost_microusd(used, self.checked.price.prices)

    def evidence(self, used: Quantities) -> Evidence:
        """Return the quantities delivered so far, as evidence for a review."""
        charge_microusd = min(self.cost_microusd(used), self.hold_microusd)
        return {**used.counts(), "charge_microusd": charge_microusd, **self.record}


def stored_or_nothing(call: Call, stored: Callable[[], Mapping[str, Any]]) -> Mapping[str, Any]:
    """Return what the closing stores of an answer, or nothing if that fails, because the charge must not depend on it."""
    try:
        return stored()
    except Exception:
        log.exception("%s: its answer could not be stored", call.usage_id)
        return {}
