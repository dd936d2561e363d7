"""What an upstream's latest answer told of a representation."""

from django.db import models

from billing.models.fields import KeyField


class Representation(models.Model):
    """The revision, dimensions and normalization with which a configuration answered last.

    `configuration` is the compact JSON of what the operator's rows and the request say of it. A pinned `manifest_id` is
    compared with this before anything is spent.
    """

    configuration = KeyField(primary_key=True)
    revision = KeyField()
    dimensions = models.PositiveIntegerField()
    normalized = models.BooleanField()
    answered_at = models.DateTimeField()

    class Meta:
        db_table = "inference_representation"

    def __str__(self) -> str:
        return self.configuration
