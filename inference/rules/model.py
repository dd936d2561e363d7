"""A model as callers ask for it: an alias or a raw model, with everything a call needs to know of it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from types import MappingProxyType
from typing import Any

from billing.rules.prices import PriceBook
from gateway.core.contract.aliases import ALIAS_ROUTES, NEVER_SERVED, Route
from inference.rules.plan import DeploymentTarget


@dataclass(frozen=True, slots=True)
class PriceVersion:
    """Prices from an instant on. `worst_case` are the same prices, to bound a call of text with.

    `components` is what the operator wrote, for people to read.
    """

    id: int
    effective_at: datetime
    prices: PriceBook
    worst_case: PriceBook
    components: Mapping[str, Any]

    def bounding(self, *, audio_input: bool, audio_output: bool) -> PriceBook:
        """Return the prices to bound a call with whose input or output may be sound."""
        if audio_input or audio_output:
            return self.prices.worst_case(audio_input=audio_input, audio_output=audio_output)
        return self.worst_case


@dataclass(frozen=True, slots=True)
class ServedModel:
    """One name of the catalogue. `issuers` is None for an alias; a raw model is for these integrations alone.

    `versions` are newest first. `deployments` has only those that are enabled and whose upstream has what it needs.
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
        """Return whether a call can go anywhere at all."""
        return self.enabled and bool(self.deployments) and self.name not in NEVER_SERVED

    @property
    def fetches_images(self) -> bool:
        """Return whether every upstream that may be asked fetches images for itself."""
        return bool(self.deployments) and all(deployment.upstream.fetches_images for deployment in self.deployments)

    def price_at(self, now: datetime) -> PriceVersion | None:
        """Return the prices in force at an instant."""
        return next((version for version in self.versions if version.effective_at <= now), None)

    def is_visible_to(self, issuer: str) -> bool:
        """Return whether a caller of this integration may know of it."""
        return self.issuers is None or issuer in self.issuers


def unconfigured(name: str) -> ServedModel | None:
    """Describe an alias that the service names and nobody configured; None for any other name."""
    routes = ALIAS_ROUTES.get(name)
    return ServedModel(name=name, routes=routes) if routes else None
