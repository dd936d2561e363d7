"""Fallbacks for overloaded backends. SPEC: Judgement rules."""

from django.db import models
from django.db.models import F, Q


class JudgementFallback(models.Model):
    """A backend's only fallback. It is used only if the request allows it and the backend reports that it is
    overloaded.
    """

    source = models.OneToOneField(
        "inference.Alias", models.CASCADE, related_name="judgement_fallback", verbose_name="from"
    )
    target = models.ForeignKey("inference.Alias", models.CASCADE, related_name="+", verbose_name="to")

    class Meta:
        constraints = [models.CheckConstraint(condition=~Q(source=F("target")), name="judgement_fallback_elsewhere")]

    def __str__(self) -> str:
        return f"{self.source} to {self.target}"
