"""Exports the stored configuration as a file. Applying it to the same database changes nothing."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from datetime import datetime

from django.conf import settings

from billing.queries.snapshots import one_snapshot
from gateway.config import document, writing
from gateway.config.context import Context
from gateway.config.exporting import Exported, Exporting
from gateway.config.file import SECTIONS, check
from gateway.config.known import known_names
from gateway.config.problems import ConfigError, Problem

NAME = "export"

HEADING = """\
The configuration of {address}, which `manage.py apply` reads.
A row sets what it states. What has no value is left out.
"""
SECRETS = """\
Secrets are not in this file. Set these variables where it is applied:
"""
CREDITS = """\
`credits` are granted once for each key. To another database they are money: leave the section out there.
"""


@dataclass(frozen=True, slots=True)
class Export:
    """A file. `secrets` has the value of each variable that it names; `problems` says what `apply` would refuse."""

    text: str
    secrets: dict[str, str] = field(repr=False)
    problems: list[Problem]

    @property
    def shown_problems(self) -> list[str]:
        """Return the problems with their places, one line each."""
        return [problem.show(NAME) for problem in self.problems]


def export(*, now: datetime, sections: Collection[str] = ()) -> Export:
    """Write these sections, or all that have rows. No secret is in the text."""
    out = Exporting(now)
    with one_snapshot():
        found = {name: kind.export(out) for name, kind in SECTIONS.items() if not sections or name in sections}
        rows = {name: value for name, value in found.items() if value}
        text = writing.file(_heading(out, rows), rows)
        return Export(text, out.secrets, _problems(text, out))


def _heading(out: Exporting, rows: Mapping[str, Exported]) -> str:
    heading = HEADING.format(address=settings.GATEWAY_BASE_URL)
    if out.uses:
        width = max(map(len, out.uses))
        heading += SECRETS + "".join(f"  {name:<{width}}  {use}\n" for name, use in out.uses.items())
    return heading + (CREDITS if "credits" in rows else "")


def _problems(text: str, out: Exporting) -> list[Problem]:
    """Return what `apply` would refuse: the console and earlier versions may have stored what a file cannot state."""
    try:
        stated = document.read(text.encode())
        check(stated, Context(out.secrets, settings.DEMO_ADAPTER, known_names(stated.value)))
    except ConfigError as error:
        return error.problems
    return []
