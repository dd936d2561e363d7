"""`manage.py refuse_earlier_proofs`: for use after restoring a backup, which lacks the proofs used since it was
made."""

from typing import Any

from django.core.management.base import BaseCommand

from accounts.operations import replays


class Command(BaseCommand):
    """Refuse every DPoP proof that may have been used until now, so that none is accepted a second time."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:
        """Raise the epoch of the replay store, and print until when it holds."""
        until = replays.refuse_earlier()
        self.stdout.write(
            f"Proofs that expire until {until:%Y-%m-%d %H:%M:%S} UTC are refused. "
            "Clients make a new proof for each request, so they are served again within about 15 seconds."
        )
