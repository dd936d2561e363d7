"""Console pages of the endpoints that products' servers get events at, and of what is sent to them."""

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display
from unfold.forms import BaseDialogForm
from unfold.widgets import UnfoldAdminSelectWidget, UnfoldAdminTextInputWidget

from accounts.models import Product
from gateway.core.console import (
    ConsoleAdmin,
    LinesField,
    ListReasonForm,
    PartyColumn,
    ReadOnlyAdmin,
    ReasonField,
    ReasonForm,
    SecretField,
    dialog,
    links,
    may_act,
    reason_of,
)
from gateway.core.events.models import Delivery, DeliveryStatus, Endpoint
from gateway.core.events.operations import deliveries, endpoints
from gateway.core.events.rules.addresses import URL_WORDS, is_endpoint_url
from gateway.core.events.rules.secrets import key_of, new_secret
from gateway.core.events.rules.types import PUBLIC_TYPES, types_of

CHANGE_ENDPOINT, CHANGE_DELIVERY = "events.change_endpoint", "events.change_delivery"
WORKING, FAILING, DISABLED = "Enabled", "Failing", "Disabled"
STATES = {WORKING: "success", FAILING: "danger", DISABLED: "default"}
STATUSES = {
    DeliveryStatus.DUE.label: "info",
    DeliveryStatus.DELIVERED.label: "success",
    DeliveryStatus.FAILED.label: "danger",
}


def _check_secret(secret: str) -> str:
    try:
        key_of(secret)
    except ValueError as error:
        raise ValidationError(f"This {error}.") from None
    return secret


class EndpointForm(forms.ModelForm):
    """Checks what the file checks. A secret can be set, and never read."""

    product = forms.ChoiceField(
        widget=UnfoldAdminSelectWidget, help_text="The endpoint gets events of this product alone."
    )
    types = LinesField(help_text=f"One per line, or a group such as budget.*: {', '.join(PUBLIC_TYPES)}.")
    secret = SecretField(
        label="Secret",
        required=True,
        help_text="As echo whsec_$(openssl rand -base64 32) prints. Stored encrypted and never shown.",
    )

    class Meta:
        model = Endpoint
        fields = ("name", "product", "url", "types", "secret", "enabled")
        widgets = {"name": UnfoldAdminTextInputWidget, "url": UnfoldAdminTextInputWidget}

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if isinstance(product := self.fields.get("product"), forms.ChoiceField):
            product.choices = Product.objects.order_by("slug").values_list("slug", "name")
        if not self.instance._state.adding:  # noqa: SLF001 (documented)
            del self.fields["secret"]  # it is rotated

    def clean_url(self) -> str:
        url: str = self.cleaned_data["url"]
        if not is_endpoint_url(url, or_loopback=settings.EVENTS_ON_LOOPBACK):
            raise ValidationError(f"This {URL_WORDS}.")
        return url

    def clean_types(self) -> list[str]:
        types: list[str] = list(dict.fromkeys(self.cleaned_data["types"]))
        if unknown := [name for name in types if not types_of(name)]:
            raise ValidationError(f"There is no type of events {unknown[0]}.")
        return types

    def clean_secret(self) -> str:
        return _check_secret(self.cleaned_data["secret"].strip())


class RotationForm(BaseDialogForm):
    """Shows a new secret, or takes another one."""

    secret = forms.CharField(
        label="New secret",
        initial=new_secret,
        widget=UnfoldAdminTextInputWidget(attrs={"autocomplete": "off"}),
        help_text="Copy it now: it is never shown again.",
    )
    reason = ReasonField()

    def clean_secret(self) -> str:
        return _check_secret(self.cleaned_data["secret"].strip())


@admin.register(Endpoint)
class EndpointAdmin(ConsoleAdmin):
    """Endpoints. An endpoint is disabled instead of deleted, which would delete what was sent to it."""

    form = EndpointForm
    permanent_fields = ("name", "product")
    list_display = ("name", "product", "url", "state", "failing_since")
    list_filter = ("enabled", "product")
    search_fields = ("name", "url")
    ordering = ("name",)
    readonly_fields = ("state", "failing_since", "disabled_reason", "secrets", "sent")
    actions_detail = ("send_test", "rotate_secret")

    def get_fieldsets(self, request: HttpRequest, obj: Endpoint | None = None) -> Any:
        fields = ("name", "product", "url", "types", "enabled")
        if obj is None:
            return [(None, {"fields": (*fields, "secret")})]
        state = ("state", "failing_since", "disabled_reason", "secrets", "sent")
        return [(None, {"fields": fields}), ("State", {"fields": state})]

    def has_delete_permission(self, request: HttpRequest, obj: Endpoint | None = None) -> bool:
        return False

    def save_model(self, request: HttpRequest, obj: Endpoint, form: Any, change: bool) -> None:
        endpoints.save(obj)

    def has_send_test_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, CHANGE_ENDPOINT, Endpoint.objects.filter(enabled=True), object_id)

    def has_rotate_secret_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, CHANGE_ENDPOINT, Endpoint.objects.all(), object_id)

    @action(
        description="Send a test event",
        icon="send",
        permissions=["send_test"],
        dialog=dialog(
            "Send a test event",
            "Sends an event of the type test.ping, whatever the endpoint's types are. Its delivery shows the answer.",
            "Send",
            ReasonForm,
        ),
    )
    def send_test(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Send a test event."""
        delivery, reason = endpoints.send_test(int(object_id), now=timezone.now()), form.cleaned_data["reason"]
        self.log_change(request, delivery.endpoint, f"Sent the test event {delivery.event.public_id}: {reason}")
        return self.leave_dialog(request, object_id, "The test event is on its way.", messages.SUCCESS)

    @action(
        description="Rotate the secret",
        icon="key",
        permissions=["rotate_secret"],
        dialog=dialog(
            "Rotate the secret",
            "Events are signed with both secrets for 24 hours. If a configuration file states the secret, change it there.",
            "Rotate",
            RotationForm,
        ),
    )
    def rotate_secret(self, request: HttpRequest, form: RotationForm, object_id: str) -> HttpResponse:
        """Replace the endpoint's secret."""
        endpoints.rotate(int(object_id), secret=form.cleaned_data["secret"], now=timezone.now())
        self.log_change(
            request, Endpoint.objects.get(pk=object_id), f"Rotated the secret: {form.cleaned_data['reason']}"
        )
        return self.leave_dialog(request, object_id, "Both secrets sign for 24 hours.", messages.SUCCESS)

    @display(description="State", label=STATES)
    def state(self, endpoint: Endpoint) -> str:
        if not endpoint.enabled:
            return DISABLED
        return FAILING if endpoint.failing_since else WORKING

    @display(description="Secrets")
    def secrets(self, endpoint: Endpoint) -> str:
        """Describe which secrets sign."""
        until = endpoint.previous_secret_until
        if until is None or until <= timezone.now():
            return "One"
        return f"New and previous, until {until:%Y-%m-%d %H:%M} UTC"

    @display(description="Look at")
    def sent(self, endpoint: Endpoint) -> str:
        return links([("Deliveries", "events_delivery", endpoint.name)])


@admin.register(Delivery)
class DeliveryAdmin(ReadOnlyAdmin):
    """Events for endpoints, newest first, with the last answer."""

    empty_text = "Add an event endpoint first: what is sent to it is listed here."
    owner = PartyColumn("Owner", "event.owner_key", kind_path="event.owner_kind")

    list_display = ("event_id_shown", "type", "to", "state", "status_code", "attempts", "attempted_at", "next_at")
    list_filter = ("status", ("endpoint", admin.RelatedOnlyFieldListFilter), "created_at")
    list_select_related = ("event", "endpoint")
    search_fields = ("event__public_id__exact", "endpoint__name__exact", "event__owner_key__exact")
    search_help_text = "The complete id of an event or of its owner, or the name of an endpoint."
    ordering = ("-id",)
    actions = ("send_again",)
    action_form = ListReasonForm
    actions_detail = ("send_one_again",)
    fieldsets = (
        (None, {"fields": ("event_id_shown", "type", "owner", "to", "state", "attempts")}),
        (
            "Last attempt",
            {"fields": ("attempted_at", "lasted", "status_code", "answer", "error", "next_at", "delivered_at")},
        ),
        ("Event", {"fields": ("happened_at", "sequence", "body")}),
    )

    def has_send_again_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        rows = Delivery.objects.filter(endpoint__enabled=True)
        return may_act(request, CHANGE_DELIVERY, rows, object_id)

    @admin.action(description="Send again", permissions=["send_again"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[Delivery]) -> None:
        """Send these events again. What goes to a disabled endpoint is left out."""
        rows = list(queryset.filter(endpoint__enabled=True).select_related("event", "endpoint"))
        count = deliveries.send_again(Delivery.objects.filter(pk__in=[row.pk for row in rows]), now=timezone.now())
        for row in rows:
            self.log_change(request, row, f"Sent again: {reason_of(request)}")
        self.message_user(request, f"Events to be sent again: {count}.", messages.SUCCESS)

    @action(
        description="Send again",
        icon="replay",
        permissions=["send_again"],
        dialog=dialog(
            "Send this event again",
            "The endpoint gets the same bytes, whatever it answered before.",
            "Send",
            ReasonForm,
        ),
    )
    def send_one_again(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Send this event again."""
        deliveries.send_again(Delivery.objects.filter(pk=object_id), now=timezone.now())
        self.log_change(request, Delivery.objects.get(pk=object_id), f"Sent again: {form.cleaned_data['reason']}")
        return self.leave_dialog(request, object_id, "The event is on its way again.", messages.SUCCESS)

    @display(description="Event", ordering="id")
    def event_id_shown(self, delivery: Delivery) -> str:
        return delivery.event.public_id

    @display(description="Type")
    def type(self, delivery: Delivery) -> str:
        return delivery.event.type

    @display(description="Endpoint", ordering="endpoint")
    def to(self, delivery: Delivery) -> str:
        return delivery.endpoint.name

    @display(description="Status", label=STATUSES)
    def state(self, delivery: Delivery) -> str:
        return DeliveryStatus(delivery.status).label

    @display(description="Duration")
    def lasted(self, delivery: Delivery) -> str:
        return "" if delivery.duration_milliseconds is None else f"{delivery.duration_milliseconds} ms"

    @display(description="Happened at")
    def happened_at(self, delivery: Delivery) -> str:
        return f"{delivery.event.created_at:%Y-%m-%d %H:%M:%S}"

    @display(description="Sequence")
    def sequence(self, delivery: Delivery) -> int:
        return delivery.event.sequence

    @display(description="Body")
    def body(self, delivery: Delivery) -> str:
        return delivery.event.body or ""
