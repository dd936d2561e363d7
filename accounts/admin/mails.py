"""The console's page of the mails that events become: what was sent to whom, and what the mail server said."""

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from unfold.decorators import action, display

from gateway.core.console import ListReasonForm, PartyColumn, ReadOnlyAdmin, ReasonForm, dialog, may_act, reason_of
from gateway.core.events.models import Mail, MailStatus
from gateway.core.events.operations import mails
from gateway.core.events.rules.mail_kinds import KINDS

CHANGE_MAIL = "events.change_mail"
STATUSES = {
    MailStatus.DUE.label: "info",
    MailStatus.SENT.label: "success",
    MailStatus.FAILED.label: "danger",
    MailStatus.UNSENT.label: "default",
}


@admin.register(Mail)
class MailAdmin(ReadOnlyAdmin):
    """Mails, newest first. What they say is encrypted until they are sent, and never shown."""

    empty_text = "The service sends mail once EMAIL_URL names a mail server."
    owner = PartyColumn("About", "owner_key", kind_path="owner_kind")

    list_display = ("subject", "to", "owner", "kind_shown", "state", "attempts", "error", "happened_at")
    list_filter = ("status", "kind", "created_at")
    list_select_related = ("event",)
    search_fields = ("to__iexact", "recipient__exact", "owner_key__exact", "event__public_id__exact")
    search_help_text = "A complete email address, or the id of a person, an organization or an event."
    ordering = ("-id",)
    actions = ("send_again",)
    action_form = ListReasonForm
    actions_detail = ("send_one_again",)
    fieldsets = (
        (None, {"fields": ("subject", "to", "name", "recipient", "owner", "kind_shown", "event_id_shown")}),
        ("Sending", {"fields": ("state", "attempts", "error", "next_at", "sent_at", "happened_at")}),
    )

    def get_queryset(self, request: HttpRequest) -> QuerySet[Mail]:
        return super().get_queryset(request).defer("context")

    def has_send_again_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        return may_act(request, CHANGE_MAIL, mails.repeatable(), object_id)

    @admin.action(description="Send again", permissions=["send_again"])
    def send_again(self, request: HttpRequest, queryset: QuerySet[Mail]) -> None:
        """Send those of these mails again that have failed."""
        sent = [one for one in queryset if mails.send_again(mail_id=one.pk, now=timezone.now())]
        for one in sent:
            self.log_change(request, one, f"Sent again: {reason_of(request)}")
        self.message_user(request, f"Mails to be sent again: {len(sent)}.", messages.SUCCESS)

    @action(
        description="Send again",
        icon="replay",
        permissions=["send_again"],
        dialog=dialog("Send this mail again", "It is tried as if it were new.", "Send", ReasonForm),
    )
    def send_one_again(self, request: HttpRequest, form: ReasonForm, object_id: str) -> HttpResponse:
        """Send this mail again."""
        mails.send_again(mail_id=int(object_id), now=timezone.now())
        self.log_change(request, Mail.objects.get(pk=object_id), f"Sent again: {form.cleaned_data['reason']}")
        return self.leave_dialog(request, object_id, "The mail is on its way again.", messages.SUCCESS)

    @display(description="Kind", ordering="kind")
    def kind_shown(self, mail: Mail) -> str:
        kind = KINDS.get(mail.kind)
        return kind.title if kind else mail.kind

    @display(description="Status", label=STATUSES)
    def state(self, mail: Mail) -> str:
        return MailStatus(mail.status).label

    @display(description="Event")
    def event_id_shown(self, mail: Mail) -> Any:
        return mail.event.public_id

    @display(description="Happened at", ordering="id")
    def happened_at(self, mail: Mail) -> Any:
        return mail.event.created_at
