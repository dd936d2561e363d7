"""The catalogue, and the names that the portal's cosmetic parameter may carry."""

from django.contrib import admin
from django.http import HttpRequest

from accounts.models import (
    AppearanceProduct,
    Product,
)
from gateway.core.console import ConsoleAdmin, money


@admin.register(Product)
class ProductAdmin(ConsoleAdmin):
    """The catalogue."""

    seat_price = money("Price per seat per month", "seat_price_microusd", is_sortable=True)

    list_display = ("slug", "name", "seat_price")
    search_fields = ("slug", "name")
    ordering = ("slug",)

    def get_readonly_fields(self, request: HttpRequest, obj: Product | None = None) -> tuple[str, ...]:
        """Keep the slug, by which everything else knows the product."""
        return ("slug",) if obj else ()


@admin.register(AppearanceProduct)
class AppearanceProductAdmin(ConsoleAdmin):
    """The allowlist of the cosmetic `product` parameter."""

    list_display = ("slug",)
    search_fields = ("slug",)
    ordering = ("slug",)
