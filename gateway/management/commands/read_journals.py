"""`manage.py read_journals FOLDER`: closes the calls in a copy of a dead machine's journals."""

from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError, CommandParser

from inference.metering.handed_over import FolderInUse, HandedOver, journals_in, take_over
from inference.metering.journal_folder import read_id

OUTCOMES = {
    "settled": "charged",
    "released": "released",
    "review": "left to review",
    "already": "closed before",
    "conflict": "decided before",
    "unknown": "unknown to the ledger",
    "failed": "to be tried again",
}


class Command(BaseCommand):
    """Reads a dead machine's journals on another machine. May be stopped anywhere, and rerun."""

    help = (
        "Close the calls that a machine had open when it died, by a copy of its CALL_JOURNAL_DIR: one that was about to be "
        "charged is charged, any other goes to review. Nothing is done twice, and the copy is not changed."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "folder", type=Path, help="a copy of the dead machine's CALL_JOURNAL_DIR, with all of its files"
        )

    def handle(self, *args: Any, folder: Path, **options: Any) -> None:
        """Print how many calls ended how. Exit with 1 if some have to be tried again."""
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder.")
        if settings.CALL_JOURNAL_DIR.exists() and folder.samefile(settings.CALL_JOURNAL_DIR):
            raise CommandError("This is the folder of this machine: its server and its worker read it.")
        try:
            if read_id(folder) is None and not journals_in(folder):
                raise CommandError(f"{folder} is not a copy of a folder of journals: nothing of one is in it.")
            found = take_over(folder)
        except FolderInUse:
            raise CommandError(
                "A process of the gateway has read this folder, or the one that it is a copy of, within the last minute. "
                "If its machine is to be replaced, stop the gateway there, and run this again a minute later."
            ) from None
        except OSError as error:
            raise CommandError(f"The folder cannot be read: {error}") from error
        self._print(found)

    def _print(self, found: HandedOver) -> None:
        counts = ", ".join(f"{count:,} {OUTCOMES.get(name, name)}" for name, count in sorted(found.outcomes.items()))
        self.stdout.write(f"Journals: {found.files}. Calls: {counts or 'none'}.")
        if found.unknown:
            self.stdout.write(f"The ledger does not know: {', '.join(found.unknown)}")
        if found.in_use:
            raise CommandError(f"Not read, because their processes live: {', '.join(found.in_use)}")
        if found.cut_off:
            raise CommandError(
                f"Cut off, so that calls may be missing: {', '.join(found.cut_off)}. Copy them again, and run this again. If the "
                "originals are as short, choose Forget on the folder's page in the console."
            )
        if found.failed:
            raise CommandError(f"Run this again: {', '.join(found.failed)} could not be closed; the log says why.")
        self.stdout.write("The copy is not needed any more.")
