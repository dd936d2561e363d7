"""A callable model: an alias or a raw model, with everything that a call needs to know about it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from billing.rules.prices import PriceList
from billing.rules.worst_case import WorstCase
from gateway.core.contract.aliases import ALIAS_ROUTES, NEVER_SERVED, Route
from gateway.core.contract.values import value_class

GENERATIONS = "generations"
"""The only kind of record that can be looked up: aggregators' records of calls, at `<base_url>/generation?id=`."""


@value_class(frozen=True, slots=True)
class UpstreamTarget:
    """The destination of an attempt: a process's cached row of an upstream. Times are seconds. `fetches_images`: image
    URLs may be sent to it. `routes` are those that it supports; None: all of its adapter's. `other_keys` are valid beside
    `api_key`, while it is being replaced."""

    name: str
    adapter: str
    base_url: str
    api_key: str = field(repr=False)
    timeout_seconds: float = 120.0
    bills_errors: bool = False
    fetches_images: bool = False
    routes: frozenset[Route] | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    other_keys: tuple[str, ...] = field(default=(), repr=False)

    @property
    def looks_up(self) -> bool:
        """Return whether the upstream has records of calls that can be looked up if an outcome is unknown."""
        return self.adapter == "openai" and self.options.get("looks_up") == GENERATIONS

    @property
    def auth(self) -> str | None:
        """Return `bearer` or the header that carries the key; None: as the adapter's vendor has it."""
        return self.options.get("auth")

    @property
    def query(self) -> Mapping[str, str]:
        """Return the parameters that every URL of this upstream ends with."""
        return self.options.get("query") or {}

    @property
    def has_messages(self) -> bool:
        """Return whether the upstream has the Messages API, and its vendor's own status 529 for an overload."""
        return self.adapter == "anthropic"

    @property
    def knows_service_tiers(self) -> bool:
        """Return whether `default` may be sent to it as service tier. Some upstreams refuse the member."""
        return self.options.get("service_tiers") is not False


@dataclass(frozen=True, slots=True)
class CostVersion:
    """What an upstream charges the operator from an instant on; without components, it is not known."""

    id: int
    effective_at: datetime
    costs: PriceList


@value_class(frozen=True, slots=True)
class DeploymentTarget:
    """One model at one upstream that serves an alias. The lowest priority is used first; equal priorities share by
    weight. `costs` are newest first."""

    id: str
    upstream: UpstreamTarget
    model: str
    priority: int = 0
    weight: int = 1
    costs: tuple[CostVersion, ...] = ()

    def cost_at(self, now: datetime) -> CostVersion | None:
        """Return the costs in force at an instant."""
        return next((version for version in self.costs if version.effective_at <= now), None)


@dataclass(frozen=True, slots=True)
class PriceVersion:
    """Prices in force from an instant on. `worst_case` bounds the cost of a text call in the default service tier.

    `components` is the operator's notation, for display.
    """

    id: int
    effective_at: datetime
    prices: PriceList
    worst_case: WorstCase
    components: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class ServedModel:
    """One name of the catalogue. `issuers` is None for an alias; a raw model is visible only to these integrations.

    `versions` are newest first. `deployments` includes only enabled ones whose upstream is completely configured.
    """

    name: str
    enabled: bool = False
    max_output_tokens: int | None = None
    context_tokens: int | None = None
    routes: tuple[Route, ...] = ()
    deployments: tuple[DeploymentTarget, ...] = ()
    versions: tuple[PriceVersion, ...] = ()
    issuers: frozenset[str] | None = None
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    @property
    def is_served(self) -> bool:
        """Return whether a call can be sent anywhere."""
        return self.enabled and bool(self.deployments) and self.name not in NEVER_SERVED

    @property
    def fetches_images(self) -> bool:
        """Return whether every possible upstream fetches images itself."""
        return bool(self.deployments) and all(deployment.upstream.fetches_images for deployment in self.deployments)

    @property
    def has_messages(self) -> bool:
        """Return whether an upstream may be called that has messages, whose vendor adds texts to some prompts."""
        return any(deployment.upstream.has_messages for deployment in self.deployments)

    def price_at(self, now: datetime) -> PriceVersion | None:
        """Return the prices in force at an instant."""
        for version in self.versions:
            if version.effective_at <= now:
                return version
        return None

    def is_visible_to(self, issuer: str) -> bool:
        """Return whether callers of this integration may see it."""
        return self.issuers is None or issuer in self.issuers


def unconfigured(name: str) -> ServedModel | None:
    """Describe one of the service's aliases that is not configured; None for any other name."""
    routes = ALIAS_ROUTES.get(name)
    return ServedModel(name=name, routes=routes) if routes else None
