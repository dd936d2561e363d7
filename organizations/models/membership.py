"""Memberships of people in organizations."""

from django.conf import settings
from django.db import models

from organizations.models.organization import Organization
from organizations.rules.roles import Role


class Membership(models.Model):
    """One period of a person's membership. A person who returns gets a new row, and the old one remains listed."""

    id = models.CharField(primary_key=True, max_length=40)
    organization = models.ForeignKey(Organization, models.PROTECT, related_name="memberships")
    account = models.ForeignKey(settings.AUTH_USER_MODEL, models.PROTECT, related_name="memberships")
    role = models.CharField(max_length=16, choices=[(role, role) for role in Role])
    version = models.PositiveBigIntegerField(default=1)
    created_at = models.DateTimeField()
    removed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                fields=["organization", "account"],
                condition=models.Q(removed_at__isnull=True),
                name="membership_one_live_per_person",
            ),
            models.CheckConstraint(condition=models.Q(role__in=list(Role)), name="membership_role_known"),
        ]
        indexes = [models.Index(fields=["organization", "-created_at", "-id"], name="membership_newest_first")]

    def __str__(self) -> str:
        return f"{self.account_id} as {self.role}"

    @property
    def is_active(self) -> bool:
        """Return whether the person is still a member."""
        return self.removed_at is None
