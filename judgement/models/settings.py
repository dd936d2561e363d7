"""Settings: the backends that the aliases `judgement` and `judgement-vision` select. SPEC: Judgement rules."""

from typing import ClassVar

from django.db import models
from django.db.models import Q


class JudgementSettings(models.Model):
    """A single row. An alias whose backend is not set is unavailable."""

    ONLY: ClassVar[int] = 1

    id = models.SmallIntegerField(primary_key=True, default=ONLY, editable=False)
    text_backend = models.ForeignKey(
        "inference.Alias",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The backend that the alias judgement selects.",
    )
    vision_backend = models.ForeignKey(
        "inference.Alias",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="+",
        help_text="The backend that the alias judgement-vision selects.",
    )

    class Meta:
        verbose_name = verbose_name_plural = "judgement settings"
        constraints = [models.CheckConstraint(condition=Q(id=1), name="judgement_settings_single")]

    def __str__(self) -> str:
        return "Judgement settings"
