"""The result of an access decision: whether a person may now use an organization and one of its products."""

from dataclasses import dataclass

from gateway.core.contract.errors import ApiError, Forbidden, NoSeat, NotMember, ProductDisabled

ALLOWED = "allowed"
SUSPENDED = "organization_suspended"


@dataclass(frozen=True, slots=True)
class Versions:
    """Version numbers that increase with every change; None if the caller may not know them."""

    organization: int | None
    membership: int | None
    entitlement: int | None
    seat: int | None


@dataclass(frozen=True, slots=True)
class Decision:
    """A live decision. `reason` is `allowed`, `not_member`, `organization_suspended`, `product_disabled` or `no_seat`."""

    reason: str
    membership_id: str | None
    role: str | None
    versions: Versions

    @property
    def allowed(self) -> bool:
        return self.reason == ALLOWED


def suspended(org_id: str) -> str:
    """Return the message of the errors about a suspended organization."""
    return f"The organization {org_id} is suspended. Ask the operator of this service."


def denial(reason: str, org_id: str) -> ApiError:
    """Return the error (403) for a denial on routes other than the access route."""
    match reason:
        case "organization_suspended":
            return Forbidden(suspended(org_id), details={"orgId": org_id, "reason": SUSPENDED})
        case "product_disabled":
            return ProductDisabled(status=403)
        case "no_seat":
            return NoSeat()
    return NotMember()
