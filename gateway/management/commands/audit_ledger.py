"""`manage.py audit_ledger`: prove the ledger's invariants, or exit 1 and name what breaks them."""

import sys
from typing import Any

from django.core.management.base import BaseCommand

from billing.queries import audit


class Command(BaseCommand):
    """Checks the ledger at one snapshot; harmless at any time."""

    help = "Check that every amount in the ledger is accounted for."

    def handle(self, *args: Any, **options: Any) -> None:
        """Print nothing but a summary and exit 0, or print each finding and exit 1."""
        found = audit.findings()
        for finding in found:
            self.stderr.write(str(finding))
        if found:
            sys.exit(1)
        self.stdout.write(f"The ledger is sound: {len(audit.invariants())} invariants hold.")
