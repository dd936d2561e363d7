"""`manage.py export [SECTION…]`"""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DatabaseError
from django.utils import timezone

from gateway.config.export import export
from gateway.config.file import SECTIONS
from gateway.core.database.server import failure_of


class Command(BaseCommand):
    """Prints the stored configuration as a file for `apply`, with the names of variables in place of secrets."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "sections", metavar="SECTION", nargs="*", help=f"only these sections; all are {', '.join(SECTIONS)}"
        )

    def handle(self, *args: Any, sections: list[str], **options: Any) -> None:
        """Print the file. If `apply` would refuse a row, say so to stderr and exit with code 1."""
        unknown = sorted(set(sections) - set(SECTIONS))
        if unknown:
            raise CommandError(f"There is no section {', '.join(unknown)}. The sections are {', '.join(SECTIONS)}.")
        try:
            found = export(now=timezone.now(), sections=sections)
        except DatabaseError as error:
            raise CommandError(failure_of(error)) from error
        self.stdout.write(found.text, ending="")
        for problem in found.shown_problems:
            self.stderr.write(problem)
        if found.problems:
            raise CommandError("`apply` would refuse this file. Correct these rows in the console, or in the file.")
