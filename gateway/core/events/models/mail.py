"""Mails that events become."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from gateway.core.encryption.fields import EncryptedTextField
from gateway.core.events.models.event import Event
from gateway.core.events.models.fields import KeyField


class MailStatus(models.TextChoices):
    """due → sent | failed (refused for good, or all attempts failed)."""

    DUE = "due"
    SENT = "sent"
    FAILED = "failed"


class Mail(models.Model):
    """One event for one person, as its draft says. `context` is the template's, as JSON; it may hold a secret link.

    `next_at` is when it is due; `claimed_until` is the lease of the worker that sends it.
    """

    id = models.BigAutoField(primary_key=True)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="mails", db_index=False)
    to = KeyField()
    name = models.TextField(default="", blank=True)
    kind = KeyField()
    template = models.TextField()
    context = EncryptedTextField(default="{}")
    can_unsubscribe = models.BooleanField(default=False)
    status = models.TextField(choices=MailStatus.choices, default=MailStatus.DUE)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    error = models.TextField(default="", blank=True)
    sent_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_mail"
        constraints = [
            models.UniqueConstraint(fields=["event", "to"], name="mail_one_per_event_and_recipient"),
            models.CheckConstraint(condition=Q(status__in=MailStatus.values), name="mail_status_known"),
            models.CheckConstraint(condition=Q(status="due") ^ Q(next_at__isnull=True), name="mail_due_has_its_time"),
            models.CheckConstraint(condition=Q(status="sent") ^ Q(sent_at__isnull=True), name="mail_sent_has_its_time"),
        ]
        indexes = [models.Index(fields=["next_at", "id"], name="mail_due", condition=Q(status="due"))]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"
