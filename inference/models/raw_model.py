"""Upstream models under their own names, for the integrations that the operator allows."""

from django.db import models

from gateway.core.contract.aliases import Route, routes_of
from inference.models.alias import MODEL_NAME


class RawModel(models.Model):
    """A model that only tokens of the listed integrations may call, with the scope `infer:<model>`."""

    model = models.CharField(max_length=200, unique=True, validators=[MODEL_NAME])
    upstream = models.ForeignKey("inference.Upstream", on_delete=models.PROTECT, related_name="raw_models")
    integrations = models.ManyToManyField("accounts.Integration", related_name="raw_models", blank=True)
    enabled = models.BooleanField(default=True)
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True)
    context_tokens = models.PositiveIntegerField(null=True, blank=True)
    options = models.JSONField(default=dict, blank=True)

    def __str__(self) -> str:
        return self.model

    def served_routes(self) -> tuple[Route, ...]:
        """Return the routes that this model serves."""
        return routes_of(self.model, self.options.get("routes"))
