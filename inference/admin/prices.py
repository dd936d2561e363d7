"""Prices: dated versions are added, never edited or deleted."""

from typing import Any

from django import forms
from django.contrib import admin
from django.core.exceptions import ValidationError
from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest
from django.utils import timezone
from unfold.decorators import display
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextareaWidget, UnfoldAdminTextInputWidget

from billing.models import PriceVersion
from billing.operations import prices
from billing.queries.prices import in_force
from billing.rules.prices import COMPONENTS, PriceBook, PriceError, show
from gateway.core.console import ReadOnlyAdmin
from inference.models import Alias, RawModel


def price_field() -> forms.CharField:
    """Make the field of one component."""
    widget = UnfoldAdminTextInputWidget(attrs={"placeholder": "micro-USD", "inputmode": "decimal"})
    return forms.CharField(required=False, max_length=20, widget=widget)


class PriceForm(forms.ModelForm):
    """One field a component; what is left blank is not sold."""

    alias = forms.ChoiceField(label="Alias or raw model", widget=UnfoldAdminSelectWidget)
    input_token = price_field()
    cached_input_token = price_field()
    output_token = price_field()
    input_audio_token = price_field()
    output_audio_token = price_field()
    image = price_field()
    images = forms.CharField(
        label="Images by size and quality",
        required=False,
        widget=UnfoldAdminTextareaWidget(attrs={"rows": 3, "placeholder": "1024x1024/high 40000"}),
        help_text="Instead of one price an image: one a line, size/quality and its price.",
    )
    input_character = price_field()
    audio_second = price_field()
    input_kilobyte = price_field()
    input_item = price_field()
    request = price_field()

    class Meta:
        model = PriceVersion
        fields = ("alias",)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["alias"].choices = [(name, name) for name in _sold_names()]  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Read the components together, and refuse what would change nothing."""
        cleaned = super().clean() or {}
        cleaned["components"] = components = self._components(cleaned)
        try:
            book = PriceBook.parse(components)
        except PriceError as error:
            raise ValidationError(f"{error}.") from None
        current = in_force(cleaned.get("alias", ""), timezone.now())
        if not components or (current and PriceBook.parse(current.components) == book):
            raise ValidationError(
                "This is the price in force." if components else "A price has at least one component."
            )
        return cleaned

    def _components(self, cleaned: dict[str, Any]) -> dict[str, Any]:
        components: dict[str, Any] = {name: cleaned[name].strip() for name in COMPONENTS if cleaned.get(name)}
        if cleaned.get("images"):
            components["image"] = _kinds(cleaned["images"])
        return components


PRICE_FIELDS = tuple(name for name in PriceForm.base_fields if name != "alias")


@admin.register(PriceVersion)
class PriceVersionAdmin(ReadOnlyAdmin):
    """Every price there was. A new one holds from the moment it is added."""

    form = PriceForm
    list_display = ("alias", "summary", "effective_at", "is_in_force")
    list_filter = ("effective_at",)
    search_fields = ("alias",)
    ordering = ("-effective_at", "-id")
    fields = ("alias", "summary", "effective_at", "is_in_force")
    add_fieldsets = (
        (None, {"fields": ("alias",), "description": "Prices are in micro-USD a unit, with at most 6 decimals."}),
        ("Components", {"fields": PRICE_FIELDS}),
    )

    def has_add_permission(self, request: HttpRequest) -> bool:
        """Allow operators with that right date a new price."""
        return request.user.has_perm("billing.add_priceversion")

    def save_model(self, request: HttpRequest, obj: PriceVersion, form: Any, change: bool) -> None:
        """Publish by the operation."""
        now = timezone.now()
        published = prices.publish(obj.alias, form.cleaned_data["components"], now=now)
        version = published or in_force(obj.alias, now)
        assert version is not None
        obj.pk = version.pk
        obj.refresh_from_db()

    def get_queryset(self, request: HttpRequest) -> QuerySet[PriceVersion]:
        """Find each alias's version in force in the same statement."""
        dated = PriceVersion.objects.filter(alias=OuterRef("alias"), effective_at__lte=timezone.now())
        current = dated.order_by("-effective_at").values("pk")[:1]
        return super().get_queryset(request).annotate(current_id=Subquery(current))

    @display(description="Price")
    def summary(self, version: PriceVersion) -> str:
        """Name the components and their prices."""
        return show(version.components)

    @display(description="In force", boolean=True)
    def is_in_force(self, version: PriceVersion) -> bool:
        """Return whether it prices calls now."""
        return getattr(version, "current_id", None) == version.pk


def _sold_names() -> list[str]:
    aliases = Alias.objects.values_list("name", flat=True)
    return sorted({*aliases, *RawModel.objects.values_list("model", flat=True)})


def _kinds(text: str) -> dict[str, str]:
    pairs = [line.split() for line in text.splitlines() if line.strip()]
    if not all(len(pair) == 2 for pair in pairs):
        raise ValidationError({"images": "Each line is size/quality and its price."})
    if len(kinds := dict(pairs)) < len(pairs):
        raise ValidationError({"images": "A size/quality has one price."})
    return kinds
