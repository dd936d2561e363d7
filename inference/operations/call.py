"""A call that is under way."""

from dataclasses import dataclass

from billing.rules.owners import Owner
from billing.rules.prices import cost_microusd
from billing.rules.quantities import Quantities
from gateway.contract.errors import NotReady
from inference.operations import journal
from inference.operations.intake import Intake, Ready
from inference.operations.journal import Entry
from inference.rules.demand import Demand
from inference.rules.plan import CallPlan, DeploymentTarget


@dataclass(slots=True)
class Call:
    """One metered call. `deployment` is the one that was tried last; `client_left` is set by the request's own task."""

    intake: Intake
    ready: Ready
    plan: CallPlan
    entry: Entry
    deployment: DeploymentTarget | None = None
    client_left: bool = False

    @classmethod
    def of(cls, intake: Intake, ready: Ready) -> "Call":
        """Make the call of a request that passed the process's checks."""
        assert intake.model
        entry = _begin(ready.usage_id)
        plan = CallPlan(
            route=intake.rules.route,
            alias=intake.model.name,
            deployments=intake.model.deployments,
            body=ready.sized.body,
            call_id=ready.usage_id,
            public_id=ready.public_id,
            show_usage=ready.sized.demand.show_usage,
            is_large=intake.is_large,
            on_send=entry.sent,
        )
        return cls(intake, ready, plan, entry)

    @property
    def usage_id(self) -> str:
        """Name the call, and its hold."""
        return self.ready.usage_id

    @property
    def owner(self) -> Owner:
        """Say whose money it is."""
        return self.intake.verified.principal.owner

    @property
    def demand(self) -> Demand:
        """Give what was asked for."""
        return self.ready.sized.demand

    @property
    def hold_microusd(self) -> int:
        """Tell the most that the call can cost its owner."""
        return self.ready.sized.hold_microusd

    @property
    def deployment_id(self) -> str | None:
        """Name the deployment that was tried last."""
        return self.deployment.id if self.deployment else None

    @property
    def bills_errors(self) -> bool:
        """Tell whether an error answer of the upstream may have cost money."""
        return self.deployment is not None and self.deployment.upstream.bills_errors

    def tried(self, deployment: DeploymentTarget) -> None:
        """Note where the call goes."""
        self.deployment = deployment

    def cost_microusd(self, used: Quantities) -> int:
        """Price quantities at the version of the hold."""
        return cost_microusd(used, self.ready.price.prices)

    def charge_microusd(self, used: Quantities) -> int:
        """Tell what quantities are charged with: their cost, at most the hold."""
        return min(self.cost_microusd(used), self.hold_microusd)

    def evidence(self, used: Quantities) -> dict[str, int]:
        """Render what was delivered so far for reconciliation."""
        return {**used.counts(), "charge_microusd": self.charge_microusd(used)}


def _begin(usage_id: str) -> Entry:
    try:
        return journal.begin(usage_id)
    except OSError as error:
        raise NotReady(private=f"no room in the journal: {error}", headers={"Retry-After": "1"}) from error
