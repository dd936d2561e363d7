"""Two server processes with real sockets: whatever comes to both at once is booked once."""

import random
from collections import Counter
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import httpx
import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client

from accounts.models import Account
from billing.models import Checkout, CreditLot, ProviderEvent, Transfer, UsageRecord, Wallet
from gateway.core.contract.ids import new_id
from tests.billing.payments.payer import USD, Payer, payments, reconcile, status
from tests.factories.accounts import make_account
from tests.factories.billing import Purse, review, settle, state
from tests.support.concurrency import at_once
from tests.support.processes import by_turns, two_processes
from tests.support.stripe import FakeStripe

TOKEN = "a" * 32
WEBHOOK = "/webhooks/stripe"


@pytest.fixture(scope="module")
def origins(django_db_setup: None, django_db_blocker: Any, running_provider: FakeStripe) -> Iterator[list[str]]:
    """Run two server processes that know the payment provider."""
    known = {
        "STRIPE_SECRET_KEY": running_provider.secret_key,
        "STRIPE_WEBHOOK_SECRET": running_provider.webhooks.secret,
        "STRIPE_API_BASE": running_provider.origin,
    }
    with django_db_blocker.unblock(), two_processes(**known) as running:
        yield running


def events(payer: Payer, provider: FakeStripe, origins: list[str], sent: list[Any]) -> list[Callable[[], int]]:
    """Make the deliveries of signed events, by turns to each process."""

    def deliver(origin: str, event: Any) -> int:
        body, headers = provider.webhooks.signed(event)
        return payer.client.post(origin + WEBHOOK, content=body, headers=headers).status_code

    return by_turns(origins, deliver, sent)


def sweep() -> int:
    """Run the job, as another process does meanwhile."""
    return reconcile()


def test_a_payment_reported_ten_times_swept_and_viewed_is_credited_once(
    payer: Payer, provider: FakeStripe, origins: list[str]
) -> None:
    provider.webhooks.hold()
    checkout = payer.begin()
    provider.pay(str(checkout.session_ref))
    [event] = provider.events_of("checkout.session.completed")
    person = Browser(Account.objects.get(did=payer.owner[1]))
    looks = [partial(person.get, origin, f"/wallet/payments/{checkout.pk}") for origin in origins]
    results = at_once(*events(payer, provider, origins, [event] * 10), *looks, sweep, sweep)
    assert results[:12] == [200] * 12
    assert payments(checkout) == [5 * USD]
    assert (payer.money, status(checkout)) == ((5 * USD, 0, 0), "paid")
    assert ProviderEvent.objects.filter(event_id=event["id"]).count() == 1


def test_one_key_with_two_amounts_is_one_transaction(payer: Payer, provider: FakeStripe, origins: list[str]) -> None:
    payers = [Payer(origin, provider) for origin in origins]
    for each in payers:
        each.owner, each.signer, each.token = payer.owner, payer.signer, payer.token
    asks = [partial(payers[n % 2].ask, (5 + n // 2 % 2) * USD, key="one") for n in range(8)]
    answers = at_once(*asks)
    [checkout] = Checkout.objects.filter(owner_key=payer.owner[1])
    [session] = provider.sessions
    assert session["amount_total"] * 10_000 == checkout.amount_microusd
    made = {answer.json()["transactionId"] for answer in answers if answer.status_code == 201}
    assert made == {checkout.pk}
    wrong = [answer for ask, answer in zip(asks, answers, strict=True) if ask.args[0] != checkout.amount_microusd]
    assert {answer.status_code for answer in wrong} == {422}
    assert {answer.status_code for answer in answers} <= {201, 422, 503}
    for each in payers:
        each.close()


def test_a_refund_and_a_top_up_at_once_are_both_booked(payer: Payer, provider: FakeStripe, origins: list[str]) -> None:
    first = payer.paid()
    provider.webhooks.hold()
    second = payer.begin(7 * USD)
    provider.pay(str(second.session_ref))
    provider.refund(str(first.session_ref), amount=300)
    sent = provider.events_of("checkout.session.completed", "charge.refunded", "payment_intent.succeeded") * 2
    assert set(at_once(*events(payer, provider, origins, sent))) == {200}
    at_once(sweep)
    assert payer.money == (9 * USD, 0, 0)
    assert (payments(first), payments(second)) == ([5 * USD], [7 * USD])


@pytest.mark.parametrize("end", ["won", "lost"])
def test_a_dispute_whose_events_arrive_at_once_in_any_order(
    payer: Payer, provider: FakeStripe, origins: list[str], end: str
) -> None:
    checkout = payer.paid()
    provider.webhooks.hold()
    dispute = provider.dispute(str(checkout.session_ref), amount=200)
    opened = provider.events_of("charge.dispute.created")
    provider.end_dispute(dispute["id"], end)
    sent = [*provider.events_of("charge.dispute.closed", "charge.dispute.funds_reinstated"), *opened] * 2
    random.Random(end).shuffle(sent)
    assert set(at_once(*events(payer, provider, origins, sent))) == {200}
    left = 5 if end == "won" else 3
    assert payer.money == (left * USD, 0, 0)


class Browser:
    """Somebody's browser, signed in at every process."""

    def __init__(self, account: Account) -> None:
        client = Client()
        client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
        self.cookies = {"sessionid": client.cookies["sessionid"].value, "csrftoken": TOKEN}

    def get(self, origin: str, path: str) -> int:
        """Open a page."""
        return httpx.get(origin + path, cookies=self.cookies, timeout=60).status_code

    def post(self, origin: str, path: str, form: dict[str, str]) -> int:
        """Send a form."""
        headers = {"X-CSRFToken": TOKEN}
        return httpx.post(origin + path, data=form, cookies=self.cookies, headers=headers, timeout=60).status_code

    def each(self, origins: list[str], path: str, forms: list[dict[str, str]]) -> list[Callable[[], int]]:
        """Make the sending of forms, by turns to each process."""
        return by_turns(origins, lambda origin, form: self.post(origin, path, form), forms)


@pytest.fixture
def operator() -> Browser:
    account = Account.objects.create_superuser(f"did:web:localhost:{new_id('op')}", None, "x")
    LogEntry.objects.all().delete()
    return Browser(account)


def decided() -> list[str]:
    return [words.partition(" ")[0].strip(":") for words in LogEntry.objects.values_list("change_message", flat=True)]


def test_a_call_that_operators_decide_while_it_ends_is_closed_once(operator: Browser, origins: list[str]) -> None:
    for _ in range(4):
        purse = Purse().pay(1000)
        call = purse.call(100)
        assert review(call)
        LogEntry.objects.all().delete()
        path = f"/admin/billing/call/{call}"
        charge = {"_form_submitted": "on", "amount": "0.000040", "reason": "r"}
        results = at_once(
            *operator.each(origins, f"{path}/charge/", [charge] * 3),
            *operator.each(origins, f"{path}/release/", [charge] * 3),
            partial(settle, call, 30),
        )
        assert set(results[:6]) <= {200, 403}
        by_itself = results[6].outcome == "settled"
        assert len(decided()) == (0 if by_itself else 1)
        charged = 30 if by_itself else 40 if decided() == ["Charged"] else 0
        assert state(call) == ("settled" if charged else "released")
        assert UsageRecord.objects.filter(call_id=call).count() == (1 if charged else 0)
        assert (purse.wallet.balance_microusd, purse.wallet.held_microusd) == (1000 - charged, 0)


def test_a_checkout_that_operators_decide_at_once_is_decided_once(
    payer: Payer, provider: FakeStripe, operator: Browser, origins: list[str]
) -> None:
    provider.webhooks.hold()
    checkout = payer.begin(12_500_000)
    provider.pay(str(checkout.session_ref))
    provider.amend(str(checkout.session_ref), amount_total=1000)
    at_once(sweep)
    assert status(checkout) == "review"
    path, form = f"/admin/billing/checkout/{checkout.pk}", {"_form_submitted": "on", "reason": "r"}
    kinds = ("credit", "dismiss", "ask_again")
    results = at_once(*(send for kind in kinds for send in operator.each(origins, f"{path}/{kind}/", [form] * 3)))
    assert set(results) <= {200, 403}
    verdicts = Counter(decided())
    assert verdicts["Credited"] + verdicts["Dismissed"] <= 1
    is_credited = verdicts["Credited"] == 1
    assert payments(checkout) == ([10 * USD] if is_credited else [])
    assert status(checkout) == ("paid" if is_credited else "expired" if verdicts["Dismissed"] else "review")


def test_a_grant_that_is_sent_eight_times_at_once_with_two_amounts_is_granted_once(
    operator: Browser, origins: list[str]
) -> None:
    purse, key = Purse(key=make_account(new_id("person")).did).pay(1), new_id("crd")
    form = {"owner": purse.key, "reason": "r", "key": key, "product": ""}
    forms = [form | {"amount": f"0.00001{n % 2}"} for n in range(8)]
    results = at_once(*operator.each(origins, "/admin/billing/creditlot/add/", forms))
    assert set(results) <= {302, 303}
    lot = CreditLot.objects.get(source_key=key)
    assert Transfer.objects.filter(source=lot.pk).count() == 1
    assert Counter(decided()) == {"Granted": 1, "Already": 3}
    assert Wallet.objects.get(owner_key=purse.key).balance_microusd == 1
