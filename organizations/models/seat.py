"""Seats: assignments of members to products."""

from django.db import models
from django.db.models import Value
from django.db.models.functions import Coalesce

from organizations.models.entitlement import Entitlement
from organizations.models.intervals import interval_constraints
from organizations.models.membership import Membership


class Seat(models.Model):
    """Whether a membership has the product's seat. The row is never deleted, and its version grows."""

    id = models.BigAutoField(primary_key=True)
    entitlement = models.ForeignKey(Entitlement, models.PROTECT, related_name="seats")
    membership = models.ForeignKey(Membership, models.PROTECT, related_name="seats")
    assigned_at = models.DateTimeField(null=True, blank=True)
    version = models.PositiveBigIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["entitlement", "membership"], name="seat_one_per_membership"),
        ]
        indexes = [
            models.Index(fields=["entitlement"], condition=models.Q(assigned_at__isnull=False), name="seat_assigned"),
        ]

    def __str__(self) -> str:
        return f"{self.membership_id} in {self.entitlement_id}"

    @property
    def is_assigned(self) -> bool:
        return self.assigned_at is not None


class SeatInterval(models.Model):
    """A period in which the seat was assigned: `[started_at, ended_at)`."""

    seat = models.ForeignKey(Seat, models.PROTECT, related_name="intervals", db_index=False)
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = interval_constraints("seat_interval")
        # A month's report reads only intervals that ended since, not the seat's whole history.
        indexes = [models.Index("seat", Coalesce("ended_at", Value("infinity")), name="seat_interval_by_end")]

    def __str__(self) -> str:
        return f"{self.started_at} to {self.ended_at or 'now'}"
