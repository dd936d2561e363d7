"""One application of a file: sets rows, and collects the report and the problems that only the database finds."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeVar

from django.db import DataError, IntegrityError, models, transaction

from gateway.config.problems import Path

CREATED, UPDATED, UNCHANGED, WARNING = "created", "updated", "unchanged", "warning"
VERBS = (CREATED, UPDATED, UNCHANGED, WARNING)

SHOWN_MAX_CHARACTERS = 60

RowModel = TypeVar("RowModel", bound=models.Model)
Changed = models.Model | type[models.Model]


@dataclass(slots=True)
class Run:
    """`report` has one `(verb, what)` per row; `changes` are those of its lines that are a change, each with the changed
    row, or with the table if the row is gone; `findings` are problems with their paths; `only_check`: it will be rolled back.
    """

    now: datetime
    only_check: bool = False
    report: list[tuple[str, str]] = field(default_factory=list)
    changes: list[tuple[str, str, Changed]] = field(default_factory=list)
    findings: list[tuple[Path, str]] = field(default_factory=list)

    def upsert(
        self,
        model: type[RowModel],
        label: str,
        *,
        lookup: Mapping[str, Any],
        values: Mapping[str, Any],
        concealed: frozenset[str] = frozenset(),
    ) -> RowModel:
        """Create the row of `lookup`, or set those of its values that differ; report which. Values of `concealed` are
        not shown."""
        manager = model._default_manager  # noqa: SLF001 (documented)
        row = manager.select_for_update(no_key=True).filter(**lookup).first()
        if row is None:
            created = manager.create(**lookup, **values)
            self.add_change(CREATED, label, created)
            return created
        changes = {name: getattr(row, name) for name, value in values.items() if getattr(row, name) != value}
        if not changes:
            self.add_line(UNCHANGED, label)
            return row
        for name in changes:
            setattr(row, name, values[name])
        row.save(update_fields=list(changes))
        shown = [_change(name, before, values[name], name in concealed) for name, before in changes.items()]
        self.add_change(UPDATED, f"{label}: {', '.join(shown)}", row)
        return row

    def add_line(self, verb: str, what: str) -> None:
        """Add a line to the report about a row that is unchanged, or a warning."""
        self.report.append((verb, what))

    def add_change(self, verb: str, what: str, changed: Changed) -> None:
        """Add a line to the report, and to the log of changes. It must not show a secret."""
        self.report.append((verb, what))
        self.changes.append((verb, what, changed))

    def add_set_line(self, label: str, wanted: set[str], stored: set[str], changed: Changed) -> None:
        """Add a line about names that are replaced as a set."""
        what = f"{label}: {', '.join(sorted(wanted)) or 'none'}"
        if wanted == stored:
            self.add_line(UNCHANGED, what)
        else:
            self.add_change(UPDATED if stored else CREATED, what, changed)

    def refuse(self, path: Path, text: str) -> None:
        """Record a problem; the whole run is then rolled back."""
        self.findings.append((path, text))

    @contextmanager
    def row(self, path: Path) -> Iterator[None]:
        """Set one row. If a database constraint refuses it, record that and continue with the next."""
        try:
            with transaction.atomic():
                yield
        except (DataError, IntegrityError) as error:
            diagnosis = getattr(error.__cause__, "diag", None)
            rule = getattr(diagnosis, "constraint_name", None) or "a column's type"
            self.refuse(path, f"the database refuses this row ({rule})")


def _change(name: str, before: Any, after: Any, concealed: bool) -> str:
    if concealed or max(len(str(before)), len(str(after))) > SHOWN_MAX_CHARACTERS:
        return f"{name} replaced"
    return f"{name} {before} -> {after}"
