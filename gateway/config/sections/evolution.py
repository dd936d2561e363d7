"""`evolution`: the programs that evolution jobs may name. The section enables evolution."""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field, StringConstraints

from gateway.config.bounds import bounds
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import Row, SectionRow, Tables
from gateway.config.run import Run
from gateway.config.texts import Slug, matching
from integrations.models import EvolutionProgram, IntegrationSwitch
from integrations.rules import contents

PROGRAMS_MAX = 100

Argument = Annotated[str, StringConstraints(max_length=16 * 1024)]
Kind = Annotated[str, matching(contents.KIND, "must be letters, digits and . _ -, at most 64 characters")]


def _named(command: list[str]) -> list[str]:
    if not command[0]:
        raise ValueError("the first item must name a program")
    return command


class ProgramRow(Row):
    """A program. `result_kind` is the kind of its result, by default that of its first input."""

    name: Slug
    command: Annotated[list[Argument], Field(min_length=1, max_length=100), AfterValidator(_named)]
    timeout_seconds: Annotated[int, bounds(EvolutionProgram, "timeout_seconds")] = 30
    memory_mb: Annotated[int, bounds(EvolutionProgram, "memory_mb")] = 256
    result_kind: Kind | None = None

    def save(self, run: Run) -> None:
        values = self.stated("command", "timeout_seconds", "memory_mb")
        if "result_kind" in self.model_fields_set:
            values["result_kind"] = self.result_kind or ""
        run.upsert(EvolutionProgram, f"evolution program {self.name}", lookup={"name": self.name}, values=values)


def _one_each(rows: list[ProgramRow]) -> list[ProgramRow]:
    if len({row.name for row in rows}) != len(rows):
        raise ValueError("two programs have the same name")
    return rows


class EvolutionRow(SectionRow):
    """The programs that the section names; others are unchanged. It switches evolution on, unless it says otherwise."""

    tables: ClassVar[Tables] = (EvolutionProgram, IntegrationSwitch)

    enabled: bool = True
    programs: Annotated[list[ProgramRow], Field(max_length=PROGRAMS_MAX), AfterValidator(_one_each)] = []

    def save(self, run: Run, path: Path) -> None:
        """Switch evolution on or off, and set each program's row."""
        lookup = {"name": IntegrationSwitch.Name.EVOLUTION}
        run.upsert(IntegrationSwitch, "evolution", lookup=lookup, values={"enabled": self.enabled})
        for program in self.programs:
            program.save(run)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        is_enabled = IntegrationSwitch.objects.filter(name=IntegrationSwitch.Name.EVOLUTION, enabled=True).exists()
        programs = [_exported(row) for row in EvolutionProgram.objects.order_by("name")]
        return {"enabled": is_enabled, "programs": programs} if is_enabled or programs else None


def _exported(row: EvolutionProgram) -> dict[str, Any]:
    numbers = {"timeout_seconds": row.timeout_seconds, "memory_mb": row.memory_mb}
    kind = {"result_kind": row.result_kind} if row.result_kind else {}
    return {"name": row.name, "command": row.command, **numbers, **kind}
