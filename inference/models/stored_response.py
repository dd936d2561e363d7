"""Responses that their owners can retrieve and continue."""

from django.db import models

from billing.models.fields import KeyField
from billing.rules.owners import Owner
from gateway.core.encryption.bound_text import BoundTextField, place_of

TABLE = "inference_stored_response"
BOUND_TO = ("id", "owner_kind", "owner_key")


def place(column: str, response_id: str, owner: Owner) -> str:
    """Name the place of a column of a response, in its row and for its owner only."""
    return place_of(TABLE, column, response_id, *owner)


class StoredResponse(models.Model):
    """One response of an account or an organization: the object that its caller received, and its whole input.

    Both are JSON, and stored encrypted, because they are people's conversations. A row contains everything that a
    continuation needs, so that it depends on no other row. From `expires_at` on it is not returned, purged or not.
    `inference_close_responses` writes it, each column bound to its `place`.
    """

    id = KeyField(primary_key=True)
    owner_kind = KeyField()
    owner_key = KeyField()
    usage_id = KeyField()
    status = KeyField()
    response = BoundTextField(bound_to=BOUND_TO)
    input_items = BoundTextField(bound_to=BOUND_TO)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()

    class Meta:
        db_table = TABLE
        indexes = [models.Index(fields=["expires_at"], name="stored_response_expiry")]

    def __str__(self) -> str:
        return f"{self.id}: {self.status}"
