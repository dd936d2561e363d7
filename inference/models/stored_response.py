"""A response that its owner can read again, and continue from."""

from django.db import models

from billing.models.fields import KeyField
from gateway.core.fields import EncryptedTextField


class StoredResponse(models.Model):
    """One response of an account or an organization: the object that its caller got, and the whole input it answered.

    Both are JSON, and rest encrypted: they are people's conversations. A row holds all that a continuation needs, so that
    no other row has to stay for it. From `expires_at` on nobody gets it, purged or not.
    """

    id = KeyField(primary_key=True)
    owner_kind = KeyField()
    owner_key = KeyField()
    usage_id = KeyField()
    status = KeyField()
    response = EncryptedTextField()
    input_items = EncryptedTextField()
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = "inference_stored_response"
        indexes = [models.Index(fields=["expires_at"], name="stored_response_expiry")]

    def __str__(self) -> str:
        return f"{self.id}: {self.status}"
