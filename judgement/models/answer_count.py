"""How likely a backend's answers were, counted by day: what an operator sees a version shift by."""

from django.db import models
from django.db.models import Q


class AnswerCount(models.Model):
    """How many answers of one kind of question fell into one tenth, on one UTC day, from one identity.

    `identity` is `<alias>/<version>`, as answers name it. `shard` keeps transactions that count at the same time out of each
    other's way; a count is the sum over the shards. Nothing of a question, an answer or a caller is kept. Only
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
