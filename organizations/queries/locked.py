"""Every lock of the app: the organization's row, before anything in it."""

from datetime import datetime, timedelta

from django.db import connection

from gateway.contract.errors import NotMember
from organizations.models import Organization


def organization(org_id: str) -> tuple[Organization, datetime]:
    """Lock an organization for a change and tell the moment of it, or raise NotMember where there is none.

    The clock is read after the lock and never repeats within one organization, so that intervals that follow each
    other never overlap and are never empty.
    """
    found = Organization.objects.select_for_update(no_key=True).filter(pk=org_id).first()
    if found is None:
        raise NotMember
    return found, max(_clock(), found.changed_at + timedelta(microseconds=1))


def _clock() -> datetime:
    with connection.cursor() as cursor:
        cursor.execute("SELECT clock_timestamp()")
        (now,) = cursor.fetchone()
    return now
