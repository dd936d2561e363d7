"""Adds to the log of operators' actions what a configuration changed and what people did with their accounts, and purges it.

It is retained forever unless `AUDIT_DAYS` is set.
"""

from collections.abc import Iterable
from datetime import datetime, timedelta

from django.conf import settings
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.hashers import make_password
from django.contrib.contenttypes.models import ContentType
from django.db import models

from accounts.models import Account
from accounts.operations.addresses import addresses_of
from gateway.core.database.purge import oldest_of
from gateway.core.database.purge import purge as purge_rows

CONFIGURATION_DID = "did:web:configuration.invalid"  # RFC 2606: nobody has a name under .invalid
REPR_MAX_CHARACTERS = 200

Change = tuple[str, str, models.Model | type[models.Model]]


def record(changes: Iterable[Change], *, source: str, now: datetime) -> None:
    """Log the rows that a configuration changed, each with a verb ("created", "updated") and its description.

    The entries are those of a system account, to which nobody can sign in. `source` names the configuration's file.
    """
    if found := list(changes):
        user = _configuration()
        LogEntry.objects.bulk_create([_entry(change, user, source, now) for change in found])


def record_own(account: Account, message: str, *, now: datetime) -> None:
    """Log what a person did with their whole account, as an entry of that person."""
    LogEntry.objects.create(
        user=account,
        action_time=now,
        content_type=ContentType.objects.get_for_model(Account),
        object_id=str(account.pk),
        object_repr=account.did[:REPR_MAX_CHARACTERS],
        action_flag=CHANGE,
        change_message=message,
    )


def forget(account: Account) -> None:
    """Replace the names and addresses of a person in the log by the account's DID."""
    named = {account.display_name, account.email or "", *addresses_of(account)} - {""}
    about = LogEntry.objects.filter(content_type=ContentType.objects.get_for_model(Account), object_id=str(account.pk))
    about.update(object_repr=account.did[:REPR_MAX_CHARACTERS])
    of_sign_in = ContentType.objects.filter(app_label__in=("account", "mfa", "socialaccount", "usersessions"))
    others = LogEntry.objects.filter(content_type__in=of_sign_in, object_repr__in=named)
    others.update(object_repr=account.did[:REPR_MAX_CHARACTERS])


def _configuration() -> Account:
    """Return the account of changes by a configuration; it is created with the first of them."""
    closed = {"display_name": "Configuration", "password": make_password(None), "is_active": False}
    return Account.objects.get_or_create(did=CONFIGURATION_DID, defaults=closed)[0]


def _entry(change: Change, user: Account, source: str, now: datetime) -> LogEntry:
    verb, what, row = change
    name = row._meta.verbose_name_plural if isinstance(row, type) else row  # noqa: SLF001 (documented)
    return LogEntry(
        user=user,
        action_time=now,
        content_type=ContentType.objects.get_for_model(row, for_concrete_model=False),
        object_id=None if isinstance(row, type) else str(row.pk),
        object_repr=str(name)[:REPR_MAX_CHARACTERS],
        action_flag=ADDITION if verb == "created" else CHANGE,
        change_message=f"{verb.capitalize()} by {source}: {what}",
    )


def purge(*, now: datetime) -> int:
    """Delete the entries that are older than `AUDIT_DAYS`; return how many."""
    if settings.AUDIT_DAYS is None:
        return 0
    before = now - timedelta(days=settings.AUDIT_DAYS)
    return purge_rows(oldest_of(LogEntry.objects.filter(action_time__lt=before)))
