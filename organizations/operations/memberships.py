"""What events say about a membership."""

from organizations.models import Membership


def membership_data(membership: Membership, did: str) -> dict[str, str]:
    """Return the members of a membership's event beside `orgId`."""
    return {"membershipId": membership.pk, "did": did, "role": membership.role}
