"""Events on their way to endpoints."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from gateway.core.events.models.endpoint import Endpoint
from gateway.core.events.models.event import Event


class DeliveryStatus(models.TextChoices):
    """due → delivered | failed: all attempts failed, or the endpoint wants no more."""

    DUE = "due"
    DELIVERED = "delivered"
    FAILED = "failed"


class Delivery(models.Model):
    """One event for one endpoint. `next_at` is when it is due. `status_code`, `answer` (the start of the body) and `error` are
    those of the last attempt."""

    id = models.BigAutoField(primary_key=True)
    event = models.ForeignKey(Event, on_delete=models.CASCADE, related_name="deliveries")
    endpoint = models.ForeignKey(Endpoint, on_delete=models.CASCADE, related_name="deliveries", db_index=False)
    status = models.TextField(choices=DeliveryStatus.choices, default=DeliveryStatus.DUE)
    attempts = models.IntegerField(default=0)
    next_at = models.DateTimeField(null=True, blank=True)
    attempted_at = models.DateTimeField(null=True, blank=True)
    duration_milliseconds = models.IntegerField(null=True, blank=True)
    status_code = models.IntegerField(null=True, blank=True)
    answer = models.TextField(default="", blank=True)
    error = models.TextField(default="", blank=True)
    delivered_at = models.DateTimeField(null=True, blank=True)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "events_delivery"
        verbose_name_plural = "deliveries"
        constraints = [
            models.UniqueConstraint(fields=["event", "endpoint"], name="delivery_one_per_event_and_endpoint"),
            models.CheckConstraint(condition=Q(status__in=DeliveryStatus.values), name="delivery_status_known"),
            models.CheckConstraint(
                condition=Q(status="due") ^ Q(next_at__isnull=True), name="delivery_due_has_its_time"
            ),
            models.CheckConstraint(
                condition=Q(status="delivered") ^ Q(delivered_at__isnull=True), name="delivery_delivered_has_its_time"
            ),
        ]
        indexes = [
            models.Index(fields=["endpoint", "next_at", "id"], name="delivery_due", condition=Q(status="due")),
            models.Index(fields=["endpoint", "-id"], name="delivery_newest_of_endpoint"),
        ]

    def __str__(self) -> str:
        return f"delivery {self.pk}"
