"""Used DPoP proofs. RFC 9449 section 11.1."""

from django.db import models


class ProofReplay(models.Model):
    """A used proof. `digest` is the SHA-256 of the proof key and `jti`. The row is stored until `expires_at`."""

    digest = models.BinaryField(primary_key=True)
    expires_at = models.DateTimeField(db_index=True)

    class Meta:
        db_table = "accounts_proof_replay"

    def __str__(self) -> str:
        return bytes(self.digest).hex()


class ReplayEpoch(models.Model):
    """A single row. Proofs that expire by `lost_until` are refused, because they may have been used and their rows
    lost.

    `history` is the server's identifier and timeline; `began_at` is when it was first seen. `origin` is the same in all copies
    of the database (`accounts_enter_database`).
    """

    id = models.SmallIntegerField(primary_key=True, default=1, editable=False)
    lost_until = models.DateTimeField(null=True, blank=True)
    history = models.TextField(null=True, blank=True)
    origin = models.UUIDField(null=True, blank=True)
    began_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        db_table = "accounts_replay_epoch"
        constraints = [models.CheckConstraint(condition=models.Q(id=1), name="accounts_replay_epoch_single")]

    def __str__(self) -> str:
        return str(self.lost_until)
