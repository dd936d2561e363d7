"""Every lock of the app: the organization's row, before anything in it."""

from datetime import datetime, timedelta

from billing.queries.locked import clock
from gateway.core.contract.errors import NotMember
from organizations.models import Organization


def organization(org_id: str) -> tuple[Organization, datetime]:
    """Lock an organization for a change and return the time of the change, or raise NotMember if it does not exist.

    The clock is read after the lock and never repeats within one organization, so that intervals that follow each
    other never overlap and are never empty.
    """
    found = Organization.objects.select_for_update(no_key=True).filter(pk=org_id).first()
    if found is None:
        raise NotMember
    return found, max(clock(), found.changed_at + timedelta(microseconds=1))
