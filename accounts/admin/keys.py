"""Console pages for the keys that sign tokens and receipts: viewing and rotation."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from accounts.models import ReceiptKey, SigningKey
from accounts.operations import receipt_keys, signing_keys
from gateway.core.console import ReadOnlyAdmin, ReasonForm, dialog


class _RotatedKeyAdmin(ReadOnlyAdmin):
    """Keys whose pending one can be promoted by `rotate`. Their private parts are never loaded here."""

    empty_text = "The worker makes the first one. Start it, if it is not running."
    list_filter = ("state",)
    ordering = ("-created_at",)
    actions_list = ("rotate",)

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        """Exclude the private part from the query."""
        return super().get_queryset(request).defer("private_pem")

    def has_rotate_permission(self, request: HttpRequest) -> bool:
        return bool(request.user.is_superuser)

    def _leave_rotated(self, request: HttpRequest, form: ReasonForm, key: SigningKey | ReceiptKey) -> HttpResponse:
        self.log_change(request, key, f"Rotated, this key now signs: {form.cleaned_data['reason']}")
        return self.leave_dialog(request, None, f"Key {key.kid} now signs.", messages.SUCCESS)


@admin.register(SigningKey)
class SigningKeyAdmin(_RotatedKeyAdmin):
    """The gateway's signing keys. Their private parts are never loaded here."""

    list_display = ("kid", "stage", "created_at", "activated_at", "passive_at", "retired_at")
    fields = ("kid", "stage", "public_jwk", "created_at", "activated_at", "passive_at", "retired_at")

    @display(
        description="State", label={"active": "success", "pending": "info", "passive": "warning", "retired": "danger"}
    )
    def stage(self, key: SigningKey) -> str:
        return key.state

    @action(
        description="Rotate",
        icon="autorenew",
        permissions=["rotate"],
        dialog=dialog(
            "Rotate the signing keys",
            "The pending key starts signing. The current key stays valid until its last token has expired.",
            "Rotate",
            ReasonForm,
        ),
    )
    def rotate(self, request: HttpRequest, form: ReasonForm) -> HttpResponse:
        """Promote the pending key to sign, and publish its successor."""
        return self._leave_rotated(request, form, signing_keys.rotate(now=timezone.now()))


@admin.register(ReceiptKey)
class ReceiptKeyAdmin(_RotatedKeyAdmin):
    """The keys of receipts. Their private parts are never loaded here."""

    list_display = ("kid", "stage", "created_at", "activated_at", "retired_at", "withdrawn_at")
    fields = ("kid", "stage", "public_jwk", "created_at", "activated_at", "retired_at", "withdrawn_at")

    @display(
        description="State", label={"active": "success", "pending": "info", "retired": "default", "withdrawn": "danger"}
    )
    def stage(self, key: ReceiptKey) -> str:
        return key.state

    @action(
        description="Rotate",
        icon="autorenew",
        permissions=["rotate"],
        dialog=dialog(
            "Rotate the receipt keys",
            "The pending key starts signing. The current key stays published, so that its receipts can be verified.",
            "Rotate",
            ReasonForm,
        ),
    )
    def rotate(self, request: HttpRequest, form: ReasonForm) -> HttpResponse:
        """Promote the pending key to sign, and publish its successor."""
        return self._leave_rotated(request, form, receipt_keys.rotate(now=timezone.now()))
