"""A customer who tops a wallet up, over HTTP."""

import uuid
from datetime import timedelta
from typing import Any

import httpx
from django.utils import timezone

from billing.models import Checkout, Transfer
from billing.operations import reconciliation
from billing.queries import wallets
from billing.queries.wallets import WalletBalance
from tests.factories.accounts import make_account
from tests.factories.proofs import BASE_URL, Signer, mint_token
from tests.support import plain_http
from tests.support.stripe import FakeStripe

PATH = "/v1/billing/checkout"
USD = 1_000_000
SCOPES = ("billing:checkout", "wallet:read")


class Payer:
    """An account with a token, or a person acting for an organization, and a look at what became of the money."""

    def __init__(self, origin: str, provider: FakeStripe) -> None:
        self.origin = origin
        self.provider = provider
        self.client = plain_http.client(timeout=60)
        self.owner = ("account", make_account(uuid.uuid4().hex).did)
        self.signer = Signer()
        self.token = mint_token(self.owner[1], SCOPES, self.signer)
        self.path = PATH

    def close(self) -> None:
        """Hang up."""
        self.client.close()

    def post(self, body: Any, *, path: str | None = None) -> httpx.Response:
        """Send a body with a new proof."""
        path = path or self.path
        headers = self.signer.headers("POST", BASE_URL + path, self.token)
        return self.client.post(self.origin + path, json=body, headers=headers)

    def ask(self, amount: int = 5 * USD, key: str = "", **members: Any) -> httpx.Response:
        """Ask for a top-up of the account's wallet."""
        return self.post({"amountMicros": amount, "idempotencyKey": key or uuid.uuid4().hex, **members})

    def begin(self, amount: int = 5 * USD, **members: Any) -> Checkout:
        """Begin a top-up and give its row."""
        answer = self.ask(amount, **members)
        assert answer.status_code == 201, answer.text
        return Checkout.objects.get(pk=answer.json()["transactionId"])

    def paid(self, amount: int = 5 * USD, **members: Any) -> Checkout:
        """Top up, and have the provider tell that it was paid."""
        checkout = self.begin(amount, **members)
        self.provider.pay(str(checkout.session_ref))
        checkout.refresh_from_db()
        assert checkout.status == "paid"
        return checkout

    @property
    def wallet(self) -> WalletBalance:
        """The wallet as it is now."""
        return wallets.view(self.owner, timezone.now())

    @property
    def money(self) -> tuple[int, int, int]:
        """Return balance, credits and debt."""
        wallet = self.wallet
        return wallet.balance_microusd, wallet.credits_microusd, wallet.debt_microusd


def status(checkout: Checkout) -> str:
    """Return a checkout's status as it is stored."""
    checkout.refresh_from_db()
    return checkout.status


def payments(checkout: Checkout) -> list[int]:
    """List what the ledger took in for a checkout."""
    rows = Transfer.objects.filter(kind="payment", source=checkout.id)
    return list(rows.values_list("amount_microusd", flat=True))


def reconcile(after: timedelta = timedelta(minutes=2)) -> int:
    """Run the job as it will run later."""
    return sum(reconciliation.reconcile(now=timezone.now() + after).values())
