"""Calls that operators made to a deployment to see whether it works."""

from django.db import models

from billing.models.fields import KeyField

KEPT_OF_DEPLOYMENT = 20
KEPT_DAYS = 90


class Trial(models.Model):
    """One real call to a deployment, begun from the console. It is charged to no wallet.

    The id is that of the form, so that a second click begins no second call. `deployment` is the id that calls name,
    `operator` the account that clicked, and `key` which of the upstream's keys was sent. `result` is what
    `inference.operations.trials` made of the outcome; null while the call is under way, and for ever if its process died.
    """

    id = KeyField(primary_key=True)
    deployment = KeyField()
    route = models.CharField(max_length=64)
    key = models.CharField(max_length=16)
    operator = KeyField()
    began_at = models.DateTimeField()
    result = models.JSONField(null=True)

    class Meta:
        indexes = [models.Index(fields=["deployment", "-began_at"], name="trial_of_deployment")]

    def __str__(self) -> str:
        return f"{self.id}: deployment {self.deployment}, {self.began_at:%Y-%m-%d %H:%M:%S}"
