"""Organizations, whose members share products and a wallet."""

from django.db import models
from django.db.models.functions import Collate, Lower


class Organization(models.Model):
    """A lock on its row protects everything in it. Every change to a member, product or seat takes this lock first.

    `version` and `changed_at` strictly increase with every change in the organization. While `is_past_due` is set, no
    seats can be assigned. While `suspended_at` is set, its tokens are refused and its wallet spends nothing (`Wallet.is_suspended` says
    so too); `suspension_text` is what its members are told about it.
    """

    NAME_MAX_CHARACTERS = 120
    SUSPENSION_TEXT_MAX_CHARACTERS = 500

    id = models.CharField(primary_key=True, max_length=40)
    name = models.CharField(max_length=NAME_MAX_CHARACTERS)
    version = models.PositiveBigIntegerField(default=1)
    is_past_due = models.BooleanField(default=False)
    suspended_at = models.DateTimeField(null=True, blank=True)
    suspension_text = models.TextField(db_default="")
    created_at = models.DateTimeField()
    changed_at = models.DateTimeField()

    class Meta:
        permissions = [("suspend_organization", "Can suspend organizations")]
        constraints = [models.CheckConstraint(condition=~models.Q(name=""), name="organization_has_a_name")]
        # Operators find organizations by the beginning of their name.
        indexes = [models.Index(Collate(Lower("name"), "C"), name="organization_by_name")]

    def __str__(self) -> str:
        return self.name
