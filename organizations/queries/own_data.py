"""What the organizations app exports of a person's data: the memberships."""

from collections.abc import Iterator

from accounts.models import Account
from gateway.core.api.times import rfc3339, rfc3339_or_none
from gateway.core.portal.csv_files import Row
from organizations.models import Membership

MEMBERSHIPS = ("org_id", "organization", "membership_id", "role", "joined_at", "removed_at")


def memberships(who: Account) -> Iterator[Row]:
    """Return a row of MEMBERSHIPS for each membership. Only an organization of which the person is a member is named."""
    for one in Membership.objects.filter(account=who).select_related("organization").order_by("created_at", "pk"):
        name = one.organization.name if one.is_active else ""
        times = rfc3339(one.created_at), rfc3339_or_none(one.removed_at)
        yield one.organization_id, name, one.pk, one.role, *times
