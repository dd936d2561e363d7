"""The latest answers of upstreams about representations."""

from django.db import models

from billing.models.fields import KeyField


class Representation(models.Model):
    """The revision, dimensions and normalization in a configuration's latest response.

    `configuration` is the compact JSON of the operator's and the request's settings. A pinned `manifest_id` is compared
    with this row before anything is spent.
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
