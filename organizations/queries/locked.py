"""Locks organizations' rows, before anything in them is changed."""

from datetime import datetime, timedelta

from billing.queries.locked import clock
from gateway.core.contract.errors import NotMember
from organizations.models import Organization


def organization(org_id: str) -> tuple[Organization, datetime]:
    """Lock an organization for a change and return the time of the change, or raise NotMember if it does not exist.

    The time is read under the lock and strictly increases within an organization, so that successive intervals never
    overlap and are never empty.
    """
    found = Organization.objects.select_for_update(no_key=True).filter(pk=org_id).first()
    if found is None:
        raise NotMember
    return found, max(clock(), found.changed_at + timedelta(microseconds=1))
