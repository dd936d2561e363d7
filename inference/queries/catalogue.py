"""The catalogue as this process sees it: an immutable snapshot of models, upstreams and prices, renewed off the hot
path.

A snapshot older than `CATALOGUE_TTL_SECONDS` is still used while a thread takes the next one; one older than
`AGE_MAX_SECONDS` is not, so a change is seen by every process within 15 s even where the database is slow.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from django.conf import settings

from gateway.core.api.snapshots import Snapshot
from gateway.core.contract.aliases import ALIAS_ROUTES
from inference.models import Alias, RawModel
from inference.queries import prices, rows
from inference.rules.model import ServedModel, unconfigured

AGE_MAX_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Choices:
    """What an app above decides about models, by their names.

    `selected` maps an alias that has no model of its own to the one that it stands for, None where the operator has chosen
    none. `fallbacks` maps a model to the one that may take its calls over where their route allows that.
    """

    selected: Mapping[str, str | None] = field(default_factory=dict)
    fallbacks: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every configured model by name, and what was chosen among them."""

    models: Mapping[str, ServedModel]
    choices: Choices = field(default_factory=Choices)

    def find(self, name: str, issuer: str) -> ServedModel | None:
        """Find the alias or raw model of this name as a caller of this integration may know it. An alias that stands for
        another gives that one, under its own name."""
        model = self.models.get(self._chosen(name) or "")
        if model is None:
            return unconfigured(name)
        return model if model.is_visible_to(issuer) else None

    def shown(self, name: str, issuer: str) -> ServedModel | None:
        """Find what is enabled, as this caller may know it, under the name that was asked for."""
        model = self.models.get(self._chosen(name) or "")
        if model is None or not model.enabled or not model.is_visible_to(issuer):
            return None
        return replace(model, name=name)

    def listed(self, issuer: str) -> list[ServedModel]:
        """List what is enabled, as this caller may know it, by name."""
        names = sorted({*self.models, *self.choices.selected})
        return [model for name in names if (model := self.shown(name, issuer))]

    def _chosen(self, name: str) -> str | None:
        return self.choices.selected.get(name, name)


def known_names() -> frozenset[str]:
    """Name every model that somebody could call, now or once it is configured."""
    return frozenset(current_sync().models) | frozenset(ALIAS_ROUTES)


_choosers: list[Callable[[], Choices]] = []


def register_choices(read: Callable[[], Choices]) -> None:
    """Register a function that reads what an app above decides about models. Such apps call it at start-up."""
    _choosers.append(read)


def _choices() -> Choices:
    read = [chooser() for chooser in _choosers]
    selected = {name: model for each in read for name, model in each.selected.items()}
    return Choices(selected, {name: model for each in read for name, model in each.fallbacks.items()})


def read() -> Catalogue:
    """Read every row that a call can need."""
    horizon = datetime.now(UTC) + timedelta(seconds=AGE_MAX_SECONDS * 2)
    versions = prices.versions_until(horizon)
    aliases = Alias.objects.prefetch_related("deployments__upstream")
    raw_models = RawModel.objects.select_related("upstream").prefetch_related("integrations")
    models = [rows.of_alias(alias, versions) for alias in aliases]
    models += [rows.of_raw_model(raw, versions) for raw in raw_models]
    # An alias wins over a raw model of the same name: it is reversed so that aliases are written last.
    return Catalogue({model.name: model for model in reversed(models)}, _choices())


_snapshot = Snapshot(
    read,
    name="catalogue",
    fresh_seconds=lambda: settings.CATALOGUE_TTL_SECONDS,
    usable_seconds=lambda: AGE_MAX_SECONDS,
)
current, current_sync, forget = _snapshot.current, _snapshot.current_sync, _snapshot.forget
