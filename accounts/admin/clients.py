"""Public clients and the devices signed in through them."""

from typing import Any

from django import forms
from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action

from accounts.admin.people import person_fields
from accounts.models import DeviceSession, PublicClient
from accounts.operations import devices
from accounts.rules import public_clients
from gateway.core.console import (
    ConsoleAdmin,
    LinesField,
    ListReasonForm,
    PartyColumn,
    ReadOnlyAdmin,
    ReasonForm,
    dialog,
    may_act,
    reason_of,
)
from gateway.core.contract.addresses import REDIRECT_WORDS, is_redirect_uri

RIGHT = "accounts.change_devicesession"


class PublicClientForm(forms.ModelForm):
    """Validates a client as the configuration file does."""

    redirect_uris = LinesField(
        required=False, label="Redirect URIs", help_text="One per line. Each must match exactly."
    )

    class Meta:
        model = PublicClient
        fields = ("client_id", "name", "redirect_uris", "trusted", "enabled")

    def clean_client_id(self) -> str:
        """Refuse an id that is neither a plain name nor an origin."""
        client_id: str = self.cleaned_data["client_id"]
        if not public_clients.is_client_id(client_id):
            raise ValidationError("This must be a plain name or an origin, such as https://app.example.")
        return client_id

    def clean_redirect_uris(self) -> list[str]:
        uris: list[str] = self.cleaned_data["redirect_uris"]
        if not all(map(is_redirect_uri, uris)):
            raise ValidationError(f"Each {REDIRECT_WORDS}.")
        return uris

    def clean(self) -> dict[str, Any]:
        """Refuse redirect URIs that do not fit the client."""
        cleaned = super().clean() or {}
        client_id, uris, trusted = (cleaned.get(name) for name in ("client_id", "redirect_uris", "trusted"))
        if client_id and uris is not None:
            fault = public_clients.registration_fault(client_id, uris, trusted=bool(trusted))
            if fault:
                self.add_error("redirect_uris", f"{fault[0].upper()}{fault[1:]}.")
        return cleaned


@admin.register(PublicClient)
class PublicClientAdmin(ConsoleAdmin):
    """Registered clients without a secret."""

    form = PublicClientForm
    list_display = ("client_id", "name", "trusted", "enabled")
    list_filter = ("trusted", "enabled")
    search_fields = ("client_id", "name")
    ordering = ("client_id",)


@admin.register(DeviceSession)
class DeviceSessionAdmin(ReadOnlyAdmin):
    """Signed-in devices."""

    empty_text = "One begins when a person signs in through an app, or with the command line: agw login."
    person = PartyColumn("Account", "account")

    list_display = ("name", "person", "client_id", "created_at", "last_used_at", "expires_at", "revoked_at")
    list_filter = (("revoked_at", admin.EmptyFieldListFilter), "created_at")
    list_select_related = ("account",)
    search_fields = ("id__exact", *person_fields("account"), "client_id")
    ordering = ("-created_at",)
    fields = (
        *("id", "name", "person", "client_id", "scopes", "consents"),
        *("created_at", "last_used_at", "expires_at", "revoked_at"),
    )
    actions = ("revoke",)
    actions_detail = ("end",)
    action_form = ListReasonForm

    def has_revoke_permission(self, request: HttpRequest) -> bool:
        return request.user.has_perm(RIGHT)

    def has_end_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow the operators who may end sessions to end this one; an operator's, only with every right, as all of them."""
        return may_act(request, RIGHT, _of_others(request, DeviceSession.objects.filter(revoked_at=None)), object_id)

    @action(
        description="End",
        icon="logout",
        permissions=["end"],
        dialog=dialog(
            "End this session",
            "The device is signed out at once, and has to sign in again. The account's other devices are not.",
            "End",
            ReasonForm,
        ),
    )
    def end(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Sign this device out at once."""
        session = DeviceSession.objects.select_related("account").get(pk=object_id)
        if not devices.revoke(account=session.account, session_id=session.pk, now=timezone.now()):
            return self.leave_dialog(request, object_id, "The session has ended already.", messages.WARNING)
        return self.finish_dialog(request, form, object_id, "Ended")

    @admin.action(description="Revoke", permissions=["revoke"])
    def revoke(self, request: HttpRequest, queryset: QuerySet[DeviceSession]) -> None:
        """Sign these devices out at once, except operators'."""
        revoked = [
            session
            for session in _of_others(request, queryset.select_related("account"))
            if devices.revoke(account=session.account, session_id=session.pk, now=timezone.now())
        ]
        for session in revoked:
            self.log_change(request, session, f"Revoked: {reason_of(request)}")
        self.message_user(request, f"Revoked {len(revoked)}.", messages.SUCCESS)


def _of_others(request: HttpRequest, sessions: QuerySet[DeviceSession]) -> QuerySet[DeviceSession]:
    """Select the sessions of people who are no operators; all for an operator with every right."""
    return (
        sessions if request.user.is_superuser else sessions.filter(account__is_staff=False, account__is_superuser=False)
    )
