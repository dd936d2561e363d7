"""`limits`: how often, how much and how many at once the subjects of a scope may call."""

from typing import Annotated, ClassVar

from django.db.models import F
from pydantic import AfterValidator, Field, StringConstraints, ValidationInfo

from billing.models import Limit
from billing.rules.limits import NEEDS_SUBJECT, LimitScope
from gateway.config.exporting import Exported, Exporting, filled
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.texts import checked
from gateway.core.contract.limits import RATE_LIMIT_MAX
from inference.queries import limit_subjects


def _required(value: str | None, info: ValidationInfo) -> str | None:
    """Refuse a general row of a scope that has none."""
    if value is None and info.data.get("scope") in NEEDS_SUBJECT:
        raise ValueError(f"is required where the scope is {info.data['scope']}")
    return value


NUMBERS = ("requests_per_minute", "tokens_per_minute", "concurrent")

Number = Annotated[int, Field(ge=1, le=RATE_LIMIT_MAX)]
Subject = Annotated[str, StringConstraints(min_length=1, max_length=255)]
Scope = Annotated[str, checked(frozenset(LimitScope).__contains__, f"must be one of {', '.join(LimitScope)}")]


class LimitRow(SectionRow):
    """One limit. It replaces the stored row as a whole: a number that is left out, or null, is no limit."""

    identity: ClassVar[str | tuple[str, ...] | None] = ("scope", "subject")
    tables: ClassVar[Tables] = (Limit,)

    scope: Scope
    subject: Annotated[Subject | None, AfterValidator(_required), Field(validate_default=True)] = None
    requests_per_minute: Number | None = None
    tokens_per_minute: Number | None = None
    concurrent: Number | None = None

    def save(self, run: Run, path: Path) -> None:
        """Set the row. Rows before it have set the aliases and clients that it may refer to."""
        fault = limit_subjects.fault_of(LimitScope(self.scope), self.subject)
        if fault:
            run.refuse((*path, "subject"), fault)
            return
        lookup = {"scope": self.scope, "subject": self.subject}
        values = {name: getattr(self, name) for name in NUMBERS}
        run.upsert(Limit, f"limit of {Limit(**lookup)}", lookup=lookup, values=values)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        rows = Limit.objects.order_by("scope", F("subject").asc(nulls_first=True)).values("scope", "subject", *NUMBERS)
        return [filled(**row) for row in rows]
