"""The operator's limit of metered calls for one scope, or for one subject of it."""

from django.core.exceptions import ValidationError
from django.db import models
from django.db.models import Q

from billing.models.fields import KeyField, RateField
from billing.rules.limits import NEEDS_SUBJECT, LimitScope
from gateway.core.contract.limits import RATE_LIMIT_MAX


class Limit(models.Model):
    """How often, how much and how many at once the subjects of a scope may call.

    Without a subject it is for each subject of its scope; a row for a subject replaces it for that one, also where it has no
    number. What is used of it is in `LimitMeter`.
    """

    scope = models.TextField(choices=[(scope.value, scope.value) for scope in LimitScope])
    subject = KeyField(
        null=True,
        blank=True,
        help_text="An account's DID, an organization's ID, a membership's ID, a client's ID or an alias. Empty: every account, "
        "organization or member, each for itself.",
    )
    requests_per_minute = RateField(help_text="So many at once after a pause, then evenly over the minute.")
    tokens_per_minute = RateField(help_text="Input and output tokens, counted when a call is charged.")
    concurrent = RateField(help_text="Calls that are open at once: a stream until its end, a session until it closes.")

    class Meta:
        db_table = "billing_limit"
        constraints = [
            models.UniqueConstraint(fields=["scope", "subject"], name="limit_one_per_subject", nulls_distinct=False),
            models.CheckConstraint(
                condition=Q(subject__isnull=False) | ~Q(scope__in=sorted(NEEDS_SUBJECT)), name="limit_has_subject"
            ),
            *(
                models.CheckConstraint(
                    condition=Q(**{f"{name}__gte": 1, f"{name}__lte": RATE_LIMIT_MAX}), name=f"limit_{name}_in_range"
                )
                for name in ("requests_per_minute", "tokens_per_minute", "concurrent")
            ),
        ]

    def __str__(self) -> str:
        return f"{self.scope} {self.subject}" if self.subject else f"every {self.scope}"

    def clean(self) -> None:
        """Require the subject where there is no limit for all. Raises ValidationError."""
        if not self.subject:
            self.subject = None
            if self.scope in NEEDS_SUBJECT:
                raise ValidationError({"subject": f"This is required where the scope is {self.scope}."})
