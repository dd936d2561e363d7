"""`manage.py audit_ledger`: check the ledger's invariants, and exit 1 with the violations, if any."""

import sys
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from billing.queries import audit, seals


class Command(BaseCommand):
    """Checks the ledger at one snapshot; safe at any time."""

    help = "Check that every amount in the ledger is accounted for and that sealed records are unchanged."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("--seal", metavar="HEX", help="also check that the chain of seals continues from this one")

    def handle(self, *args: Any, seal: str | None = None, **options: Any) -> None:
        """Print a summary and exit 0, or print each finding and exit 1."""
        found = [str(finding) for finding in audit.findings()]
        if seal is not None and not seals.has(seal):
            found.append(f"There is no seal {seal}: seals were erased or rebuilt.")
        for line in found:
            self.stderr.write(line)
        if found:
            sys.exit(1)
        self.stdout.write(f"The ledger is sound: {len(audit.invariants())} invariants hold.")
        last = seals.last()
        if last is not None:
            self.stdout.write(f"Sealed until {last.ends_at.isoformat()}: {bytes(last.chain).hex()}")
