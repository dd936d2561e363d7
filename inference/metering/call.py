"""A call that is in progress."""

from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

from billing.operations import costs
from billing.operations.closings import Closing, Evidence, OpenCall, TakeoverTerms
from billing.operations.ledger import CloseOutcome, Release, Settlement
from billing.rules.cost import cost_microusd, usage_of
from billing.rules.costs import upstream_cost_microusd
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from gateway.core.contract.errors import NotReady
from gateway.core.telemetry import observers
from gateway.core.telemetry.causes import Cause
from gateway.core.telemetry.observation import Observation, Outcome
from inference.interface.model import CostVersion, DeploymentTarget
from inference.interface.plan import CallPlan
from inference.interface.request import BoundedRequest
from inference.interface.upstream import CallContext, Stream
from inference.interface.upstream import Outcome as UpstreamOutcome
from inference.metering import closing, journal, observing, unpriced
from inference.metering.admission import Arrival, Checked
from inference.metering.journal import Entry
from inference.metering.unpriced import Counter

Row = TypeVar("Row", Settlement, Release, CloseOutcome)


@dataclass(slots=True)
class Call:
    """One metered call. What it sends and at which prices changes if a fallback model takes it over; `reference` also
    names the deployment that was tried last, at `upstream`, which may bill for error responses (`bills_errors`), and charges the
    operator by `costs`, if they are known.

    `generation` holds the id of the upstream's own record of the call, if the upstream reports one and its records are looked up.
    The plan refers to `generation` and not to the call: such a reference cycle would keep the body in memory until the garbage
    collector runs. For the same reason, `observation` refers to nothing of the call. `client_left` is set by the request's own task.
    """

    checked: Checked
    arrival: Arrival
    entry: Entry
    usage_id: str
    request: BoundedRequest
    hold_microusd: int
    prices: PriceList
    plan: CallPlan[Any]
    reference: OpenCall
    generation: dict[str, str]
    observation: Observation
    upstream: str = ""
    bills_errors: bool = False
    costs: CostVersion | None = None
    client_left: bool = False

    @classmethod
    def begin(cls, checked: Checked) -> "Call":
        """Begin the call's journal entry. Raises NotReady if the journal has no room."""
        try:
            entry = journal.begin(checked.usage_id)
        except OSError as error:
            raise NotReady(private=f"no room in the journal: {error}", headers={"Retry-After": "1"}) from error
        generation: dict[str, str] = {}
        return cls(
            checked=checked,
            arrival=checked.arrival,
            entry=entry,
            usage_id=checked.usage_id,
            request=checked.request,
            hold_microusd=checked.request.hold_microusd,
            prices=checked.price.prices,
            plan=_plan(checked, entry, generation),
            reference=OpenCall(owner=checked.arrival.principal.owner, usage_id=checked.usage_id),
            generation=generation,
            observation=checked.arrival.observation,
        )

    def tried(self, deployment: DeploymentTarget) -> None:
        """Record the deployment that the call is sent to."""
        self.reference = self.reference._replace(deployment=deployment.id)
        self.upstream, self.bills_errors = deployment.upstream.name, deployment.upstream.bills_errors
        self.costs = deployment.cost_at(datetime.now(UTC)) if deployment.costs else None
        self.generation.clear()
        self.observation.begin_attempt(deployment.id, deployment.upstream.name)

    def returned(self, outcome: UpstreamOutcome | Stream) -> None:
        """Record how the attempt at that deployment ended."""
        observing.returned(self.observation, outcome)

    async def close(self, ending: Closing[Row], outcome: Outcome, cause: str = "") -> Row | None:
        """Deliver the call's closing; None if it is still being retried. `outcome` is what it is meant to become, and `cause` why, if
        it is not the whole answer."""
        row = await closing.deliver(self.entry, ending)
        if self.client_left:
            cause = cause or Cause.CLIENT_LEFT.value
        observing.closed(self.observation, outcome, cause, row)
        return row

    def end(self, request: BoundedRequest) -> None:
        """End the request that was begun: the call is closed, or was never open."""
        try:
            request.end()
        finally:
            observers.leave(self.observation)

    def fall_back(self) -> bool:
        """Switch the call to its fallback model. Return False if it has none."""
        fallback = self.request.fallback
        if fallback is None:
            return False
        self.request, self.prices = fallback.request, fallback.price.prices
        self.hold_microusd = fallback.request.hold_microusd
        self.plan = self.plan.with_fallback(fallback.model, fallback.request)
        terms = TakeoverTerms(model=fallback.model.name, price_version=fallback.price.id)
        self.reference = self.reference._replace(takeover=terms)
        return True

    def cost_microusd(self, used: Quantities) -> int:
        """Compute the cost of quantities at the prices of the hold. Raises PriceError."""
        return cost_microusd(used, self.prices)

    def usage_of(self, used: Quantities) -> dict[str, int | str]:
        """Return the usage record of quantities at the prices of the hold."""
        return usage_of(used, self.prices)

    def settled_usage_of(self, used: Quantities) -> dict[str, int | str]:
        """Return the usage record of quantities with their cost at the upstream, if it is known."""
        version, usage = self.costs, self.usage_of(used)
        if version is None:
            return usage
        tier = used.service_tier if "service_tier" in usage else None
        compute = partial(upstream_cost_microusd, used, version.costs, tier)
        recorded = costs.recorded(version.id, compute)
        observing.cost(self.observation, recorded)
        return usage | recorded

    def evidence(self, used: Quantities) -> Evidence:
        """Return the quantities delivered so far, as evidence for a review."""
        charge_microusd = min(self.cost_microusd(used), self.hold_microusd)
        return {**self.usage_of(used), "charge_microusd": charge_microusd, **self.generation}

    def record(self) -> Evidence | None:
        """Return what finds the upstream's own record of the call and its price, as evidence for a review; None if it has
        no such record."""
        if not self.generation:
            return None
        tier = self.request.service_tier
        return {**self.generation, **({"service_tier": tier} if tier else {})}

    def report_unpriced(self, used: Quantities) -> None:
        """Report the counters to the operator that were charged without a price of their own."""
        for name in used.unpriced:
            unpriced.report(Counter(self.upstream, self.plan.call.public_model, name))


def _plan(checked: Checked, entry: Entry, generation: dict[str, str]) -> CallPlan[Any]:
    route = checked.arrival.route
    context = CallContext(
        usage_id=checked.usage_id,
        public_model=checked.model.name,
        public_id=checked.public_id,
        on_send=entry.sent,
        on_generation=partial(generation.__setitem__, "generation_id"),
        on_answer=checked.arrival.observation.begin_answer,
    )
    return CallPlan(
        route=route.name,
        endpoints=route.endpoints,
        deployments=checked.model.deployments,
        request=checked.request,
        call=context,
    )
