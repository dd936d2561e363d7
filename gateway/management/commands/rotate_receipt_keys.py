"""Rotates the keys that receipts are signed with."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from accounts.models import ReceiptKey
from accounts.operations import receipt_keys
from gateway.management.command_lines import join_value

WITHDRAW = "--withdraw"


class Command(BaseCommand):
    """Sign with the next key, which is already published. The public part of the previous key stays published for ever."""

    help = __doc__

    def run_from_argv(self, argv: list[str]) -> None:
        """Run the command line, in which the key's id may begin with a hyphen, as one in 64 does."""
        super().run_from_argv([*join_value(argv, WITHDRAW)])

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(WITHDRAW, metavar="KID", help="stop publishing this key, because it leaked")

    def handle(self, *args: Any, withdraw: str | None, **options: Any) -> None:
        """Rotate or withdraw, and print which keys are published."""
        now = timezone.now()
        try:
            if withdraw is not None:
                receipt_keys.withdraw(withdraw, now=now)
            else:
                receipt_keys.rotate(now=now)
        except ReceiptKey.DoesNotExist:
            raise CommandError(f"no published receipt key has the kid {withdraw}") from None
        for key in ReceiptKey.objects.filter(state__in=receipt_keys.PUBLISHED).order_by("id"):
            self.stdout.write(f"{key.state:<8} {key.kid}")
