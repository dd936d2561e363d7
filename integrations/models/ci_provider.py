"""CI providers, and the repositories whose runs they report."""

from django.db import models

from gateway.core.encryption.fields import EncryptedTextField


class CIProvider(models.Model):
    """A provider whose webhooks are signed with `secret` (HMAC-SHA256) and written in `format`.

    During a rotation, `previous_secret` is accepted too.
    """

    class Format(models.TextChoices):
        """The format of a provider's webhooks."""

        WORKFLOW_RUN = "workflow_run", "Workflow run"
        GENERIC = "generic", "Generic"

    name = models.SlugField(max_length=64, unique=True, help_text="The last part of the webhook's URL.")
    format = models.CharField(max_length=16, choices=Format.choices)
    secret = EncryptedTextField()
    previous_secret = EncryptedTextField(blank=True, default="")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        verbose_name = "CI provider"

    def __str__(self) -> str:
        return self.name

    @property
    def secrets(self) -> list[str]:
        """Return the secrets that a webhook may be signed with."""
        return [secret for secret in (self.secret, self.previous_secret) if secret]


class CIRepository(models.Model):
    """Assigns a provider's repository to a project. Runs of other repositories are not stored."""

    provider = models.ForeignKey(CIProvider, models.CASCADE, related_name="repositories")
    name = models.CharField(max_length=255, help_text="Its name in the provider's webhooks, such as acme/docs.")
    project = models.ForeignKey("integrations.Project", models.CASCADE, related_name="+")

    class Meta:
        verbose_name = "CI repository"
        verbose_name_plural = "CI repositories"
        constraints = [models.UniqueConstraint(fields=["provider", "name"], name="ci_repository_once")]

    def __str__(self) -> str:
        return self.name
