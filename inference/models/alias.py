"""Model aliases, and the upstreams' models that serve them."""

from django.core.validators import RegexValidator
from django.db import models

from gateway.core.contract.aliases import Route, routes_of

# The characters allowed in a scope token (RFC 6749 section 3.3) and in a path.
MODEL_NAME = RegexValidator(r"\A[A-Za-z0-9][A-Za-z0-9._:/@-]{0,199}\Z", "Letters, digits and . _ : / @ - only.")


class Alias(models.Model):
    """A public model name with its limits and routes. Its price is stored in billing under the same name.

    `options` holds settings of particular routes: `routes` (list of route names), `dimensions`, `quantization`,
    `revision`, `provider` and others.
    """

    name = models.CharField(max_length=200, unique=True, validators=[MODEL_NAME])
    enabled = models.BooleanField(default=True)
    max_output_tokens = models.PositiveIntegerField(null=True, blank=True)
    context_tokens = models.PositiveIntegerField(null=True, blank=True)
    options = models.JSONField(default=dict, blank=True)

    class Meta:
        verbose_name_plural = "aliases"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(max_output_tokens=None) | models.Q(max_output_tokens__gt=0),
                name="alias_max_output_tokens_positive",
            ),
            models.CheckConstraint(
                condition=models.Q(context_tokens=None) | models.Q(context_tokens__gt=0),
                name="alias_context_tokens_positive",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    def served_routes(self) -> tuple[Route, ...]:
        """Return the routes that this alias serves."""
        return routes_of(self.name, self.options.get("routes"))


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
