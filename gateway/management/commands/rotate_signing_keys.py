"""Rotates the keys that access tokens are signed with."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import SigningKey
from accounts.operations import signing_keys
from gateway.management.command_lines import join_value

RETIRE = "--retire"


class Command(BaseCommand):
    """Sign with the next key, which is already published. Tokens of the previous key stay valid until they expire."""

    help = __doc__

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command line, in which the key's id may begin with a hyphen, as one in 64 does."""
        super().run_from_argv([*join_value(argv, RETIRE)])

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(RETIRE, metavar="KID", help="stop accepting this key at once, because it leaked")

    def handle(self, *args: Any, retire: str | None, **options: Any) -> None:
        """Rotate or retire, and print which keys are in use."""
        now = timezone.now()
        try:
            if retire is not None:
                signing_keys.retire(retire, now=now)
            else:
                signing_keys.rotate(now=now)
        except SigningKey.DoesNotExist:
            raise CommandError(f"no signing key in use has the kid {retire}") from None
        signing_keys.retire_expired(now=now)
        for key in SigningKey.objects.filter(state__in=signing_keys.PUBLISHED).order_by("id"):
            self.stdout.write(f"{key.state:<8} {key.kid}")
