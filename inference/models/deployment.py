"""Deployments: an upstream's models that serve an alias."""

from django.db import models


class Deployment(models.Model):
    """Lower `priority` is tried first; among equals, `weight` shares the load."""

    alias = models.ForeignKey("inference.Alias", on_delete=models.CASCADE, related_name="deployments")
    upstream = models.ForeignKey("inference.Upstream", on_delete=models.PROTECT, related_name="deployments")
    model = models.CharField(max_length=200, help_text="The upstream's name for the model.")
    priority = models.PositiveIntegerField(default=0, help_text="Deployments with the lowest number are tried first.")
    weight = models.PositiveIntegerField(
        default=1, help_text="The share of calls among deployments of the same priority."
    )
    enabled = models.BooleanField(default=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["alias", "upstream", "model"], name="deployment_once_per_alias"),
            models.CheckConstraint(condition=models.Q(weight__gt=0), name="deployment_weight_positive"),
        ]

    def __str__(self) -> str:
        return f"{self.alias}: {self.upstream}/{self.model}"
