"""What is mailed about money, and to whom: from what really happened to the drafts of its mails."""

from typing import Any

import pytest
from allauth.account.models import EmailAddress
from django.db import transaction
from django.utils import timezone

from accounts.models import Account
from billing.models import Budget
from billing.operations import budgets
from billing.rules.budgets import BudgetPeriod, Subject
from gateway.core.events.models import Event
from gateway.core.events.operations.recording import record
from gateway.core.events.queries.mail_messages import subject_of
from gateway.core.events.registry import MailDraft, kind_of
from organizations.operations import suspension
from organizations.rules.roles import Role
from tests.factories import invoicing
from tests.factories.billing import Purse, settle
from tests.factories.organizations import Team, account, product

pytestmark = pytest.mark.django_db

USD = 1_000_000


@pytest.fixture
def team() -> Team:
    """Return an organization with a person of each role; all but the admin have verified their addresses."""
    team = Team("olivia", "Acme")
    for name, role in (("adam", Role.ADMIN), ("bella", Role.BILLING), ("mo", Role.MEMBER), ("ben", Role.BILLING)):
        team.join(name, role)
    for name in ("olivia", "bella", "mo", "ben"):
        EmailAddress.objects.create(user=account(name), email=f"{name}@example.com", verified=True, primary=True)
    return team


def spend(purse: Purse, amount: int, **fields: Any) -> None:
    settle(purse.call(amount, **fields), amount)


def drafts(type_: str) -> list[MailDraft]:
    """Return what is mailed about the last event of a type."""
    event = Event.objects.filter(type=type_).latest("pk")
    return kind_of(type_).mails(event)


def told(type_: str) -> list[tuple[str, str, str]]:
    """Return who is told of it, as what kind, and the subject."""
    return [(one.person.address, one.kind, subject_of(one.template, one.context)) for one in drafts(type_)]


@transaction.atomic
def happened(type_: str, owner: tuple[str, str], **data: Any) -> list[tuple[str, str, str]]:
    record(owner_kind=owner[0], owner_key=owner[1], type=type_, data=data)
    return told(type_)


def test_a_persons_wallet() -> None:
    alice = account("alice")
    EmailAddress.objects.create(user=alice, email="alice@example.com", verified=True, primary=True)
    purse = Purse("account", alice.did).pay(2 * USD)
    spend(purse, 1_200_000)
    assert told("wallet.low") == [("alice@example.com", "wallet", "$0.80 left in your wallet")]
    [draft] = drafts("wallet.low")
    assert draft.context == {
        "available": "$0.80",
        "threshold": "$1.00",
        "wallet_path": "/wallet",
        "owner_name": "",
    }
    spend(purse, 800_000)
    assert told("wallet.empty") == [("alice@example.com", "wallet", "Your wallet is empty")]


def test_an_organizations_wallet_concerns_owners_and_billing_members(team: Team) -> None:
    Account.objects.filter(pk=account("ben").pk).update(suspended_at=timezone.now())
    purse = Purse("organization", team.id).pay(2 * USD)
    spend(purse, 2 * USD)
    subject = "$0.00 left in the wallet of Acme"
    assert told("wallet.low") == [("olivia@example.com", "wallet", subject), ("bella@example.com", "wallet", subject)]
    assert drafts("wallet.low")[0].context["wallet_path"] == f"/organizations/{team.id}/wallet"


def test_a_budget_of_the_organization_concerns_owners_and_billing_members(team: Team) -> None:
    product("studio")
    purse = Purse("organization", team.id).pay(20 * USD)
    budgets.put(Subject(("organization", team.id), "studio"), limit_microusd=10 * USD)
    spend(purse, 8 * USD, product="studio")
    subject = "80% of the monthly budget in Acme is spent"
    assert told("budget.threshold") == [
        (f"{name}@example.com", "budget", subject) for name in ("olivia", "bella", "ben")
    ]
    context = drafts("budget.threshold")[0].context
    assert (context["spent"], context["limit"], context["whose_name"]) == ("$8.00", "$10.00", "Studio")
    assert context["budgets_path"] == f"/organizations/{team.id}/budgets"
    assert not context["is_used_up"]
    spend(purse, 2 * USD, product="studio")
    assert drafts("budget.threshold")[0].context["is_used_up"]


def test_a_members_budget_concerns_the_member_too(team: Team) -> None:
    subject = Subject(("organization", team.id), None, team["mo"].pk)
    budgets.put(subject, limit_microusd=10 * USD, period=BudgetPeriod.DAY)
    spend(Purse("organization", team.id).pay(20 * USD), 10 * USD, membership_id=team["mo"].pk)
    *managers, own = told("budget.threshold")
    assert [one[:2] for one in managers] == [
        (f"{name}@example.com", "member_budget") for name in ("olivia", "bella", "ben")
    ]
    assert drafts("budget.threshold")[0].context["whose_name"] == "Mo"
    assert own == ("mo@example.com", "own_budget", "100% of your daily budget in Acme is spent")
    assert drafts("budget.threshold")[-1].context["budgets_path"] == "", "a member cannot open the page"


def test_an_owner_is_told_once_of_the_own_budget(team: Team) -> None:
    budgets.put(Subject(("organization", team.id), None, team["olivia"].pk), limit_microusd=10 * USD)
    spend(Purse("organization", team.id).pay(20 * USD), 10 * USD, membership_id=team["olivia"].pk)
    kinds = {one.person.recipient: one.kind for one in drafts("budget.threshold")}
    assert kinds[account("olivia").did] == "own_budget"


def test_a_persons_own_budget_names_the_app() -> None:
    alice = account("alice")
    purse = Purse("account", alice.did).pay(20 * USD)
    subject = Subject(("account", alice.did), client_id="https://app.example")
    budgets.put(subject, limit_microusd=10 * USD, period=BudgetPeriod.WEEK)
    spend(purse, 9 * USD, client_id="https://app.example")
    [draft] = drafts("budget.threshold")
    assert (draft.context["whose_name"], draft.context["budgets_path"]) == ("app.example", "/apps")
    assert subject_of(draft.template, draft.context) == "80% of the weekly budget is spent"
    assert Budget.objects.get().alerted_percent == 80


def test_invoices(team: Team) -> None:
    invoice = invoicing.issued(team.id)
    who = ("olivia@example.com", "bella@example.com", "ben@example.com")
    subject = f"Invoice {invoice.number} for Acme: $20.00"
    assert told("invoice.issued") == [(one, "invoice", subject) for one in who]
    assert drafts("invoice.issued")[0].context["invoice_path"] == f"/organizations/{team.id}/invoices/{invoice.pk}"
    owner, about = ("organization", team.id), {"invoiceId": invoice.pk}
    assert happened("invoice.charged", owner, **about)[0][2] == f"Invoice {invoice.number} for Acme is paid: $20.00"
    assert happened("invoice.past_due", owner, **about)[0][2] == f"Invoice {invoice.number} for Acme is past due"
    failed = happened("payment.failed", owner, amountMicrousd=20 * USD, failureCode="expired_card", **about)
    assert failed[0] == (who[0], "payment", "A payment of $20.00 for Acme failed")
    context = drafts("payment.failed")[0].context
    assert (context["number"], context["reason"]) == (
        invoice.number,
        "The card has expired. Save another payment method.",
    )


def test_payments(team: Team) -> None:
    bought = happened("payment.received", ("organization", team.id), transactionId="txn_1", amountMicrousd=25 * USD)
    assert bought[0] == ("olivia@example.com", "payment", "$25.00 received for Acme")
    assert drafts("payment.received")[0].context["payment_path"] == f"/organizations/{team.id}/payments/txn_1"
    did = account("mo").did
    own = happened("payment.failed", ("account", did), transactionId="txn_2", amountMicrousd=5 * USD)
    assert own == [("mo@example.com", "payment", "A payment of $5.00 failed")]
    assert drafts("payment.failed")[0].context["payment_path"] == "/wallet/payments/txn_2"


def test_automatic_top_up(team: Team) -> None:
    owner, charge = ("organization", team.id), {"amountMicrousd": 50 * USD, "transactionId": "txn_1"}
    assert happened("auto_top_up.charged", owner, **charge)[0][2] == "$50.00 added to the wallet of Acme"
    paused = happened("auto_top_up.paused", owner, reason="no_payment_method")
    assert paused[0][2] == "Automatic top-up of Acme is paused"
    context = drafts("auto_top_up.paused")[0].context
    assert context["reason"]
    assert context["top_up_path"] == f"/organizations/{team.id}/auto-top-up"
    own = ("account", account("mo").did)
    asked = happened("auto_top_up.action_required", own, reason="authentication_required", **charge)
    assert asked == [("mo@example.com", "payment", "Confirm at your bank, so that your wallet can be filled")]
    assert drafts("auto_top_up.action_required")[0].context["top_up_path"] == "/wallet/auto-top-up"


def test_a_retired_model(team: Team) -> None:
    assert happened("model.retired", ("organization", team.id), model="fast-1")[0] == (
        "olivia@example.com",
        "model",
        "The model fast-1 is retired",
    )


def test_a_suspended_organization_until_it_is_not(team: Team) -> None:
    operator = "did:web:localhost:operator"
    suspension.suspend(org_id=team.id, text="Ask us by mail.", actor_did=operator)
    assert told("organization.suspended_by_operator") == [
        (f"{name}@example.com", "suspension", "Acme is suspended") for name in ("olivia", "bella", "ben")
    ]
    context = drafts("organization.suspended_by_operator")[0].context
    assert (context["text"], context["organization_path"]) == ("Ask us by mail.", f"/organizations/{team.id}")
    suspension.lift(org_id=team.id, actor_did=operator)
    assert drafts("organization.suspended_by_operator") == []


def test_an_organization_that_cannot_assign_seats(team: Team) -> None:
    assert happened("organization.suspended", ("organization", team.id))[0] == (
        "olivia@example.com",
        "suspension",
        "Acme cannot assign seats until its invoice is paid",
    )
