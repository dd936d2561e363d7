"""Deployments that fail."""

from django.db import models

from billing.models.fields import KeyField


class DeploymentTrouble(models.Model):
    """A deployment whose last attempt failed, by the id under which calls name it; there is no row once one has succeeded.

    `since` is the first failure after the last success, `failures` their number. `cause` is one line without secrets.
    `aside_until` is until when the process that saw the last failure tries other deployments first, null if it does not.
    """

    deployment = KeyField(primary_key=True)
    cause = models.TextField()
    failures = models.BigIntegerField()
    since = models.DateTimeField()
    last_at = models.DateTimeField()
    aside_until = models.DateTimeField(null=True)

    class Meta:
        db_table = "inference_deployment_trouble"

    def __str__(self) -> str:
        return f"{self.deployment}: {self.cause}"
