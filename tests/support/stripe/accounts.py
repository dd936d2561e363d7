"""Connected accounts, and the platform's own balance."""

from tests.support.stripe import lists
from tests.support.stripe.errors import Refusal
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, make_id

BOTH_MODES = (False, True)


class Accounts:
    """The accounts connected to the platform. A connection exists in one mode or in both."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._modes: dict[str, set[bool]] = {}

    def connect(
        self,
        *,
        metadata: dict[str, str] | None = None,
        charges_enabled: bool = True,
        details_submitted: bool = True,
        live: bool | None = False,
    ) -> Json:
        """Connect an account; `live` None connects it in both modes."""
        account_id = make_id("account", live=bool(live))[:21]
        self._modes[account_id] = set(BOTH_MODES) if live is None else {live}
        return self.store.add(
            "account",
            live=bool(live),
            object_id=account_id,
            business_profile={"name": "Partner", "url": None},
            business_type="company",
            capabilities={"card_payments": "active" if charges_enabled else "pending", "transfers": "active"},
            charges_enabled=charges_enabled,
            controller={"type": "application", "is_controller": True},
            country="US",
            default_currency="usd",
            details_submitted=details_submitted,
            email="partner@example.com",
            metadata=dict(metadata or {}),
            payouts_enabled=charges_enabled,
            requirements={"currently_due": [], "disabled_reason": None, "past_due": []},
            type="none",
        )

    def retrieve(self, request: Request) -> Json:
        """GET /v1/accounts/<id>; one that is not connected is refused with 403, as by the vendor."""
        if request.live not in self._modes.get(request.object_id, ()):
            message = (
                f"The provided key does not have access to account '{request.object_id}' (or that account does not "
                "exist). Application access may have been revoked."
            )
            raise Refusal(403, message, code="account_invalid")
        return self.store.any(request.object_id)

    def list(self, request: Request) -> Json:
        """GET /v1/accounts."""
        rows = [row for row in self.store.every("account") if request.live in self._modes[row["id"]]]
        return lists.page(rows, request.params, url="/v1/accounts")

    def balance(self, request: Request) -> Json:
        """GET /v1/balance, which states the key's mode."""
        nothing = [{"amount": 0, "currency": "usd", "source_types": {"card": 0}}]
        return {"object": "balance", "available": nothing, "livemode": request.live, "pending": nothing}
