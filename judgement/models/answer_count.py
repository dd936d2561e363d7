"""Daily counts of answers by probability, in which operators can see shifts between versions."""

from django.db import models
from django.db.models import Q


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
