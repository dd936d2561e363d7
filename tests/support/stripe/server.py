"""Runs the fake provider in a thread beside a test, and lets the test act as customer, bank and partner."""

import asyncio
from typing import Any, Self

from aiohttp import web

from tests.support.server_thread import ServerThread
from tests.support.stripe.accounts import Accounts
from tests.support.stripe.api import Api, ReceivedRequest
from tests.support.stripe.balance import Balance
from tests.support.stripe.behaviours import script_of
from tests.support.stripe.disputes import Disputes
from tests.support.stripe.events import Events
from tests.support.stripe.keeping import Keeping
from tests.support.stripe.pages import Pages
from tests.support.stripe.payments import Payments
from tests.support.stripe.refunds import Refunds
from tests.support.stripe.routes import add_routes
from tests.support.stripe.sessions import Sessions
from tests.support.stripe.store import Json, Store, snapshot
from tests.support.stripe.webhooks import Webhooks

SECRET_KEY, LIVE_SECRET_KEY = "sk_test_standin", "sk_live_standin"


class FakeStripe(ServerThread):
    """A payment provider on a real socket, as a context manager:

        with FakeStripe() as stripe:
            client = StripeClient(stripe.secret_key, base_addresses={"api": stripe.origin})
            session = client.v1.checkout.sessions.create(...)
            stripe.pay(session.id)

    Objects are returned as copies. A control returns once the webhooks that it caused have been answered.
    """

    secret_key = SECRET_KEY
    live_secret_key = LIVE_SECRET_KEY

    def __init__(self, *, port: int = 0) -> None:
        super().__init__(port)
        self.store = Store()
        self.webhooks = Webhooks()
        self.events = Events(self.store)
        self.events.listeners.append(self.webhooks.hear)
        self.balance = Balance(self.store)
        self.payments = Payments(self.store, self.events, self.balance)
        self.keeping = Keeping(self.store, self.events)
        self.refunds = Refunds(self.store, self.events, self.payments, self.balance)
        self.disputes = Disputes(self.store, self.events, self.balance)
        self.accounts = Accounts(self.store)
        self.checkouts = Sessions(self.store, self.events, self.payments, self.keeping)
        self.api = Api(self.store, (SECRET_KEY, LIVE_SECRET_KEY))

    @property
    def requests(self) -> list[ReceivedRequest]:
        """List the requests to the API, oldest first."""
        return list(self.api.requests)

    @property
    def charges(self) -> list[Json]:
        """List the charges that banks paid, newest first."""
        return [snapshot(row) for row in self.store.every("charge") if row["paid"]]

    @property
    def sessions(self) -> list[Json]:
        """List the checkout sessions, newest first."""
        return [snapshot(row) for row in self.store.every("checkout.session")]

    def get(self, object_id: str) -> Json:
        """Return an object's current state."""
        return snapshot(self.store.any(object_id))

    def events_of(self, *types: str) -> list[Json]:
        """List the events of these types, or all, oldest first."""
        rows = reversed(self.store.every("event"))
        return [snapshot(row) for row in rows if not types or row["type"] in types]

    def pay(self, session_id: str, *, settles: bool = True) -> Json:
        """Pay at a session's page; with `settles` false the bank responds later (see settle and fail)."""
        return self._play(lambda: self.checkouts.pay(self.store.any(session_id), settles=settles))

    def settle(self, session_id: str) -> Json:
        """Confirm an open payment, as its bank does."""
        return self._play(lambda: self.checkouts.settle(self.store.any(session_id)))

    def fail(self, session_id: str) -> Json:
        """Decline an open payment, as its bank does."""
        return self._play(lambda: self.checkouts.fail(self.store.any(session_id)))

    def expire(self, session_id: str) -> Json:
        """Make a session expire."""
        return self._play(lambda: self.checkouts.end(self.store.any(session_id)))

    def answer_charges(self, method_id: str, answer: str) -> None:
        """Script how a saved payment method's bank responds to charges: `succeeds`, `takes_its_time`, or a refusal's
        code."""
        self.amend(method_id, _answer=answer)

    def end_charge(self, intent_id: str, *, refused: str = "") -> Json:
        """Confirm a delayed payment, or decline it with a code, as its bank does."""
        intent = self.store.any(intent_id)
        return self._play(lambda: self.payments.fail(intent, refused) if refused else self.payments.settle(intent))

    def refund(self, of: str, *, amount: int | None = None, status: str = "succeeded") -> Json:
        """Refund a session, payment intent or charge, or `amount` cents of it."""
        return self._play(lambda: self.refunds.make(self.payments.charge_of(of), amount=amount, status=status))

    def turn_refund(self, refund_id: str, status: str) -> Json:
        """Change a refund's status to `succeeded`, `failed` or `canceled`."""
        return self._play(lambda: self.refunds.turn(self.store.any(refund_id), status))

    def dispute(self, of: str, *, amount: int | None = None, inquiry: bool = False) -> Json:
        """Dispute a session, payment intent or charge, or `amount` cents of it."""
        return self._play(lambda: self.disputes.open(self.payments.charge_of(of), amount=amount, inquiry=inquiry))

    def end_dispute(self, dispute_id: str, status: str) -> Json:
        """End a dispute as `won`, `lost` or `warning_closed`."""
        return self._play(lambda: self.disputes.end(self.store.any(dispute_id), status))

    def sell(self, cents: int, *, metadata: Json | None = None, currency: str = "usd", live: bool = False) -> Json:
        """Pay for something that the account's owner sells outside the platform; return the charge."""

        def begin() -> Json:
            return self.payments.begin(
                amount=cents, currency=currency, live=live, customer=None, metadata=metadata or {}
            )

        return self._play(lambda: self.payments.settle(begin()))

    def pay_out(self, cents: int) -> Json:
        """Pay the balance out to the owner's bank."""
        return self._play(lambda: self.balance.move("payout", -cents, live=False))

    def connect(self, **members: Any) -> Json:
        """Connect a partner's account: metadata, charges_enabled, details_submitted, live."""
        return self._play(lambda: self.accounts.connect(**members))

    def amend(self, object_id: str, **members: Any) -> Json:
        """Change an object so that it no longer matches what happened."""

        def change() -> Json:
            found = self.store.any(object_id)
            found |= members
            return found

        return self._play(change)

    def advance(self, seconds: int) -> None:
        """Set the provider's clock forward."""
        self.store.ahead_seconds += seconds

    def script(
        self, preset: str | None = None, *, method: str | None = None, path: str = "*", times: int = 1, **settings: Any
    ) -> None:
        """Respond to the next `times` matching requests with a preset of behaviours.py, or single settings over it."""
        self.api.scripts.add(script_of(preset, method=method, path=path, times=times, **settings))

    def reset(self) -> None:
        """Reset everything: objects, requests, scripts, idempotency keys, the webhook's endpoint."""
        self.store.clear()
        self.webhooks.clear()
        self.api.scripts.clear()
        self.api.idempotency.forget()
        self.api.requests.clear()
        self.api.ignores_expand = False
        self.keeping.answer = "succeeds"

    def _play(self, move: Any) -> Json:
        with self.store.lock:
            made: Json = move()
        self.webhooks.flush()
        return snapshot(made)

    def __enter__(self) -> Self:
        super().__enter__()
        self.checkouts.origin = self.origin
        return self

    def application(self) -> web.Application:
        """Build the API and the hosted pages."""
        app = web.Application()
        add_routes(app, self.api, self, Pages(self.checkouts, self._flush))
        return app

    async def _flush(self) -> None:
        await asyncio.get_running_loop().run_in_executor(None, self.webhooks.flush)
