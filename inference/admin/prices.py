"""Prices: dated versions are added, never edited or deleted."""

from typing import Any

from django.contrib import admin
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display

from billing.models import PriceVersion
from billing.operations import prices
from billing.queries.prices import in_force, newest
from billing.rules.prices import show
from gateway.core.console import ReadOnlyAdmin
from inference.admin.price_fields import PRICE_FIELDS, initial_of
from inference.admin.price_form import PriceForm


@admin.register(PriceVersion)
class PriceVersionAdmin(ReadOnlyAdmin):
    """All prices, past and current. A new price applies from the moment it is added."""

    form = PriceForm
    change_form_before_template = "inference/price_review.html"
    list_display = ("alias", "summary", "effective_at", "is_in_force")
    list_filter = ("effective_at",)
    search_fields = ("alias",)
    ordering = ("-effective_at", "-id")
    fields = ("alias", "summary", "effective_at", "is_in_force")
    add_fieldsets = (
        (
            None,
            {
                "fields": ("alias", "unsold", "seen"),
                "description": "Prices are in USD per million units, with at most 6 decimals, as providers quote them. "
                "In a configuration file the same numbers are micro-USD per unit.",
            },
        ),
        ("Components", {"fields": PRICE_FIELDS}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow operators with that permission to add a new price."""
        return request.user.has_perm("billing.add_priceversion")

    def get_changeform_initial_data(self, request: HttpRequest) -> dict[str, Any]:
        """Prefill the price in force of the model that the link names."""
        initial = super().get_changeform_initial_data(request)
        version = in_force(str(initial.get("alias", "")), timezone.now())
        return {"alias": initial.get("alias"), **initial_of(version.components if version else {})}

    def save_model(self, request: HttpRequest, obj: PriceVersion, form: Any, change: bool) -> None:
        """Publish the price with the operation."""
        published = prices.publish(obj.alias, form.cleaned_data["components"], now=timezone.now())
        version = published or newest(obj.alias)
        assert version is not None
        obj.pk = version.pk
        obj.refresh_from_db()

    def get_queryset(self, request: HttpRequest) -> QuerySet[PriceVersion]:
        """Annotate each alias's version in force in the same statement."""
        dated = PriceVersion.objects.filter(alias=OuterRef("alias"), effective_at__lte=timezone.now())
        current = dated.order_by("-effective_at").values("pk")[:1]
        return super().get_queryset(request).annotate(current_id=Subquery(current))

    @display(description="Price in USD per million")
    def summary(self, version: PriceVersion) -> str:
        """Name the components and their prices."""
        return show(version.components)

    @display(description="Current", boolean=True)
    def is_in_force(self, version: PriceVersion) -> bool:
        """Return whether the price is in force."""
        return getattr(version, "current_id", None) == version.pk
