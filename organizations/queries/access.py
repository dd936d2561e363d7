"""The live access decision, read through the one SQL function that every part of the gateway uses."""

from django.db import connection

from organizations.rules.access import Decision, Versions


def decide(org_id: str, did: str, product: str | None) -> Decision:
    """Decide whether this person may use this organization (and product) right now."""
    with connection.cursor() as cursor:
        cursor.execute("SELECT * FROM organizations_access(%s, %s, %s)", [org_id, did, product])
        reason, membership_id, role, *versions = cursor.fetchone()
    return Decision(reason, membership_id, role, Versions(*versions))
