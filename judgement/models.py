"""The tables of the judgement app: the operator's settings and fallbacks (SPEC: Judgement rules), and daily counts of answers, in which they can see
shifts between versions."""

from typing import ClassVar

from django.db import models
from django.db.models import F, Q


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


class AnswerCount(models.Model):
    """The number of answers to one kind of question in one tenth of the range, on one UTC day, from one identity.

    `identity` is `<alias>/<version>`, as in answers. A count is the sum over its shards, which let concurrent
    transactions count without waiting for each other. No content of questions or answers and no caller is stored. Only
    `judgement_close_calls` writes rows.
    """

    identity = models.TextField()
    kind = models.TextField()
    day = models.DateField()
    bucket = models.SmallIntegerField()
    shard = models.SmallIntegerField()
    count = models.BigIntegerField()

    class Meta:
        verbose_name = "judgement answer count"
        verbose_name_plural = "judgement answers"
        constraints = [
            models.UniqueConstraint(
                fields=["day", "identity", "kind", "bucket", "shard"], name="judgement_answer_count_once"
            ),
            models.CheckConstraint(condition=Q(bucket__gte=0, bucket__lte=9), name="judgement_answer_count_tenth"),
        ]

    def __str__(self) -> str:
        return f"{self.identity} {self.kind} {self.day}: {self.count}"
