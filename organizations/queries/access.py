"""Queries the live access decision, through the SQL function that the whole gateway uses."""

from django.db import connection

from organizations.rules.access import Decision, Versions


def decide(org_id: str, did: str, product: str | None) -> Decision:
    """Return whether this person may now use this organization (and product)."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM organizations_access(%s, %s, %s)", [org_id, did, product])
        reason, membership_id, role, *versions = cursor.fetchone()
    return Decision(reason, membership_id, role, Versions(*versions))
