"""Entitlements: the current and past products of organizations."""

from django.db import models

from accounts.models import Product
from organizations.models.intervals import interval_constraints
from organizations.models.organization import Organization


class Entitlement(models.Model):
    """One row for each product that the organization has ever enabled. `max_seats` None means no cap."""

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey(Organization, models.PROTECT, related_name="entitlements")
    product = models.ForeignKey(Product, models.PROTECT, to_field="slug", related_name="+")
    is_enabled = models.BooleanField(default=False)
    max_seats = models.PositiveIntegerField(null=True, blank=True)
    version = models.PositiveBigIntegerField(default=1)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["organization", "product"], name="entitlement_one_per_product"),
        ]

    def __str__(self) -> str:
        return f"{self.product_id} of {self.organization_id}"


class EntitlementInterval(models.Model):
    """A period in which the product was enabled: `[started_at, ended_at)`."""

    entitlement = models.ForeignKey(Entitlement, models.PROTECT, related_name="intervals")
    started_at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = interval_constraints("entitlement_interval")

    def __str__(self) -> str:
        return f"{self.started_at} to {self.ended_at or 'now'}"
