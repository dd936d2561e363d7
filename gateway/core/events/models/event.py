"""What happened, and how often to whom."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from gateway.core.events.models.fields import KeyField


class OwnerKind(models.TextChoices):
    """Whose an event is: a wallet's owner as billing names it, or the endpoint that an operator tries."""

    ACCOUNT = "account"
    ORGANIZATION = "organization"
    ENDPOINT = "endpoint"


class EventOwner(models.Model):
    """The number of the owner's newest event. Its lock is the last one that a transaction takes (events_record)."""

    pk = models.CompositePrimaryKey("owner_kind", "owner_key")
    owner_kind = KeyField()
    owner_key = KeyField()
    sequence = models.BigIntegerField()

    class Meta:
        db_table = "events_owner"

    def __str__(self) -> str:
        return f"{self.owner_kind} {self.owner_key}"


class Event(models.Model):
    """Something that happened, written in its transaction by `events_record`.

    `sequence` grows by one with each event of an owner. `product` is set for events of one product. `data` is what the
    recorder knows; `body` is what product servers get, rendered once by the fan-out. `fanned_out_at` is null until
    deliveries and mails were made of it; `retry_at` is when a fan-out that failed is repeated.
    """

    id = models.BigAutoField(primary_key=True)
    public_id = KeyField()
    owner_kind = KeyField(choices=OwnerKind.choices)
    owner_key = KeyField()
    sequence = models.BigIntegerField()
    type = KeyField()
    product = KeyField(null=True, blank=True)
    data = models.JSONField()
    body = models.TextField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    fanned_out_at = models.DateTimeField(null=True, blank=True)
    retry_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "events_event"
        constraints = [
            models.UniqueConstraint(fields=["public_id"], name="event_public_id_unique"),
            models.UniqueConstraint(fields=["owner_kind", "owner_key", "sequence"], name="event_numbered_per_owner"),
            models.CheckConstraint(condition=Q(owner_kind__in=OwnerKind.values), name="event_owner_kind_known"),
        ]
        indexes = [
            models.Index(fields=["id"], name="event_to_fan_out", condition=Q(fanned_out_at__isnull=True)),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.public_id}"
