"""An owner of a wallet who saved a payment method and lets the gateway charge it."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from django.utils import timezone

from billing.models import AutoTopUp, AutoTopUpCharge, Checkout, CheckoutKind, Transfer, Wallet
from billing.operations import auto_top_up_charges, auto_top_ups, checkouts
from billing.queries import auto_top_ups as queries
from billing.queries.auto_top_ups import Terms
from gateway.core.contract.ids import new_id
from gateway.core.events.models import Event
from tests.factories.accounts import make_account
from tests.factories.billing import Purse, settle
from tests.support.stripe import FakeStripe

USD = 1_000_000
TERMS = Terms(True, 5 * USD, 20 * USD, 100 * USD)
INTENTS = "/v1/payment_intents"
MINUTE = timedelta(minutes=1)


class Saver:
    """A person, or a member of an organization, with 10 dollars; `now` is when the jobs run."""

    def __init__(self, provider: FakeStripe, owner: tuple[str, str] | None = None, did: str = "") -> None:
        self.provider = provider
        self.did = did or make_account(new_id("saver")).did
        self.owner = owner or ("account", self.did)
        self.purse = Purse(*self.owner).pay(10 * USD)
        self.now = timezone.now()

    def save_method(self, answer: str = "succeeds") -> str:
        """Save a payment method whose bank answers like this; return its id at the provider."""
        checkout = self.begin(CheckoutKind.PAYMENT_METHOD, None)
        session = self.provider.pay(str(checkout.session_ref))
        method: str = self.provider.get(session["setup_intent"])["payment_method"]
        self.provider.answer_charges(method, answer)
        checkouts.converge(checkout, now=self.now)
        return method

    def begin(self, kind: str, amount: int | None, *, saves_method: bool = False) -> Checkout:
        """Begin a checkout."""
        return checkouts.begin_and_place(
            self.owner,
            now=self.now,
            kind=kind,
            amount_microusd=amount,
            product=None,
            idempotency_key=new_id("key"),
            requested_by=self.did,
            saves_method=saves_method,
        )

    def enable(self, **terms: Any) -> AutoTopUp:
        """Turn automatic top-up on: below 5 dollars 20 dollars, at most 100 dollars a month."""
        return auto_top_ups.put(self.owner, replace(TERMS, **terms), requested_by=self.did, now=self.now)

    def spend(self, amount: int) -> None:
        """Make a call that costs this much."""
        settle(self.purse.call(amount), amount)

    def run(self, after: timedelta = timedelta(0)) -> dict[str, int]:
        """Run the job at a later time; zeros are left out."""
        self.now = max(self.now, timezone.now()) + after
        return {name: count for name, count in auto_top_up_charges.send_all(now=self.now).items() if count}

    @property
    def wallet(self) -> Wallet:
        return Wallet.objects.get(owner_kind=self.owner[0], owner_key=self.owner[1])

    @property
    def balance(self) -> int:
        """What is in the wallet, in dollars."""
        return self.purse.wallet.balance_microusd // USD

    @property
    def charges(self) -> list[AutoTopUpCharge]:
        """List the charges, oldest first."""
        return list(AutoTopUpCharge.objects.filter(wallet=self.wallet).order_by("created_at", "id"))

    @property
    def outcomes(self) -> list[str]:
        """Return the outcome of each charge."""
        return [one.failure_code or one.status for one in self.charges]

    @property
    def state(self) -> str:
        return queries.view(self.owner, self.now).state

    @property
    def events(self) -> list[str]:
        """List the types of the events of automatic top-up, oldest first."""
        rows = Event.objects.filter(owner_key=self.owner[1], type__startswith="auto_top_up.").order_by("id")
        return [row.type.removeprefix("auto_top_up.") for row in rows]

    @property
    def told(self) -> dict[str, Any]:
        """Return the data of the last event of automatic top-up."""
        rows = Event.objects.filter(owner_key=self.owner[1], type__startswith="auto_top_up.")
        return dict(rows.order_by("id").last().data)  # type: ignore[union-attr]

    @property
    def booked(self) -> list[int]:
        """List what charges brought into the wallet, in dollars."""
        rows = Transfer.objects.filter(kind="payment", source__in=[charge.pk for charge in self.charges])
        return [row.amount_microusd // USD for row in rows.order_by("id")]

    @property
    def paid(self) -> list[int]:
        """List what the provider charged off-session, in dollars, oldest first."""
        ids = {charge.pk for charge in self.charges}
        found = [one for one in self.provider.charges if one["metadata"].get("transaction_id") in ids]
        return [one["amount"] // 100 for one in reversed(found)]
