"""`products`: the catalogue of products with seats."""

from typing import ClassVar

from accounts.models import Product
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.texts import Label, Microusd, Slug


class ProductRow(SectionRow):
    """A product; `seat_price_microusd` is per seat per month."""

    identity: ClassVar[str | None] = "slug"
    tables: ClassVar[Tables] = (Product,)

    slug: Slug
    name: Label
    seat_price_microusd: Microusd = 0

    def save(self, run: Run, path: Path) -> None:
        values = self.stated("name", "seat_price_microusd")
        run.upsert(Product, f"product {self.slug}", lookup={"slug": self.slug}, values=values)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        rows = Product.objects.order_by("slug").values("slug", "name", "seat_price_microusd")
        return [dict(row) for row in rows]
