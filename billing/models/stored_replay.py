"""Stored responses for repeated requests."""

from django.db import models

from billing.models.call import Call


class StoredReplay(models.Model):
    """Status, headers and encrypted body of a call's response, for 24 h after its settlement (`operations/replays.py`).

    `expires_at` is null while the call is in review: the response is not replayed before the charge is known.
    """

    call = models.OneToOneField(
        Call,
        models.PROTECT,
        primary_key=True,
        related_name="stored_replay",
        db_column="reservation_id",
        db_constraint=False,
    )
    status = models.SmallIntegerField()
    headers = models.JSONField()
    body = models.BinaryField()
    expires_at = models.DateTimeField(null=True)

    class Meta:
        db_table = "billing_stored_replay"
        indexes = [models.Index(fields=["expires_at"], name="stored_replay_expiry")]

    def __str__(self) -> str:
        return f"{self.call_id}: {self.status}"
