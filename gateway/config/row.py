"""The base class of the file's rows, and the texts of their problems."""

import difflib
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, TypeVar, get_args

from django.db import models
from pydantic import BaseModel, ConfigDict, ValidationError

from gateway.config.context import Context
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.run import Run

# Pydantic's error types that an operator may see, in the terms of the file. The input is never quoted: it may be a
# secret in the wrong place.
_WORDS = {
    "bool_type": "must be true or false",
    "dict_type": "must be a mapping",
    "enum": "must be one of {expected}",
    "float_type": "must be a number",
    "finite_number": "must be a finite number",
    "greater_than": "must be more than {gt}",
    "greater_than_equal": "must be at least {ge}",
    "int_type": "must be a whole number",
    "less_than_equal": "must be at most {le}",
    "list_type": "must be a list",
    "literal_error": "must be one of {expected}",
    "missing": "is required",
    "model_type": "must be a mapping",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_type": "must be text (a number or true/false: quote it)",
    "too_long": "must have at most {max_length} items",
    "too_short": "must not be empty",
}

# Path elements that pydantic adds for map keys and for the tags of our own unions.
_NO_STEPS = frozenset({"[key]", "<one>", "<kinds>"})


class Row(BaseModel):
    """A row of the file. A key that is left out keeps the stored value, or takes its default in a new row."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True, hide_input_in_errors=True)

    def stated(self, *names: str) -> dict[str, Any]:
        """Return the named keys that the file states, and all of them for a new row's keys without a default."""
        return {name: getattr(self, name) for name in names if name in self.model_fields_set}


Tables = tuple[type[models.Model], ...]


class SectionRow(Row):
    """A row of a top-level section. `identity` is the key that identifies it, or several of which all but the first may be left
    out; None: the section is a single row. `tables` are those that an export shows."""

    identity: ClassVar[str | tuple[str, ...] | None] = None
    tables: ClassVar[Tables]

    @abstractmethod
    def save(self, run: Run, path: Path) -> None:
        """Set the row in the database, and report what changed and what could not be set."""

    @classmethod
    @abstractmethod
    def export(cls, out: Exporting) -> Exported:
        """Return the stored rows of the section as a file states them, None if there are none."""


RowType = TypeVar("RowType", bound=Row)


def parse_row(
    kind: type[RowType], value: object, context: Context, path: Path
) -> tuple[RowType | None, list[tuple[Path, str]]]:
    """Check a value against its row type; return the row, or None and every finding with its path."""
    try:
        return kind.model_validate(value, context=context), []
    except ValidationError as error:
        return None, list(_findings(error, kind, path))


def _findings(error: ValidationError, kind: type[Row], path: Path) -> Iterator[tuple[Path, str]]:
    for detail in error.errors(include_url=False, include_input=False):
        steps = tuple(step for step in detail["loc"] if step not in _NO_STEPS)
        yield (*path, *steps), _words(detail["type"], detail.get("ctx", {}), detail["msg"], steps, kind)


def _words(error_type: str, values: dict[str, Any], fallback: str, steps: Path, kind: type[Row]) -> str:
    if error_type == "extra_forbidden":
        return "unknown key" + _suggestion(steps, kind)
    if error_type == "value_error":
        return str(values["error"])
    return _WORDS[error_type].format(**values) if error_type in _WORDS else fallback


def _suggestion(steps: Path, kind: type[Row]) -> str:
    """Suggest the key that was meant, among those of the row."""
    row: type[Row] | None = kind
    for step in steps[:-1]:
        if row is not None and isinstance(step, str) and step in row.model_fields:
            row = _row_within(row.model_fields[step].annotation)
    close = difflib.get_close_matches(str(steps[-1]), row.model_fields if row else (), n=1)
    return f" (did you mean {close[0]}?)" if close else ""


def _row_within(annotation: Any) -> type[Row] | None:
    """Find the row type in `list[SomeRow]`, `SomeRow | None` and the like."""
    if isinstance(annotation, type) and issubclass(annotation, Row):
        return annotation
    return next(filter(None, map(_row_within, get_args(annotation))), None)
