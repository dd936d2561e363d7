"""The access decision: may this person use this organization, and a product of it, right now."""

from dataclasses import dataclass

from gateway.core.contract.errors import ApiError, NoSeat, NotMember, ProductDisabled

ALLOWED = "allowed"


@dataclass(frozen=True, slots=True)
class Versions:
    """Integers that grow with every change of the thing they name; None where the caller may not know it."""

    organization: int | None
    membership: int | None
    entitlement: int | None
    seat: int | None


@dataclass(frozen=True, slots=True)
class Decision:
    """A live decision. `reason` is `allowed`, `not_member`, `product_disabled` or `no_seat`."""

    reason: str
    membership_id: str | None
    role: str | None
    versions: Versions

    @property
    def allowed(self) -> bool:
        """Return whether access is allowed."""
        return self.reason == ALLOWED


def denial(reason: str) -> ApiError:
    """Return the error for a denial on other routes than the access route: always 403."""
    match reason:
        case "product_disabled":
            return ProductDisabled(status=403)
        case "no_seat":
            return NoSeat()
    return NotMember()
