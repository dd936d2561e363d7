"""The pages of customers: what they show to whom, and what support does there, once, with a reason, in the log."""

from datetime import timedelta
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import Account, DeviceSession, Note
from accounts.operations import closing, exports, operator_roles
from accounts.rules.operator_roles import SUPPORT
from billing.models import Budget, CreditLot, InvoicePayment, Limit
from billing.operations.budgets import Raise, raise_limit
from gateway.core.contract.ids import new_id
from gateway.customers.payments import REFUND, REFUND_INVOICE
from gateway.operator_roles import keep
from organizations.models import Organization
from tests.factories import invoicing
from tests.factories.billing import release
from tests.gateway.console import ALICE, make_call, make_checkout, make_session
from tests.gateway.operators import address, clerk, logged
from tests.support.unguarded import unguarded

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("furnished_once", "untracked")]

OF_ACCOUNT = [
    *("Credits", "Open holds", "Budgets", "Limits", "Calls", "Payments", "Automatic top-up", "Automatic charges"),
    *(
        "Memberships",
        "Devices",
        "Browsers",
        "Email addresses",
        "Second factors",
        "Identities",
        "Alerts",
        "Notes",
        "Log",
    ),
]
OF_ORGANIZATION = [
    *("Credits", "Open holds", "Budgets", "Limits", "Calls", "Payments", "Invoices", "Automatic top-up"),
    *("Automatic charges", "Members", "Alerts", "Notes", "Log", "Audit log"),
]
QUERIES_MAX = 60


def alice() -> Account:
    return Account.objects.get(did=ALICE)


def page(operator: Client, account: Account | None = None) -> Any:
    return operator.get(address("customers_account", (account or alice()).pk))


def sections(answer: Any) -> dict[str, Any]:
    return {section.title: section for section in answer.context["sections"]}


def act(operator: Client, name: str, **form: Any) -> Any:
    return act_on(alice(), operator, name, **form)


def act_on(row: Account | Organization, operator: Client, name: str, **form: Any) -> Any:
    kind = "account" if isinstance(row, Account) else "organization"
    return operator.post(address(f"customers_{kind}_{name}", row.pk), {"_form_submitted": "on", **form})


def key(operator: Client, name: str) -> str:
    """Return the hidden key of a dialog."""
    return str(operator.get(address(f"customers_account_{name}", alice().pk)).context["form"]["key"].value())


def test_an_account_is_shown_at_a_glance(operator: Client) -> None:
    answer = page(operator)
    assert answer.status_code == 200
    found = sections(answer)
    assert list(found) == OF_ACCOUNT
    assert [amount for name, amount, _ in answer.context["cards"] if name == "Debt"] == ["$0.00"]
    for title in set(OF_ACCOUNT) - {"Limits", "Credits"}:
        assert found[title].rows, title
    assert "Prefers email." in answer.content.decode()
    assert "reconciling" in answer.content.decode().lower()


def test_an_organization_is_shown_at_a_glance(operator: Client) -> None:
    organization = Organization.objects.get(name="Studio people")
    answer = operator.get(address("customers_organization", organization.pk))
    assert list(sections(answer)) == OF_ORGANIZATION
    assert [row[1] for row in sections(answer)["Members"].rows] == ["owner"]
    assert "There has been no invoice." in answer.content.decode()


def test_a_failed_call_is_marked_with_its_cause(operator: Client) -> None:
    usage_id = make_call()
    assert release(usage_id, resolution="upstream_401")
    [row] = [row for row in sections(page(operator))["Calls"].rows if usage_id in row[0]]
    assert "failed" in row[2]
    assert row[2].endswith(" upstream_401")


def test_a_page_takes_as_many_queries_however_much_there_is(operator: Client) -> None:
    page(operator)
    with CaptureQueriesContext(connection) as before:
        page(operator)
    for _ in range(5):
        make_call()
        make_session()
        act(operator, "note", text="One more.", key=new_id("note"))
    with CaptureQueriesContext(connection) as after:
        page(operator)
    assert len(after) == len(before)
    assert len(before) <= QUERIES_MAX


def test_an_operator_sees_only_what_they_may_view() -> None:
    assert page(clerk()).status_code == 404
    answer = page(clerk("view_account", "view_checkout", name="cashier"))
    assert (list(sections(answer)), answer.context["cards"], answer.context["buttons"]) == (["Payments"], [], [])
    organization = Organization.objects.get(name="Studio people")
    assert clerk("view_account", name="c").get(address("customers_organization", organization.pk)).status_code == 404


@pytest.mark.parametrize("object_id", ["0", "9" * 40, "none", "-1", "_25"])
def test_nobody_has_no_page(operator: Client, object_id: str) -> None:
    for kind in ("account", "organization"):
        assert operator.get(f"/admin/customers/{kind}/{object_id}/").status_code == 404


def test_a_credit_is_granted_once_however_often_the_form_is_sent(operator: Client) -> None:
    before = CreditLot.objects.count()
    form = {"amount": "5.00", "reason": "slow answers", "key": key(operator, "credit")}
    first, second = act(operator, "credit", **form), act(operator, "credit", **form)
    assert first["HX-Redirect"] == second["HX-Redirect"] == address("customers_account", alice().pk)
    lot = CreditLot.objects.latest("created_at")
    assert CreditLot.objects.count() == before + 1
    assert (lot.wallet.owner_key, lot.granted_microusd, lot.source_kind) == (ALICE, 5_000_000, "console")
    assert logged()[-1] == (CHANGE, f"Granted $5.00 ({lot.pk}): slow answers")
    act(operator, "credit", **{**form, "amount": "6.00"})
    assert CreditLot.objects.count() == before + 1
    assert "already used for something else" in page(operator).content.decode()


@pytest.mark.parametrize(
    "form",
    [
        {"amount": "5.0000001", "reason": "r"},
        {"amount": "5,00", "reason": "r"},
        {"amount": "0", "reason": "r"},
        {"amount": "1000000.000001", "reason": "r"},
        {"amount": "5.00", "reason": ""},
        {"amount": "5.00", "reason": "r\nx"},
        {"amount": "5.00", "reason": "r", "key": "crd_1"},
        {"amount": "5.00", "reason": "r", "expires_at_0": "2020-01-01", "expires_at_1": "00:00"},
    ],
)
def test_a_credit_that_is_filled_in_wrong_is_not_granted(operator: Client, form: dict[str, str]) -> None:
    before, entries = CreditLot.objects.count(), logged()
    answer = act(operator, "credit", **{"key": key(operator, "credit"), **form})
    assert "HX-Redirect" not in answer
    assert answer.context["form"].errors
    assert (CreditLot.objects.count(), logged()) == (before, entries)


@pytest.mark.parametrize(
    ("name", "right"), [("credit", "add_creditlot"), ("note", "add_note"), ("limits", "change_limit")]
)
def test_a_dialog_opens_only_by_its_own_right(name: str, right: str) -> None:
    rights = {right, "add_limit"} if name == "limits" else {right}
    others = {"add_creditlot", "add_note", "change_limit"} - {right}
    form = {"amount": "5.00", "reason": "r", "text": "t", "key": new_id("crd" if name == "credit" else "note")}
    before = (CreditLot.objects.count(), Note.objects.count(), Limit.objects.count(), len(logged()))
    for number, given in enumerate(({"view_account", *others}, rights)):
        operator = clerk(*given, name=f"c{number}")
        path = address(f"customers_account_{name}", alice().pk)
        assert operator.get(path).status_code in (403, 404)
        assert act(operator, name, **form).status_code in (403, 404)
    assert (CreditLot.objects.count(), Note.objects.count(), Limit.objects.count(), len(logged())) == before
    assert "HX-Redirect" in act(clerk("view_account", *rights, name="allowed"), name, **form)


def test_a_note_is_written_once_and_never_changed_or_exported(operator: Client) -> None:
    form = {"text": "Calls on Mondays only.", "key": key(operator, "note")}
    act(operator, "note", **form)
    act(operator, "note", **form)
    note = Note.objects.get(text="Calls on Mondays only.")
    assert (note.owner_kind, note.owner_key, note.author.email) == ("account", ALICE, "operator@localhost")
    assert logged()[-1] == (CHANGE, "Wrote a note.")
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        Note.objects.filter(pk=note.pk).update(text="Other")
    assert "Calls on Mondays only." in page(operator).content.decode()
    exported = "".join("".join(map(str, file.pieces)) for file in exports.files(alice()))
    assert "Calls on Mondays only." not in exported


def test_a_closed_account_has_no_notes_and_gets_no_credit(operator: Client) -> None:
    person = Account.objects.create_user("did:web:studio.example:carol")
    act_on(person, operator, "note", text="Prefers email.", key=new_id("note"))
    closing.close(account=person, now=timezone.now())
    assert not Note.objects.filter(owner_key=person.did).exists()
    before = CreditLot.objects.count()
    for name in ("credit", "limits"):
        form = {"amount": "5.00", "reason": "r", "key": new_id("crd")}
        assert act_on(person, operator, name, **form).status_code == 403
    assert CreditLot.objects.count() == before
    answer = page(operator, person)
    assert [button.title for button in answer.context["buttons"]] == ["Add a note"]
    assert "closed" in answer.content.decode()


def test_limits_are_set_and_the_log_says_from_what(operator: Client) -> None:
    act(operator, "limits", requests_per_minute="1200", reason="a launch")
    limit = Limit.objects.get(scope="account", subject=ALICE)
    assert str([limit.requests_per_minute, limit.tokens_per_minute, limit.concurrent]) == "[1200, None, None]"
    act(operator, "limits", requests_per_minute="2400", concurrent="5", reason="more")
    limit.refresh_from_db()
    assert (limit.requests_per_minute, limit.concurrent) == (2400, 5)
    assert [words for _, words in logged()[-2:]] == [
        "Set the limits from everybody's to 1,200 requests a minute: a launch",
        "Set the limits from 1,200 requests a minute to 2,400 requests a minute, 5 calls at once: more",
    ]
    assert "HX-Redirect" not in act(operator, "limits", requests_per_minute="0", reason="r")
    assert [str(cell) for cell in sections(page(operator))["Limits"].rows[0][1:]] == ["2,400", "no limit", "5"]


def from_page(operator: Client, name: str, *arguments: object, **form: str) -> Any:
    """Submit a row's dialog that the customer's page opened."""
    opened = f"http://testserver{address('customers_account', alice().pk)}"
    sent = {"_form_submitted": "on", **form}
    return operator.post(address(name, *arguments), sent, headers={"hx-current-url": opened})


def test_a_budget_is_raised_once_by_whoever_saw_it(operator: Client) -> None:
    budget = Budget.objects.get()
    assert budget.limit_microusd == 5_000_000
    form = {"amount": "7.50", "reason": "a launch", "seen": "5000000"}
    answer = from_page(operator, "billing_budget_raise_limit", budget.pk, **form)
    assert answer["HX-Redirect"] == address("customers_account", alice().pk)
    budget.refresh_from_db()
    assert (budget.limit_microusd, budget.override_limit_microusd) == (7_500_000, None)
    assert logged()[-1] == (CHANGE, "Raised from $5.00 to $7.50: a launch")
    entries = logged()
    from_page(operator, "billing_budget_raise_limit", budget.pk, **{**form, "amount": "9.00"})
    budget.refresh_from_db()
    assert (budget.limit_microusd, logged()) == (7_500_000, entries)
    assert "Raised from $5.00 to $7.50" in str(sections(page(operator))["Log"].rows[0])


def test_a_budget_is_raised_until_a_time() -> None:
    budget, now = Budget.objects.get(), timezone.now()
    until = now + timedelta(hours=1)
    assert raise_limit(budget.pk, Raise(5_000_000, 9_000_000, until), now=now)
    budget.refresh_from_db()
    assert (budget.limit_microusd, budget.limit_at(now), budget.limit_at(until)) == (5_000_000, 9_000_000, 5_000_000)


@pytest.mark.parametrize(
    "form", [{"amount": "5.00"}, {"amount": "4.99"}, {"amount": "7.5000001"}, {"amount": "7", "reason": ""}]
)
def test_a_budget_is_not_lowered_or_raised_without_a_reason(operator: Client, form: dict[str, str]) -> None:
    budget, entries = Budget.objects.get(), logged()
    answer = from_page(operator, "billing_budget_raise_limit", budget.pk, **{"seen": "5000000", "reason": "r", **form})
    assert "HX-Redirect" not in answer
    budget.refresh_from_db()
    assert (budget.limit_microusd, logged()) == (5_000_000, entries)


def test_a_device_is_signed_out_alone_and_all_are_together(operator: Client) -> None:
    one, other = make_session(), make_session()
    DeviceSession.objects.update(expires_at=timezone.now() + timedelta(days=1))
    answer = from_page(operator, "accounts_devicesession_end", one.pk, reason="lost phone")
    assert answer["HX-Redirect"] == address("customers_account", alice().pk)
    assert DeviceSession.objects.get(pk=one.pk).revoked_at is not None
    assert DeviceSession.objects.get(pk=other.pk).revoked_at is None
    assert from_page(operator, "accounts_devicesession_end", one.pk, reason="again").status_code == 403

    epoch = alice().session_epoch
    from_page(operator, "accounts_account_end_sessions", alice().pk, reason="stolen laptop")
    assert not DeviceSession.objects.filter(account=alice(), revoked_at=None).exists()
    assert alice().session_epoch == epoch + 1
    assert logged()[-2:] == [(CHANGE, "Ended: lost phone"), (CHANGE, "All sessions ended: stolen laptop")]


def test_an_operators_device_is_signed_out_only_with_every_right() -> None:
    session = make_session()
    DeviceSession.objects.update(expires_at=timezone.now() + timedelta(days=1))
    Account.objects.filter(pk=session.account_id).update(is_staff=True)
    support, entries = clerk("change_devicesession", "view_devicesession", "view_account"), logged()
    end = address("accounts_devicesession_end", session.pk)
    assert end not in support.get(address("customers_account", session.account_id)).content.decode()
    assert from_page(support, "accounts_devicesession_end", session.pk, reason="r").status_code == 403
    of_list = {"action": "revoke", "_selected_action": session.pk, "reason": "r"}
    support.post(address("accounts_devicesession_changelist"), of_list)
    assert DeviceSession.objects.get(pk=session.pk).revoked_at is None
    assert logged() == entries

    Account.objects.filter(pk=session.account_id).update(is_staff=False)
    support.post(address("accounts_devicesession_changelist"), of_list)
    assert DeviceSession.objects.get(pk=session.pk).revoked_at is not None


def test_a_suspension_returns_to_the_customers_page(operator: Client) -> None:
    titles = [button.title for button in page(operator).context["buttons"]]
    assert titles == ["Add a note", "Grant a credit", "Set limits", "End all sessions", "Suspend"]
    answer = from_page(operator, "accounts_account_suspend", alice().pk, reason="fraud")
    assert answer["HX-Redirect"] == address("customers_account", alice().pk)
    shown = page(operator)
    assert "Lift suspension" in [button.title for button in shown.context["buttons"]]
    assert "suspended" in shown.content.decode()


def test_an_organization_is_suspended_with_a_text_for_its_members_and_let_back_in(operator: Client) -> None:
    row = Organization.objects.get()
    here, before = address("customers_organization", row.pk), logged()

    def decide(verb: str, **form: str) -> Any:
        sent = {"_form_submitted": "on", **form}
        path = address(f"organizations_organization_{verb}", row.pk)
        return operator.post(path, sent, headers={"hx-current-url": f"http://testserver{here}"})

    def titles() -> list[str]:
        return [button.title for button in operator.get(here).context["buttons"]]

    assert titles() == ["Add a note", "Grant a credit", "Set limits", "Suspend"]
    for reason in ("", "two\nlines", "r" * 201):
        assert "HX-Redirect" not in decide("suspend", reason=reason, text="x")
    assert "HX-Redirect" not in decide("suspend", reason="fraud", text="x" * 501)
    assert (Organization.objects.get().suspended_at, logged()) == (None, before)

    assert decide("suspend", reason="fraud", text="Ask us by mail.")["HX-Redirect"] == here
    assert Organization.objects.get().suspension_text == "Ask us by mail."
    assert titles() == ["Add a note", "Grant a credit", "Set limits", "Lift suspension"]
    assert "suspended" in operator.get(here).content.decode()
    assert decide("suspend", reason="again").status_code == 403

    assert decide("unsuspend", reason="a mistake")["HX-Redirect"] == here
    assert Organization.objects.get().suspended_at is None
    assert decide("unsuspend", reason="again").status_code == 403
    assert logged()[len(before) :] == [
        (CHANGE, "Suspended, and told its members “Ask us by mail.”: fraud"),
        (CHANGE, "Suspension lifted: a mistake"),
    ]


def test_the_role_of_support_does_what_support_needs_and_sets_no_limits() -> None:
    keep()
    client, account = clerk(), Account.objects.get(did="did:web:localhost:clerk")
    operator_roles.give(account, SUPPORT)
    titles = [button.title for button in page(client).context["buttons"]]
    assert titles == ["Add a note", "Grant a credit", "End all sessions", "Suspend"]


@pytest.mark.parametrize("opened", ["https://evil.example/admin/", "javascript:alert(1)", "//evil.example/x", ""])
def test_a_dialog_leads_to_no_other_page_than_a_customers(operator: Client, opened: str) -> None:
    sent = {"_form_submitted": "on", "reason": "r"}
    path = address("accounts_account_end_sessions", alice().pk)
    answer = operator.post(path, sent, headers={"hx-current-url": opened})
    assert answer["HX-Redirect"] == address("accounts_account_change", alice().pk)


def test_a_payment_is_refunded_where_it_was_made(operator: Client) -> None:
    make_checkout(payment_ref="pi_1", status="paid", review_reason=None, paid_at=timezone.now())
    shown = page(operator).content.decode()
    assert "https://dashboard.stripe.com/test/payments/pi_1" in shown
    assert REFUND in shown
    assert REFUND not in page(clerk("view_account", "view_checkout")).content.decode()


def test_an_invoice_is_refunded_where_it_was_paid(operator: Client) -> None:
    org_id = Organization.objects.get().pk
    invoicing.refused(org_id, months_ago=3)
    [payment] = invoicing.paid(org_id, months_ago=2).payments.all()
    with unguarded():
        InvoicePayment.objects.update(provider="stripe")
    shown = operator.get(address("customers_organization", org_id))
    [*rows] = sections(shown)["Invoices"].rows
    linked = [cells for cells in rows if "dashboard.stripe.com" in cells[-1]]
    assert len(linked) == 1
    assert f"https://dashboard.stripe.com/test/payments/{payment.payment_ref}" in linked[0][-1]
    assert "Record a refund" in linked[0][-1]
    assert REFUND_INVOICE in shown.content.decode()
