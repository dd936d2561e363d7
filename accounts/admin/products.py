"""Console pages for products and for the values of the portal's cosmetic `product` parameter."""

from django.contrib import admin
from django.http import HttpRequest

from accounts.models import (
    AppearanceProduct,
    Product,
)
from gateway.core.console import ConsoleAdmin, money


@admin.register(Product)
class ProductAdmin(ConsoleAdmin):
    """The products that the operator offers."""

    seat_price = money("Price per seat per month", "seat_price_microusd", is_sortable=True)

    list_display = ("slug", "name", "seat_price")
    search_fields = ("slug", "name")
    ordering = ("slug",)

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> tuple[str, ...]:
        """Make the slug read-only once it is set, because all other records refer to it."""
        return ("slug",) if obj else ()


@admin.register(AppearanceProduct)
class AppearanceProductAdmin(ConsoleAdmin):
    """The allowlist of the cosmetic `product` parameter."""

    list_display = ("slug",)
    search_fields = ("slug",)
    ordering = ("slug",)
