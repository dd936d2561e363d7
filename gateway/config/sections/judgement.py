"""`judgement`: the backends that the aliases `judgement` and `judgement-vision` select, and the fallbacks."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from gateway.config.context import context_of
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import Row, SectionRow, Tables
from gateway.config.run import UPDATED, Run
from gateway.config.texts import ModelName
from gateway.core.contract.aliases import ALIAS_ROUTES, Route
from inference.models import Alias
from judgement.models import JudgementFallback, JudgementSettings

SELECTORS = frozenset({"judgement", "judgement-vision"})


def _backend(value: str, info: ValidationInfo) -> str:
    """Refuse the two aliases that select a backend, and the service's own aliases for other purposes."""
    if value in SELECTORS or Route.JUDGEMENT not in ALIAS_ROUTES.get(value, (Route.JUDGEMENT,)):
        raise ValueError(f"{value!r} is not a judgement backend")
    if not context_of(info).has("aliases", value):
        raise ValueError(f"there is no alias {value!r}")
    return value


Backend = Annotated[ModelName, AfterValidator(_backend)]


class FallbackRow(Row):
    """The backend to which an overloaded backend's request may go, if the request allows it."""

    source: Annotated[Backend, Field(alias="from")]
    target: Annotated[Backend, Field(alias="to")]

    @model_validator(mode="after")
    def _leads_elsewhere(self) -> "FallbackRow":
        if self.source == self.target:
            raise ValueError("a backend cannot fall back to itself")
        return self


def _one_each(rows: list[FallbackRow]) -> list[FallbackRow]:
    if len({row.source for row in rows}) != len(rows):
        raise ValueError("a backend may have one fallback")
    return rows


class JudgementRow(SectionRow):
    """The one row of settings, and the fallbacks as a set."""

    tables: ClassVar[Tables] = (JudgementSettings, JudgementFallback)

    text_backend: Backend | None = None
    vision_backend: Backend | None = None
    fallbacks: Annotated[list[FallbackRow], Field(max_length=100), AfterValidator(_one_each)] = []

    def save(self, run: Run, path: Path) -> None:
        values = {name: _alias(value) for name, value in self.stated("text_backend", "vision_backend").items()}
        if values or "fallbacks" not in self.model_fields_set:
            lookup = {"id": JudgementSettings.ONLY}
            run.upsert(JudgementSettings, "judgement settings", lookup=lookup, values=values)
        if "fallbacks" in self.model_fields_set:
            self._save_fallbacks(run)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        row = JudgementSettings.objects.select_related("text_backend", "vision_backend").first()
        fallbacks = JudgementFallback.objects.order_by("source__name").select_related("source", "target")
        if row is None and not fallbacks:
            return None
        backends = {name: alias and alias.name for name, alias in _backends(row)}
        return {**backends, "fallbacks": [{"from": each.source.name, "to": each.target.name} for each in fallbacks]}

    def _save_fallbacks(self, run: Run) -> None:
        sources = {row.source for row in self.fallbacks}
        for stored in JudgementFallback.objects.exclude(source__name__in=sources).select_related("source"):
            stored.delete()
            run.add_change(UPDATED, f"judgement fallback of {stored.source.name}: removed", JudgementFallback)
        for row in self.fallbacks:
            lookup, values = {"source": _alias(row.source)}, {"target": _alias(row.target)}
            run.upsert(JudgementFallback, f"judgement fallback of {row.source}", lookup=lookup, values=values)


def _backends(row: JudgementSettings | None) -> list[tuple[str, Alias | None]]:
    return [("text_backend", row.text_backend), ("vision_backend", row.vision_backend)] if row else []


def _alias(name: str | None) -> Alias | None:
    return None if name is None else Alias.objects.get(name=name)
