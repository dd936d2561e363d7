"""The keys that an account's devices share to encrypt synchronized data."""

from django.db import models

from gateway.core.encryption.bound_text import BoundTextField


class AccountKey(models.Model):
    """32 random bytes for one account, created on first request and never changed. `kid` identifies them."""

    account = models.OneToOneField("accounts.Account", models.CASCADE, primary_key=True, related_name="+")
    kid = models.CharField(max_length=40, unique=True)
    material = BoundTextField(help_text="The key in base64.")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.kid
