"""Usage of settled calls."""

from django.contrib import admin
from unfold.decorators import display

from billing.admin.owners import SEARCH_HELP
from billing.models import UsageRecord
from billing.rules.call_labels import COUNTED
from billing.rules.prices import show
from gateway.core.console import PartyColumn, ReadOnlyAdmin, WordFilter, money


class BasisFilter(WordFilter):
    """Filters by whose count was charged."""

    title = parameter_name = "basis"
    words = tuple(COUNTED)


@admin.register(UsageRecord)
class UsageRecordAdmin(ReadOnlyAdmin):
    """Usage of settled calls: model, quantities, charge."""

    empty_text = "The first charged call makes one. To try it, run make demo."
    owner = PartyColumn("Owner", "call.wallet.owner_key", kind_path="call.wallet.owner_kind")
    charge = money("Charge", "charge_microusd")
    cost = money("Cost", "cost_microusd")

    list_display = (
        "call_id",
        "called_model",
        "owner",
        "input_tokens",
        "output_tokens",
        "charge",
        "cost",
        "basis",
        "settled_at",
    )
    list_filter = (BasisFilter, "settled_at")
    list_select_related = ("call", "call__wallet")
    search_fields = ("call__id__exact", "call__wallet__owner_key__exact")
    party_fields = ("call__wallet__owner_key", "call__actor_did")
    search_help_text = SEARCH_HELP
    ordering = ("-pk",)
    fieldsets = (
        (
            None,
            {
                "fields": (
                    "call",
                    "called_model",
                    "route",
                    "owner",
                    "charge",
                    "cost",
                    "cost_price",
                    "basis",
                    "settled_at",
                )
            },
        ),
        (
            "Quantities",
            {
                "fields": (
                    *("input_tokens", "cached_input_tokens", "cache_write_tokens", "cache_write_1h_tokens"),
                    "output_tokens",
                    *("input_audio_tokens", "output_audio_tokens"),
                    *("images", "input_characters", "seconds", "input_bytes", "items"),
                    *("service_tier", "price_band"),
                )
            },
        ),
    )

    @display(description="Model")
    def called_model(self, record: UsageRecord) -> str:
        """Return the alias or raw model. The name `model` is taken by the admin class."""
        return record.call.model

    @display(description="Cost in USD per million")
    def cost_price(self, record: UsageRecord) -> str:
        """Render the prices by which the upstream charges for the call."""
        return show(record.cost_version.components) if record.cost_version else ""

    @display(description="Route")
    def route(self, record: UsageRecord) -> str:
        return record.call.route
