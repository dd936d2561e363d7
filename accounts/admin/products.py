"""Console pages for products and for the values of the portal's cosmetic `product` parameter."""

from django.contrib import admin

from accounts.models import AppearanceProduct, Product
from gateway.core.console import ConsoleAdmin, money


@admin.register(Product)
class ProductAdmin(ConsoleAdmin):
    """The products that the operator offers."""

    seat_price = money("Price per seat per month", "seat_price_microusd", is_sortable=True)

    permanent_fields = ("slug",)
    list_display = ("slug", "name", "seat_price")
    search_fields = ("slug", "name")
    ordering = ("slug",)


@admin.register(AppearanceProduct)
class AppearanceProductAdmin(ConsoleAdmin):
    """The allowlist of the cosmetic `product` parameter."""

    list_display = ("slug",)
    search_fields = ("slug",)
    ordering = ("slug",)
