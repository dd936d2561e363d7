"""The audit log of organizations."""

from django.db import models

from organizations.models.organization import Organization


class AuditEntry(models.Model):
    """One change, written in its own transaction. Triggers refuse UPDATE, and DELETE within a year.

    `action` has the form `<noun>.<verb>`, `subject` is the id or slug of the changed object, and `detail` has
    particulars (roles, caps), never a secret.
    """

    id = models.BigAutoField(primary_key=True)
    organization = models.ForeignKey(Organization, models.PROTECT, related_name="audit_entries")
    actor_did = models.TextField()
    action = models.CharField(max_length=40)
    subject = models.TextField()
    detail = models.JSONField(default=dict)
    created_at = models.DateTimeField()

    class Meta:
        verbose_name_plural = "audit log"
        indexes = [models.Index(fields=["organization", "-id"], name="audit_newest_first")]

    def __str__(self) -> str:
        return f"{self.action} {self.subject}"
