"""Proposed prices: an operator accepts or dismisses each, once."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils.html import format_html_join
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldBooleanSwitchWidget

from billing.rules.prices import show
from gateway.core.console import ReadOnlyAdmin, ReasonField, ReasonForm, dialog, may_act
from inference.models import PriceProposal, ProposalState
from inference.operations import price_proposals
from inference.operations.price_proposals import RefusedError
from inference.rules.price_reports import BEYOND, HEADINGS, summary, table

RIGHT = "inference.change_priceproposal"
COLOURS = {
    ProposalState.WAITING.label: "warning",
    ProposalState.ACCEPTED.label: "success",
    ProposalState.DISMISSED.label: "default",
    ProposalState.REPLACED.label: "default",
}
PUBLISHES = (
    "It applies from now on, to calls whose hold is placed after it. If a configuration file states a price or a cost here, "
    "change it there too: the next time it is applied, it sets its own."
)


class BeyondBoundsForm(BaseDialogForm):
    """Asks whether a large change is right."""

    confirmed = forms.BooleanField(label="I have checked this price", widget=UnfoldBooleanSwitchWidget)
    reason = ReasonField()


@admin.register(PriceProposal)
class PriceProposalAdmin(ReadOnlyAdmin):
    """Prices that `manage.py propose_prices` found in a published catalogue."""

    empty_text = "Compare the prices with a published catalogue: run manage.py propose_prices with its address."
    list_display = ("alias", "kind", "change", "bounds", "stage", "source", "created_at")
    list_filter = ("state", "is_beyond_bounds", "created_at")
    search_fields = ("alias", "source")
    ordering = ("-id",)
    actions_detail = ("accept", "accept_beyond_bounds", "dismiss")
    fieldsets = (
        (
            None,
            {
                "fields": ("alias", "kind", "stage", "changes", "bounds", "catalogue_notes"),
                "description": "A price in parentheses applies now because this one is not set.",
            },
        ),
        ("Catalogue", {"fields": ("source", "entries", "markup", "created_at")}),
        ("Decision", {"fields": ("decided_at", "decided_by")}),
    )

    def has_accept_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators with that permission to accept a price within the bounds."""
        return may_act(request, RIGHT, _waiting(is_beyond_bounds=False), object_id)

    def has_accept_beyond_bounds_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow the same for a price beyond the bounds, which asks for a confirmation."""
        return may_act(request, RIGHT, _waiting(is_beyond_bounds=True), object_id)

    def has_dismiss_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators with that permission to dismiss a waiting proposal."""
        return may_act(request, RIGHT, _waiting(), object_id)

    @action(
        description="Accept",
        icon="check",
        permissions=["accept"],
        dialog=dialog("Publish this price", PUBLISHES, "Publish", ReasonForm),
    )
    def accept(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Publish the price."""
        return self._accept(request, form, object_id, beyond_bounds=False)

    @action(
        description="Accept beyond the bounds",
        icon="check",
        permissions=["accept_beyond_bounds"],
        dialog=dialog(
            "Publish this price, although it is beyond the bounds",
            f"It changes by {BEYOND}, or it is the first price of this model. {PUBLISHES}",
            "Publish",
            BeyondBoundsForm,
        ),
    )
    def accept_beyond_bounds(self, request: HttpRequest, form: BeyondBoundsForm, object_id: str) -> HttpResponse:
        """Publish the price, which an operator has confirmed."""
        return self._accept(request, form, object_id, beyond_bounds=True)

    @action(
        description="Dismiss",
        icon="close",
        permissions=["dismiss"],
        dialog=dialog("Dismiss this proposal", "The price stays as it is.", "Dismiss", ReasonForm),
    )
    def dismiss(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Dismiss the proposal."""
        try:
            price_proposals.dismiss(int(object_id), actor=request.user.get_username())
        except RefusedError as error:
            return self.leave_dialog(request, object_id, str(error), messages.WARNING)
        return self._done(request, form, object_id, "Dismissed.")

    def _accept(self, request: HttpRequest, form: Any, object_id: str, *, beyond_bounds: bool) -> HttpResponse:
        try:
            version = price_proposals.accept(
                int(object_id), actor=request.user.get_username(), beyond_bounds=beyond_bounds
            )
        except RefusedError as error:
            return self.leave_dialog(request, object_id, str(error), messages.ERROR)
        proposal = PriceProposal.objects.get(pk=object_id)
        self.log_addition(request, version, f"Accepted a proposal: {show(version.components)}")
        return self._done(request, form, object_id, f"Accepted. The {proposal.title} is published.")

    def _done(self, request: HttpRequest, form: Any, object_id: str, words: str) -> HttpResponse:
        logged = f"{words} Reason: {form.cleaned_data['reason']}"
        self.log_change(request, PriceProposal.objects.get(pk=object_id), logged)
        return self.leave_dialog(request, object_id, words, messages.SUCCESS)

    @display(description="State", label=COLOURS, ordering="state")
    def stage(self, proposal: PriceProposal) -> str:
        """Return the state."""
        return str(proposal.get_state_display())

    @display(description="Of")
    def kind(self, proposal: PriceProposal) -> str:
        """Return whether it is a price, or the deployment whose cost it is."""
        return f"cost at {proposal.deployments[0][0]}" if proposal.deployment else "price"

    @display(description="Change in USD per million")
    def change(self, proposal: PriceProposal) -> str:
        """Name the prices that differ most at the beginning of a price list."""
        return summary(proposal.components_now, proposal.components)

    @display(description="Changes")
    def changes(self, proposal: PriceProposal) -> str:
        """Show each price that differs."""
        found = table(proposal.components_now, proposal.components, proposal.rounded)
        rows = [[*prices, remark or "-"] for *prices, remark in found]
        shown = {"headers": [*HEADINGS, "Look at"], "rows": rows}
        return render_to_string("inference/price_changes.html", {"table": shown})

    @display(description="Bounds", label={"within": "success", "beyond": "danger"}, ordering="is_beyond_bounds")
    def bounds(self, proposal: PriceProposal) -> str:
        """Return whether the change is within the bounds."""
        return "beyond" if proposal.is_beyond_bounds else "within"

    @display(description="Notes", empty_value="-")
    def catalogue_notes(self, proposal: PriceProposal) -> str | None:
        """Show what the catalogue says beyond the price."""
        return format_html_join("", "<div>{}</div>", ((note,) for note in proposal.notes)) or None

    @display(description="Entries")
    def entries(self, proposal: PriceProposal) -> str:
        """Show the catalogue's entry for each deployment."""
        return format_html_join("", "<div>{}: {}</div>", proposal.deployments)

    @display(description="Markup")
    def markup(self, proposal: PriceProposal) -> str:
        """Return what is added to the catalogue's prices."""
        return f"{proposal.markup_percent} %"


def _waiting(**fields: Any) -> QuerySet[PriceProposal]:
    return PriceProposal.objects.filter(state=ProposalState.WAITING, **fields)
