"""Invitations to organizations."""

from datetime import timedelta

from django.db import models
from django.db.models.functions import Lower

from organizations.models.membership import Membership
from organizations.models.organization import Organization
from organizations.rules.roles import Role


class Invitation(models.Model):
    """Grants a role to whoever presents the token first, within seven days. Only the token's SHA-256 is stored.

    `email` is only a note, which is deleted later; it never authorizes or links an identity. SPEC: Organization-related
    resources.
    """

    LIFETIME = timedelta(days=7)

    id = models.CharField(primary_key=True, max_length=40)
    organization = models.ForeignKey(Organization, models.PROTECT, related_name="invitations")
    role = models.CharField(max_length=16, choices=[(role, role) for role in Role])
    email = models.EmailField(null=True, blank=True)
    token_sha256 = models.BinaryField(unique=True, max_length=32)
    invited_by = models.ForeignKey(Membership, models.PROTECT, related_name="+")
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_by = models.OneToOneField(Membership, models.PROTECT, null=True, blank=True, related_name="invitation")
    revoked_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(condition=models.Q(role__in=list(Role)), name="invitation_role_known"),
            models.CheckConstraint(
                condition=models.Q(accepted_by__isnull=True) | models.Q(revoked_at__isnull=True),
                name="invitation_accepted_or_revoked",
            ),
        ]
        indexes = [
            models.Index(fields=["created_at"], name="invitation_with_email", condition=models.Q(email__isnull=False)),
            # Operators find who was invited.
            models.Index(Lower("email"), name="invitation_by_email", condition=models.Q(email__isnull=False)),
        ]

    def __str__(self) -> str:
        return f"{self.id} as {self.role}"
