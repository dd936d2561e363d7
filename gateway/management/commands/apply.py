"""`manage.py apply [gateway.yaml] [--check]`"""

import os
from pathlib import Path
from typing import Any

from django.core.exceptions import ImproperlyConfigured
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError

from gateway.config import document
from gateway.config.apply import Report, apply, check_offline
from gateway.config.problems import ConfigError
from gateway.config.run import VERBS
from gateway.core.database.server import ServerAway, failure_of, server_version


class Command(BaseCommand):
    """Set the rows that a configuration file names, all or none, and print what changed."""

    help = "Set the rows that a configuration file names, all or none, and print what changed."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", type=Path, nargs="?", help="a YAML file; without one, what the environment configures"
        )
        parser.add_argument("--check", action="store_true", help="only report problems and what would change")

    def handle(self, *args: Any, file: Path | None, check: bool, **options: Any) -> None:
        """Apply the file. Print every problem to stderr on its own line, and exit with code 1."""
        name = file.name if file else "environment"
        try:
            stated = document.read(_content(file) if file else b"")
            if check and (away := _absence()):
                check_offline(stated, os.environ)
                self.stdout.write(f"{name} is valid as far as can be checked without the database. {away}")
                return
            report = apply(stated, environment=os.environ, only_check=check, source=name)
        except ConfigError as error:
            for problem in error.problems:
                self.stderr.write(problem.show(name))
            raise CommandError(f"{name}: {_count(len(error.problems), 'problem')}; nothing was changed.") from None
        except ImproperlyConfigured as error:
            raise CommandError(f"{error} Nothing was changed.") from None
        except DatabaseError as error:
            raise CommandError(f"{failure_of(error)} Nothing was changed.") from error
        self._print(report, name, check)

    def _print(self, report: Report, name: str, only_check: bool) -> None:
        for verb, what in report:
            self.stdout.write(f"{verb:<9} {what}")
        counts = {verb: sum(1 for each, _ in report if each == verb) for verb in VERBS}
        summary = ", ".join(f"{count} {verb}" for verb, count in counts.items() if count) or "nothing to set"
        self.stdout.write(f"{name} is valid; it would be: {summary}." if only_check else f"{name} applied: {summary}.")


def _absence() -> str | None:
    """Return why the database is unavailable; None if it responds."""
    try:
        server_version()
    except ServerAway as away:
        return str(away)
    return None


def _content(file: Path) -> bytes:
    """Read at most one byte beyond the limit, so that a device or an endless pipe does not fill memory."""
    try:
        with file.open("rb") as stream:
            return stream.read(document.FILE_MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"Cannot read {file}: {error.strerror}.") from None


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
