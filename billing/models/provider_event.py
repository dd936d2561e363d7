"""Webhook events of payment providers."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField


class ProviderEvent(models.Model):
    """A signed webhook event. It records only that something happened to an object. No personal data is stored.

    `object_ref` is the provider's id of the object; `payment_ref` and `transaction_id` are the ids that the event
    itself gives, if any. `handled_at` is set once the event's checkout was compared with the provider's record, or was
    found not to exist here; `checkout_id` is that checkout.
    """

    id = models.BigAutoField(primary_key=True)
    provider = KeyField()
    event_id = KeyField()
    type = KeyField()
    object_ref = KeyField()
    payment_ref = KeyField(null=True, blank=True)
    transaction_id = KeyField(null=True, blank=True)
    checkout_id = KeyField(null=True, blank=True)
    received_at = models.DateTimeField(db_default=Now())
    handled_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "billing_provider_event"
        constraints = [models.UniqueConstraint(fields=["provider", "event_id"], name="provider_event_stored_once")]
        indexes = [
            models.Index(fields=["received_at"], name="provider_event_waiting", condition=Q(handled_at__isnull=True)),
            models.Index(fields=["-received_at"], name="provider_event_newest_first"),
            # Operators find a payment by its provider's id of a refund.
            models.Index(fields=["object_ref"], name="provider_event_of_object"),
        ]

    def __str__(self) -> str:
        return f"{self.type} {self.event_id}"
