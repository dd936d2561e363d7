"""`raw_models`: upstream models under their own names, for the integrations that the operator allows."""

from typing import Annotated, ClassVar

from pydantic import Field

from accounts.models import Integration
from billing.models import CostVersion, PriceVersion
from gateway.config.costing import exported_costs, set_cost
from gateway.config.exporting import Exported, Exporting, filled
from gateway.config.prices import PriceRow
from gateway.config.pricing import exported_prices
from gateway.config.problems import Path
from gateway.config.row import Tables
from gateway.config.run import Run
from gateway.config.sections.aliases import ServedRow, UpstreamRef
from gateway.config.texts import ModelName, reference
from gateway.config.urls import Party
from inference.models import Alias, RawModel, Upstream

IntegrationRef = Annotated[Party, reference("integrations", "integration")]


class RawModelRow(ServedRow):
    """A raw model; `integrations` are the issuers whose tokens may call it, replaced as a set. `cost` is what its upstream
    charges the operator; a null takes it away."""

    identity: ClassVar[str | None] = "model"
    tables: ClassVar[Tables] = (RawModel, PriceVersion, CostVersion)

    model: ModelName
    upstream: UpstreamRef
    integrations: Annotated[list[IntegrationRef], Field(max_length=1000)] = []
    cost: PriceRow | None = None

    def save(self, run: Run, path: Path) -> None:
        if Alias.objects.filter(name=self.model).exists():
            run.refuse((*path, "model"), f"{self.model!r} is an alias already")
            return
        stored = RawModel.objects.filter(model=self.model).values_list("options", flat=True).first() or {}
        values = {"upstream": Upstream.objects.get(name=self.upstream), **self.values(stored)}
        row = self.save_model(run, RawModel, f"raw model {self.model}", {"model": self.model}, values)
        if "integrations" in self.model_fields_set:
            self._save_integrations(run, row)
        self.save_price(run, path, row)
        if "cost" in self.model_fields_set:
            set_cost(run, row, self.cost)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        rows = list(RawModel.objects.order_by("model").select_related("upstream").prefetch_related("integrations"))
        prices, costs = exported_prices(out.now), exported_costs(rows, out.now)
        return [
            filled(
                model=row.model,
                upstream=row.upstream.name,
                integrations=sorted(each.issuer for each in row.integrations.all()),
                **cls.exported(row, prices.get(row.model)),
                cost=costs.get(row.pk),
            )
            for row in rows
        ]

    def _save_integrations(self, run: Run, row: RawModel) -> None:
        wanted, stored = set(self.integrations), set(row.integrations.values_list("issuer", flat=True))
        if wanted != stored:
            row.integrations.set(Integration.objects.filter(issuer__in=wanted))
        run.add_set_line(f"grants of {self.model}", wanted, stored, row)
