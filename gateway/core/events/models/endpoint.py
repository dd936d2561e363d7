"""The product servers' addresses that events are sent to."""

from django.contrib.postgres.fields import ArrayField
from django.db import models
from django.db.models.functions import Now

from gateway.core.encryption.fields import EncryptedTextField
from gateway.core.events.models.fields import KeyField


class Endpoint(models.Model):
    """An address of a product's server. `types` are types of events and patterns ("budget.*").

    `secret` signs (`whsec_` and base64); `previous_secret` signs as well until `previous_secret_until`. `product` never changes, or
    events of one product would go to another. A disabled endpoint gets no new deliveries, and those that are due wait.
    `disabled_reason` says why the gateway disabled it. `failing_since` is its first failed attempt after the last success.
    `claimed_until` is the lease of the worker that sends to it; `served_at` is when its last turn ended.
    """

    id = models.BigAutoField(primary_key=True)
    name = KeyField()
    product = KeyField()
    url = models.TextField()
    secret = EncryptedTextField()
    previous_secret = EncryptedTextField(null=True, blank=True)
    previous_secret_until = models.DateTimeField(null=True, blank=True)
    types = ArrayField(models.TextField())
    enabled = models.BooleanField(default=True)
    disabled_reason = models.TextField(default="", blank=True)
    failing_since = models.DateTimeField(null=True, blank=True)
    claimed_until = models.DateTimeField(null=True, blank=True)
    served_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_endpoint"
        verbose_name = "event endpoint"
        constraints = [models.UniqueConstraint(fields=["name"], name="endpoint_name_unique")]

    def __str__(self) -> str:
        return self.name


class Subscription(models.Model):
    """A type of events that some enabled endpoint of a product gets. Paid calls look here before they record an event."""

    pk = models.CompositePrimaryKey("product", "type")
    product = KeyField()
    type = KeyField()

    class Meta:
        db_table = "events_subscription"

    def __str__(self) -> str:
        return f"{self.product} {self.type}"
