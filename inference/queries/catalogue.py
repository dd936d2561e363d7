"""The catalogue of this process: an immutable snapshot of models, upstreams and prices, renewed off the hot path.

A snapshot older than `CATALOGUE_TTL_SECONDS` is still used while a thread takes the next one, but not one older than
`AGE_MAX_SECONDS`. So every process sees a change within 15 s even if the database is slow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from django.conf import settings

from billing.queries import limits
from billing.rules.limits import Limits
from gateway.core.contract.aliases import ALIAS_ROUTES, VECTOR_ROUTES
from gateway.core.outbound.distrust import distrust
from gateway.core.runtime.deferred import load_numpy
from gateway.core.runtime.snapshots import Snapshot
from inference.interface.model import ServedModel, unconfigured
from inference.models import Alias, Deployment, RawModel
from inference.queries import rows, troubles, upstreams

AGE_MAX_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Choices:
    """Choices between models, by name, that an app above makes.

    `selected` maps an alias without its own model to the alias that it selects, None if the operator has selected
    none. `fallbacks` maps a model to the one that may take its calls over if their route allows that.
    """

    selected: Mapping[str, str | None] = field(default_factory=dict)
    fallbacks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every configured model by name, the choices between them, and the rate limits of calls."""

    models: Mapping[str, ServedModel]
    choices: Choices = field(default_factory=Choices)
    limits: Limits = field(default_factory=Limits)

    def find(self, name: str, issuer: str) -> ServedModel | None:
        """Find the alias or raw model with this name that is visible to callers of this integration. An alias that
        selects another returns that one, under its own name."""
        model = self.models.get(self._chosen(name) or "")
        if model is None:
            return unconfigured(name)
        return model if model.is_visible_to(issuer) else None

    def shown(self, name: str, issuer: str) -> ServedModel | None:
        """Find an enabled model that is visible to this caller, under the requested name."""
        model = self.models.get(self._chosen(name) or "")
        if model is None or not model.enabled or not model.is_visible_to(issuer):
            return None
        return replace(model, name=name)

    def listed(self, issuer: str) -> list[ServedModel]:
        """List the enabled models that are visible to this caller, by name."""
        names = sorted({*self.models, *self.choices.selected})
        return [model for name in names if (model := self.shown(name, issuer))]

    def _chosen(self, name: str) -> str | None:
        return self.choices.selected.get(name, name)


def known_names() -> frozenset[str]:
    """Return the name of every model that can be called, now or once it is configured."""
    return frozenset(current_sync().models) | frozenset(ALIAS_ROUTES)


_choosers: list[Callable[[], Choices]] = []


def register_choices(read: Callable[[], Choices]) -> None:
    """Register a function that reads the choices of an app above. Such apps call it at start-up."""
    _choosers.append(read)


def selecting_names() -> frozenset[str]:
    """Return the names that select another alias, which answers, is recorded and is limited under its own name."""
    return frozenset(_choices().selected)


def _choices() -> Choices:
    read = [chooser() for chooser in _choosers]
    selected = {name: model for each in read for name, model in each.selected.items()}
    return Choices(selected, {name: model for each in read for name, model in each.fallbacks.items()})


def read() -> Catalogue:
    """Read every row that calls can need, which deployments fail, and tell the HTTP client which origins have been out of
    turn."""
    distrust.learn(upstreams.signs())
    troubles.learn()
    aliases = list(Alias.objects.prefetch_related("deployments__upstream"))
    raw_models = list(RawModel.objects.select_related("upstream").prefetch_related("integrations"))
    horizon = datetime.now(UTC) + timedelta(seconds=AGE_MAX_SECONDS * 2)
    versions = rows.versions_until(horizon, {row.name for row in aliases} | {row.model for row in raw_models})
    served: list[Deployment | RawModel] = [*raw_models, *(at for alias in aliases for at in alias.deployments.all())]
    costs = rows.costs_until(horizon, {rows.deployment_id(each) for each in served})
    models = [rows.of_alias(alias, versions, costs) for alias in aliases]
    models += [rows.of_raw_model(raw, versions, costs) for raw in raw_models]
    if any(VECTOR_ROUTES.intersection(model.routes) for model in models):
        load_numpy()  # here, where no call waits for it
    # An alias takes precedence over a raw model with the same name: aliases are written last.
    return Catalogue({model.name: model for model in reversed(models)}, _choices(), limits.in_force())


_snapshot = Snapshot(
    read,
    name="catalogue",
    fresh_seconds=settings.CATALOGUE_TTL_SECONDS,
    usable_seconds=AGE_MAX_SECONDS,
)
current, current_sync, forget = _snapshot.current, _snapshot.current_sync, _snapshot.forget
