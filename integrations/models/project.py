"""Projects of accounts and organizations, to which sandbox and CI runs belong."""

from django.db import models

from gateway.core.api.names import validate_name


class Project(models.Model):
    """A project, created by the operator. `key` identifies it in the configuration file and never changes.

    `owner_kind` and `owner_key` identify the owner as in billing: an account's DID or an organization's id.
    """

    class OwnerKind(models.TextChoices):
        """The kind of a project's owner."""

        ACCOUNT = "account", "Account"
        ORGANIZATION = "organization", "Organization"

    id = models.CharField(primary_key=True, max_length=40, editable=False)
    key = models.SlugField(max_length=64, unique=True, help_text="Names the project in the configuration file.")
    owner_kind = models.CharField(max_length=16, choices=OwnerKind.choices)
    owner_key = models.CharField(max_length=2048, help_text="An account's DID, or an organization's id.")
    product = models.ForeignKey("accounts.Product", models.PROTECT, to_field="slug", related_name="+")
    name = models.CharField(max_length=120, validators=[validate_name])
    created_at = models.DateTimeField()

    class Meta:
        indexes = [models.Index(fields=["owner_kind", "owner_key", "-created_at"], name="project_of_owner")]

    def __str__(self) -> str:
        return self.name
