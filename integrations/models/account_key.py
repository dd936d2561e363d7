"""The key that an account's devices share to encrypt what they synchronize."""

from django.db import models

from gateway.core.fields import EncryptedTextField


class AccountKey(models.Model):
    """32 random bytes of one account, made when they are first asked for and never changed. `kid` names them."""

    account = models.OneToOneField("accounts.Account", models.CASCADE, primary_key=True, related_name="+")
    kid = models.CharField(max_length=40, unique=True)
    material = EncryptedTextField(help_text="The key in base64.")
    created_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.kid
