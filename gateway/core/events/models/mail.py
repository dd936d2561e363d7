"""Mails that events become."""

from django.db import models
from django.db.models import F, Q
from django.db.models.functions import Lower, Now

from gateway.core.encryption.fields import EncryptedTextField
from gateway.core.events.models.event import Event, OwnerKind
from gateway.core.events.models.fields import KeyField


class MailStatus(models.TextChoices):
    """due → sent | failed (refused for good, or all attempts failed) | unsent (it was never to be sent; `error` says why)."""

    DUE = "due", "Waiting"
    SENT = "sent", "Sent"
    FAILED = "failed", "Failed"
    UNSENT = "unsent", "Not sent"


class Mail(models.Model):
    """One event for one person, as its draft says; it is the history of what people were told, even if nothing is sent.

    `recipient` is the person's DID, or stands for an address without an account (`recipients.of_address`). `owner_kind` and
    `owner_key` are the event's. `context` is the template's, as JSON; it may hold a secret link, and is blanked once the mail is
    sent or given up. `next_at` is when it is due; `claimed_until` is the lease of the worker that sends it, and `claim` names
    the worker's attempt.
    """

    id = models.BigAutoField(primary_key=True)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="mails", db_index=False)
    recipient = KeyField()
    to = KeyField(blank=True)
    name = models.TextField(default="", blank=True)
    owner_kind = KeyField(choices=OwnerKind.choices)
    owner_key = KeyField()
    kind = KeyField()
    template = models.TextField()
    subject = models.TextField()
    context = EncryptedTextField(default="", blank=True)
    can_unsubscribe = models.BooleanField(default=False)
    status = models.TextField(choices=MailStatus.choices, default=MailStatus.DUE)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    claim = models.UUIDField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_mail"
        constraints = [
            models.UniqueConstraint(fields=["event", "recipient"], name="mail_one_per_event_and_recipient"),
            models.CheckConstraint(condition=Q(status__in=MailStatus.values), name="mail_status_known"),
            models.CheckConstraint(condition=Q(status="due") ^ Q(next_at__isnull=True), name="mail_due_has_its_time"),
            models.CheckConstraint(condition=Q(status="sent") ^ Q(sent_at__isnull=True), name="mail_sent_has_its_time"),
        ]
        indexes = [
            models.Index(fields=["next_at", "id"], name="mail_due", condition=Q(status="due")),
            models.Index(fields=["owner_kind", "owner_key", "-id"], name="mail_newest_of_owner"),
            models.Index(fields=["recipient", "-id"], name="mail_newest_of_recipient"),
            # Operators find what was sent to an address.
            models.Index(Lower("to"), F("id").desc(), name="mail_newest_of_address"),
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class MailOptOut(models.Model):
    """A kind of mails that a person does not want about one owner: their own account, or one organization."""

    pk = models.CompositePrimaryKey("recipient", "owner_kind", "owner_key", "kind")
    recipient = KeyField()
    owner_kind = KeyField(choices=OwnerKind.choices)
    owner_key = KeyField()
    kind = KeyField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_mail_opt_out"

    def __str__(self) -> str:
        return f"{self.recipient} without {self.kind}"
