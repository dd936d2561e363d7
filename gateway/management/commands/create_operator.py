"""`manage.py create_operator EMAIL`: creates the first operator, or restores access for one."""

import sys
from argparse import BooleanOptionalAction
from getpass import getpass
from typing import Any

from django.contrib.auth.password_validation import validate_password
from django.core.exceptions import ValidationError
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.core.validators import validate_email
from django.db.models import Q
from django.utils import timezone

from accounts.models import Account
from accounts.operations import addresses, operators
from accounts.rules.operator_roles import NAMES

PASSWORD_LINE_MAX = 4096


class Command(BaseCommand):
    """Create an operator with every permission or a role, as a new account or of an existing one. Ask for the password, or read it
    from stdin."""

    help = __doc__

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("who", metavar="EMAIL", help="an email address, or the DID of an existing account")
        parser.add_argument(
            "--set-password", action=BooleanOptionalAction, help="also give an existing account a new password"
        )
        parser.add_argument("--role", choices=NAMES, help="give this role instead of every permission")
        parser.add_argument(
            "--reset-second-factor",
            action="store_true",
            help="only remove the lost second factors of an operator, and end the operator's sessions",
        )

    def handle(self, *args: Any, who: str, role: str | None, set_password: bool | None, **options: Any) -> None:
        """Create or promote the account, or reset its second factors, and print what changed."""
        account, now = _existing(who), timezone.now()
        if options["reset_second_factor"]:
            self._reset(who, account)
            return
        if account is None:
            created = operators.create(who, self._password(Account(email=who)), role, now=now)
            self.stdout.write(f"Created the operator {who} ({created.did}){f' with the role {role}' if role else ''}.")
            return
        needs_password = not account.has_usable_password() if set_password is None else set_password
        password = self._password(account) if needs_password else None
        try:
            done = operators.promote(account, password, role, now=now)
        except operators.AccountClosed:
            raise CommandError(f"The account {account.did} was closed, which cannot be undone.") from None
        except operators.HasEveryRight:
            raise CommandError(
                f"The account {account.did} has every permission. Take that away in the console first. Nothing has changed."
            ) from None
        self.stdout.write(f"{who} ({account.did}) was {', '.join(done) or 'an operator already. Nothing has changed'}.")

    def _reset(self, who: str, account: Account | None) -> None:
        """Remove an operator's second factors. Other people's are left to the console, which asks whoever does it to sign in."""
        if account is None or not (account.is_staff or account.is_superuser):
            raise CommandError(f"{who} is no operator. Nothing has changed.")
        done = operators.reset_second_factor(account, now=timezone.now())
        words = ", ".join(done) or "without a second factor. Nothing has changed"
        self.stdout.write(f"{who} ({account.did}) was {words}.")

    def _password(self, account: Account) -> str:
        """Return a password that passes the password validators."""
        password = _prompt() if sys.stdin.isatty() else sys.stdin.readline(PASSWORD_LINE_MAX).rstrip("\r\n")
        try:
            validate_password(password, account)
        except ValidationError as error:
            raise CommandError(f"{' '.join(error.messages)} Nothing has changed.") from None
        return password


def _existing(who: str) -> Account | None:
    """Return the account with this email address or DID, or None for an unused address. Raises CommandError for
    anything else."""
    if who.startswith("did:"):
        account = Account.objects.filter(did=who).first()
        if account is None:
            raise CommandError(f"There is no account {who}.")
        return account
    try:
        validate_email(who)
    except ValidationError:
        raise CommandError(f"{who!r} is neither an email address nor a DID.") from None
    if account := addresses.verified_holder(who):
        return account
    if addresses.is_open(who):
        return None
    if claimed := Account.objects.filter(Q(email__iexact=who) | Q(emailaddress__email__iexact=who)).first():
        raise CommandError(
            f"The account {claimed.did} has signed up with {who}, but nobody has confirmed that it owns the address. "
            f"If the account is yours, name it by its DID: manage.py create_operator {claimed.did}"
        )
    return None


def _prompt() -> str:
    password = getpass("Password: ")
    if getpass("Password again: ") != password:
        raise CommandError("The passwords differ. Nothing has changed.")
    return password
