"""`appearance`: the product names that the portal's cosmetic parameter may carry. SPEC: Appearance handoff."""

from typing import Annotated, ClassVar

from pydantic import Field

from accounts.models import AppearanceProduct
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.texts import Slug

PRODUCTS_MAX = 100


class AppearanceRow(SectionRow):
    """The complete allowlist; its names need not be in the catalogue."""

    tables: ClassVar[Tables] = (AppearanceProduct,)

    products: Annotated[list[Slug], Field(max_length=PRODUCTS_MAX)]

    def save(self, run: Run, path: Path) -> None:
        wanted, stored = set(self.products), set(AppearanceProduct.objects.values_list("slug", flat=True))
        AppearanceProduct.objects.filter(slug__in=stored - wanted).delete()
        AppearanceProduct.objects.bulk_create(
            [AppearanceProduct(slug=slug) for slug in sorted(wanted - stored)], ignore_conflicts=True
        )
        run.add_set_line("appearance products", wanted, stored, AppearanceProduct)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        products = list(AppearanceProduct.objects.order_by("slug").values_list("slug", flat=True))
        return {"products": products} if products else None
