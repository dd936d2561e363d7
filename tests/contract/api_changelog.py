"""Writes docs/api-changelog.md: `python -m tests.contract.api_changelog` its section Unreleased, from what has changed in the API
since the last release; with `release VERSION`, that section becomes the version's, and the API of today is stored as released."""

import json
import os
import sys
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from tests.contract.api_changes import Change, changes
from tests.contract.api_deliberate import DELIBERATE
from tests.contract.api_form import normal_form

PAGE = Path(__file__).resolve().parents[2] / "docs" / "api-changelog.md"
RELEASED = Path(__file__).with_name("api_released.json")
HEADING = "## Unreleased\n"
NAMED_MAX = 4


def today() -> dict[str, Any]:
    """Return the API of this version in its normal form."""
    from tests.contract.document import document

    return normal_form(document())


def released() -> dict[str, Any]:
    """Return the API of the last release."""
    form: dict[str, Any] = json.loads(RELEASED.read_text(encoding="utf-8"))
    return form


def unexplained(found: Iterable[Change]) -> list[Change]:
    """Return the changes that break clients and that nobody has listed as deliberate."""
    return [change for change in found if change.is_breaking and (change.operation, change.text) not in DELIBERATE]


def section(found: list[Change]) -> str:
    """Write the section of the unreleased changes: those that break clients first, the same change of several operations once."""
    parts = [
        f"### {title}\n\n{_lines([change for change in found if change.is_breaking == is_breaking])}\n"
        for title, is_breaking in (("Breaking", True), ("Compatible", False))
        if any(change.is_breaking == is_breaking for change in found)
    ]
    return "\n".join(parts) if parts else "Nothing has changed.\n"


def _lines(found: list[Change]) -> str:
    grouped: dict[tuple[str, str], list[str]] = {}
    for change in found:
        reason = DELIBERATE.get((change.operation, change.text), "")
        grouped.setdefault((change.text, reason), []).append(change.operation)
    return "\n".join(
        f"- {_named(operations)}: {text}.{f' {reason}' if reason else ''}"
        for (text, reason), operations in grouped.items()
    )


def _named(operations: list[str]) -> str:
    names = [operation if operation == "every error" else f"`{operation}`" for operation in operations[:NAMED_MAX]]
    more = len(operations) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")


def written(found: list[Change], page: str) -> str:
    """Return the page with its section of unreleased changes as it should be."""
    head, _, rest = page.partition(HEADING)
    _, mark, older = rest.partition("\n## ")
    return f"{head}{HEADING}\n{section(found)}{mark}{older}"


def as_released(page: str, version: str, day: str) -> str:
    """Return the page whose unreleased changes are those of a version."""
    return page.replace(HEADING, f"{HEADING}\nNothing has changed.\n\n## {version} ({day})\n")


def main(arguments: list[str]) -> None:
    """Write the page, and for a release what the next one is compared with."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "gateway.settings.test")
    import django

    django.setup()
    form = today()
    page = written(changes(released(), form), PAGE.read_text(encoding="utf-8"))
    match arguments:
        case ["release", version]:
            page = as_released(page, version, datetime.now(UTC).date().isoformat())
            RELEASED.write_text(_as_text(form), encoding="utf-8")
    PAGE.write_text(page, encoding="utf-8")


def _as_text(form: Mapping[str, Any]) -> str:
    return json.dumps(form, indent=1, sort_keys=True) + "\n"


if __name__ == "__main__":
    main(sys.argv[1:])
