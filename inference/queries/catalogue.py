"""The catalogue as this process sees it: an immutable snapshot of models, upstreams and prices, renewed off the hot
path.

A snapshot older than `CATALOGUE_TTL_SECONDS` is still used while a thread takes the next one; one older than
`AGE_MAX_SECONDS` is not, so a change is seen by every process within 15 s even where the database is slow.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from django.conf import settings

from gateway.core.api.snapshots import Snapshot
from gateway.core.contract.aliases import ALIAS_ROUTES
from inference.models import Alias, RawModel
from inference.queries import prices, rows
from inference.rules.model import ServedModel, unconfigured

AGE_MAX_SECONDS = 12.0


@dataclass(frozen=True, slots=True)
class Catalogue:
    """Every configured model by name."""

    models: Mapping[str, ServedModel]

    def find(self, name: str, issuer: str) -> ServedModel | None:
        """Find the alias or raw model of this name as a caller of this integration may know it."""
        model = self.models.get(name)
        if model is None:
            return unconfigured(name)
        return model if model.is_visible_to(issuer) else None

    def listed(self, issuer: str) -> list[ServedModel]:
        """List what is enabled, as this caller may know it, by name."""
        visible = (model for model in self.models.values() if model.enabled and model.is_visible_to(issuer))
        return sorted(visible, key=lambda model: model.name)


def known_names() -> frozenset[str]:
    """Name every model that somebody could call, now or once it is configured."""
    return frozenset(current_sync().models) | frozenset(ALIAS_ROUTES)


def read() -> Catalogue:
    """Read every row that a call can need."""
    horizon = datetime.now(UTC) + timedelta(seconds=AGE_MAX_SECONDS * 2)
    versions = prices.versions_until(horizon)
    aliases = Alias.objects.prefetch_related("deployments__upstream")
    raw_models = RawModel.objects.select_related("upstream").prefetch_related("integrations")
    models = [rows.of_alias(alias, versions) for alias in aliases]
    models += [rows.of_raw_model(raw, versions) for raw in raw_models]
    # An alias wins over a raw model of the same name: it is reversed so that aliases are written last.
    return Catalogue({model.name: model for model in reversed(models)})


_snapshot = Snapshot(
    read,
    name="catalogue",
    fresh_seconds=lambda: settings.CATALOGUE_TTL_SECONDS,
    usable_seconds=lambda: AGE_MAX_SECONDS,
)
current, current_sync, forget = _snapshot.current, _snapshot.current_sync, _snapshot.forget
