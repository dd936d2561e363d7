"""Accounts and members with live access, whose calls the gateway admits, and the elements of those calls."""

from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from accounts.models import Account
from billing.operations import closings
from billing.operations.closings import OpenCall
from billing.operations.ledger import CloseOutcome, Hold, Release, Settlement
from gateway.core.contract.ids import new_id
from gateway.core.database import Element
from organizations.operations import seats
from tests.factories import batches
from tests.factories.billing import Purse, price_version, used_for
from tests.factories.organizations import Team


@dataclass
class Payer:
    """Somebody who calls, the wallet that pays, and for an organization the membership."""

    did: str
    purse: Purse
    membership_id: str | None = None

    @property
    def members(self) -> dict[str, Any]:
        """Return what every element of theirs says."""
        return {"owner": self.purse.owner, "did": self.did}

    def opening(self, hold: int, key: str | None = None, body: bytes = b"{}", **members: Any) -> Element[Hold]:
        """Build the element that places a hold."""
        given = {"usage_id": new_id("use"), "price_version": price_version(), **members}
        return batches.opening(**self.members, hold=hold, key=key, digest=sha256(body).digest(), **given)

    def check_in(self, usage_id: str, evidence: dict[str, int], **given: Any) -> Element[str]:
        """Build the element that notes what was delivered."""
        return batches.check_in(**self.members, usage_id=usage_id, evidence=evidence, **given)

    def settlement(self, usage_id: str, cost: int, **given: Any) -> Element[Settlement]:
        """Build the closing that charges a call by its upstream's count."""
        call, used = self._call(usage_id), used_for(cost)
        return closings.settle(call, cost_microusd=cost, basis="upstream", quantities=used, **given).element

    def release(self, usage_id: str) -> Element[Release]:
        """Build the closing that gives a hold back."""
        return closings.release(self._call(usage_id), resolution="upstream_refused").element

    def review(self, usage_id: str) -> Element[CloseOutcome]:
        """Build the closing that leaves a call to reconciliation."""
        return closings.review(self._call(usage_id), reason="upstream_timeout").element

    def _call(self, usage_id: str) -> OpenCall:
        return OpenCall(self.purse.owner, usage_id, None)


def account() -> Payer:
    """Make an account that pays for its own calls."""
    purse = Purse()
    Account.objects.create_user(purse.key)
    return Payer(purse.key, purse)


def member(products: tuple[str, ...] = (), name: str = "olivia") -> Payer:
    """Make an organization's owner with a seat of each of these products."""
    return members(products, name)[0]


def members(products: tuple[str, ...] = (), *names: str) -> list[Payer]:
    """Make an organization of these people, each with a seat of each of these products."""
    team = Team(names[0], name=names[0].title())
    for name in names[1:]:
        team.join(name)
    for product in products:
        team.enable(product)
        for name in names:
            seats.assign(org_id=team.id, product=product, membership_id=team[name].pk, actor_did=team.owner.did)
    purse = Purse("organization", team.id)
    return [Payer(team[name].account.did, purse, team[name].pk) for name in names]
