"""The result of an access decision: whether a person may now use an organization and one of its products."""

from dataclasses import dataclass

from gateway.core.contract.errors import ApiError, NoSeat, NotMember, ProductDisabled

ALLOWED = "allowed"


@dataclass(frozen=True, slots=True)
class Versions:
    """Version numbers that increase with every change; None if the caller may not know them."""

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
        return self.reason == ALLOWED


def denial(reason: str) -> ApiError:
    """Return the error (403) for a denial on routes other than the access route."""
    match reason:
        case "product_disabled":
            return ProductDisabled(status=403)
        case "no_seat":
            return NoSeat()
    return NotMember()
