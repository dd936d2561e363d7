"""`aliases`: the names under which clients call models, their deployments and their prices."""

from collections.abc import Mapping
from typing import Annotated, Any, ClassVar, Literal, TypeVar

from pydantic import AfterValidator, Field

from billing.models import CostVersion, PriceVersion
from billing.queries.prices import in_force
from gateway.config.costing import exported_costs, set_cost
from gateway.config.exporting import Exported, Exporting, filled, options_of
from gateway.config.prices import PriceRow
from gateway.config.pricing import check_unsold, exported_prices, set_price
from gateway.config.problems import Path
from gateway.config.row import Row, SectionRow, Tables
from gateway.config.run import UPDATED, Run
from gateway.config.texts import Label, ModelName, RouteName, UpstreamModel, UpstreamName, checked, reference
from inference.models import Alias, Deployment, RawModel, Upstream
from inference.operations import retirements

TOKENS_MAX = 100_000_000
PRIORITY_MAX = 1000
WEIGHT_MAX = 10_000

Tokens = Annotated[int, Field(ge=1, le=TOKENS_MAX)]
UpstreamRef = Annotated[UpstreamName, checked, reference("upstreams", "upstream")]

Served = TypeVar("Served", Alias, RawModel)

OPTIONS = ("routes", "dimensions", "quantization", "normalized", "revision", "provider")


class DeploymentRow(Row):
    """One model of one upstream. The lowest priority is used first; equal priorities share calls by weight. `cost` is what the
    upstream charges the operator; a null takes it away."""

    upstream: UpstreamRef
    model: UpstreamModel
    priority: Annotated[int, Field(ge=0, le=PRIORITY_MAX)] = 0
    weight: Annotated[int, Field(ge=1, le=WEIGHT_MAX)] = 1
    enabled: bool = True
    cost: PriceRow | None = None


def _distinct(rows: list[DeploymentRow]) -> list[DeploymentRow]:
    if len({(row.upstream, row.model) for row in rows}) != len(rows):
        raise ValueError("list each upstream and model only once")
    return rows


class ServedRow(SectionRow):
    """The common part of aliases and raw models: limits, representation settings, and a price."""

    enabled: bool = True
    max_output_tokens: Tokens | None = None
    context_tokens: Tokens | None = None
    routes: Annotated[list[RouteName], Field(min_length=1)] | None = None
    dimensions: Annotated[int, Field(ge=1, le=65_536)] | None = None
    quantization: Literal["float", "int8"] | None = None
    normalized: bool | None = None
    revision: Label | None = None
    provider: Label | None = None
    price: PriceRow | None = None

    def values(self, stored_options: dict[str, Any]) -> dict[str, Any]:
        """Return the columns that the file states; stated options are merged into the stored ones."""
        options = stored_options | self.stated(*OPTIONS)
        return {
            **self.stated("enabled", "max_output_tokens", "context_tokens"),
            "options": {name: value for name, value in options.items() if value is not None},
        }

    def save_model(
        self, run: Run, model: type[Served], label: str, lookup: dict[str, Any], values: dict[str, Any]
    ) -> Served:
        """Save the model itself; if the file disables it, record it for those who used it."""
        was_enabled = model._default_manager.filter(**lookup, enabled=True).exists()  # noqa: SLF001 (documented)
        row = run.upsert(model, label, lookup=lookup, values=values)
        if was_enabled and not row.enabled:
            retirements.retire([str(row)], now=run.now)
        return row

    def save_price(self, run: Run, path: Path, model: Alias | RawModel) -> None:
        """Set a new price if the file states a different one, and check for routes that it does not cover."""
        before = in_force(str(model), run.now)
        if self.price is not None:
            set_price(run, str(model), self.price)
        key = next((name for name in ("price", "routes") if getattr(self, name) is not None), None)
        if key:
            check_unsold(run, (*path, key), model, before, self.price, stated=self.routes is not None)

    @staticmethod
    def exported(row: Alias | RawModel, price: dict[str, Any] | None) -> dict[str, Any]:
        """Return the keys that aliases and raw models have in common."""
        limits = filled(max_output_tokens=row.max_output_tokens, context_tokens=row.context_tokens)
        return {"enabled": row.enabled, **limits, **options_of(row.options, OPTIONS), **filled(price=price)}


class AliasRow(ServedRow):
    """An alias; the deployments that it states replace the stored ones as a set."""

    identity: ClassVar[str | None] = "name"
    tables: ClassVar[Tables] = (Alias, Deployment, PriceVersion, CostVersion)

    name: ModelName
    deployments: Annotated[list[DeploymentRow], Field(max_length=100), AfterValidator(_distinct)] = []

    def save(self, run: Run, path: Path) -> None:
        if RawModel.objects.filter(model=self.name).exists():
            run.refuse((*path, "name"), f"{self.name!r} is a raw model already")
            return
        stored = Alias.objects.filter(name=self.name).values_list("options", flat=True).first() or {}
        alias = self.save_model(run, Alias, f"alias {self.name}", {"name": self.name}, self.values(stored))
        if "deployments" in self.model_fields_set:
            self._save_deployments(run, alias)
        self.save_price(run, path, alias)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        rows = Alias.objects.order_by("name").prefetch_related("deployments__upstream")
        prices = exported_prices(out.now)
        costs = exported_costs([each for row in rows for each in row.deployments.all()], out.now)
        return [
            {
                "name": row.name,
                "deployments": _exported(row, costs),
                **cls.exported(row, prices.get(row.name)),
            }
            for row in rows
        ]

    def _save_deployments(self, run: Run, alias: Alias) -> None:
        upstreams = {row.name: row for row in Upstream.objects.filter(name__in={d.upstream for d in self.deployments})}
        surplus = {(row.upstream.name, row.model): row for row in alias.deployments.select_related("upstream")}
        for row in self.deployments:
            surplus.pop((row.upstream, row.model), None)
            deployment = run.upsert(
                Deployment,
                f"deployment {self.name}: {row.upstream}/{row.model}",
                lookup={"alias": alias, "upstream": upstreams[row.upstream], "model": row.model},
                values={"priority": row.priority, "weight": row.weight, "enabled": row.enabled},
            )
            if "cost" in row.model_fields_set:
                set_cost(run, deployment, row.cost)
        for (upstream, model), stored in surplus.items():
            stored.delete()
            run.add_change(UPDATED, f"alias {self.name}: no longer served by {upstream}/{model}", alias)


def _exported(alias: Alias, costs: Mapping[int, Any]) -> list[dict[str, Any]]:
    """Return its deployments in the order in which calls try them."""
    return [
        filled(
            upstream=row.upstream.name,
            model=row.model,
            priority=row.priority,
            weight=row.weight,
            enabled=row.enabled,
            cost=costs.get(row.pk),
        )
        for row in sorted(alias.deployments.all(), key=lambda row: (row.priority, row.pk))
    ]
