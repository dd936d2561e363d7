"""Products of an organization that an external provider bills."""

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now

from billing.models.fields import KeyField


class MappingMode(models.TextChoices):
    """The provider's mode that the account belongs to."""

    TEST = "test"
    LIVE = "live"


class ExternalMapping(models.Model):
    """A verified statement that `external_org_id` at `provider` bills the organization's seats of `product`.

    `created_at` is the time of the first confirmation: months that end later are not invoiced here.
    """

    id = models.BigAutoField(primary_key=True)
    org_id = KeyField()
    product = KeyField()
    provider = KeyField()
    external_org_id = KeyField()
    mode = models.TextField(choices=MappingMode.choices)
    verified_by = KeyField()
    verified_at = models.DateTimeField()
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        db_table = "billing_external_mapping"
        constraints = [
            models.UniqueConstraint(fields=["org_id", "product"], name="external_mapping_one_per_product"),
            models.UniqueConstraint(
                fields=["provider", "external_org_id", "product"], name="external_mapping_one_organization"
            ),
            models.CheckConstraint(condition=Q(mode__in=MappingMode.values), name="external_mapping_mode_known"),
        ]

    def __str__(self) -> str:
        return f"{self.org_id} {self.product}: {self.provider} {self.external_org_id}"
