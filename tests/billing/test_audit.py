"""Whatever is wrong in the ledger, the audit names it."""

from collections.abc import Callable
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from billing.models import Checkout
from billing.operations import budgets, wallets
from billing.queries import audit
from tests.factories.billing import ANSWER, Purse, release, review, settle

pytestmark = pytest.mark.django_db


@pytest.fixture
def ledger() -> dict[str, str]:
    """Make a ledger with something of everything; give its rows by what they are."""
    purse, org = Purse().pay(1000), Purse("organization", "org_acme").pay(1000)
    lot = purse.grant(300)
    budget = budgets.put("org_acme", limit_microusd=900, now=timezone.now())
    rows = {
        "purse": purse.key,
        "lot": lot,
        "budget": budget.id,
        "settled": purse.call(350, "a"),
        "released": org.call(40, "b"),
        "reviewed": org.call(50, "c"),
        "lost": org.call(60, "d"),
        "open": org.call(70, "e"),
        "paid_by_org": org.call(80, "f"),
        "holding": purse.call(20),
    }
    purse.grant(30)
    rows["holding_lot"] = purse.call(25)
    settle(rows["settled"], 340, replay=ANSWER)
    settle(rows["paid_by_org"], 100)
    release(rows["released"])
    review(rows["reviewed"], replay=ANSWER)
    review(rows["lost"])
    release(rows["lost"], expected=["review"], book_loss=True)
    org.refund(2000)
    rows["checkout"] = paid_checkout(purse)
    assert audit.findings() == []
    return rows


def paid_checkout(purse: Purse) -> str:
    """Have a top-up of 500 paid, and 200 of it refunded."""
    now = timezone.now()
    checkout = Checkout.objects.create(
        id="txn_checkout",
        owner_kind=purse.kind,
        owner_key=purse.key,
        kind="top_up",
        amount_microusd=500,
        idempotency_key="one",
        requested_by=purse.key,
        provider="stripe",
        is_live=False,
        session_ref="cs_1",
        url="https://pay.example",
        status="paid",
        paid_at=now,
        taken_back_microusd=200,
        movements=1,
    )
    wallets.take_payment(*purse.owner, amount_microusd=500, source=checkout.id)
    wallets.take_back(*purse.owner, amount_microusd=200, source=f"{checkout.id}/1", payment=checkout.id)
    return checkout.id


Corrupt = Callable[[str], None]


@pytest.fixture
def corrupt(ledger: dict[str, str]) -> Corrupt:
    """Change rows behind the ledger's back: without triggers; `:name` is a row of the ledger."""

    def change(statement: str) -> None:
        for name in sorted(ledger, key=len, reverse=True):
            statement = statement.replace(f":{name}", f"'{ledger[name]}'")
        with connection.cursor() as cursor:
            cursor.execute("SET session_replication_role = replica")
            cursor.execute(statement)
            assert cursor.rowcount > 0, statement
            cursor.execute("SET session_replication_role = DEFAULT")

    return change


def named() -> set[str]:
    return {finding.invariant for finding in audit.findings()}


CORRUPTIONS = {
    "wallet_balance_is_its_ledger": [
        "UPDATE billing_wallet SET balance_microusd = balance_microusd + 1",
        "DELETE FROM billing_transfer WHERE kind = 'payment' AND credit_account LIKE 'wallet:%'",
        "UPDATE billing_transfer SET credit_account = 'wallet:wal_nobody' WHERE credit_account LIKE 'wallet:%'",
    ],
    "debt_is_its_ledger": [
        "UPDATE billing_wallet SET debt_microusd = debt_microusd + 1 WHERE owner_key = :purse",
        "UPDATE billing_wallet SET debt_microusd = 0 WHERE owner_key = 'org_acme'",
    ],
    "lot_remaining_is_its_ledger": [
        "UPDATE billing_credit_lot SET remaining_microusd = remaining_microusd - 1 WHERE remaining_microusd > 1"
        " AND held_microusd < remaining_microusd",
        "UPDATE billing_credit_lot SET granted_microusd = granted_microusd + 1",
        "DELETE FROM billing_credit_lot WHERE id = :lot",
    ],
    "wallet_held_is_its_open_calls": [
        "UPDATE billing_wallet SET held_microusd = held_microusd - 1 WHERE owner_key = 'org_acme'",
        "DELETE FROM billing_reservation WHERE id = :open",
        "UPDATE billing_reservation SET state = 'released', closed_at = now(), replayable = false WHERE id = :open",
    ],
    "lot_held_is_its_open_calls": [
        "UPDATE billing_credit_lot SET held_microusd = held_microusd - 1 WHERE held_microusd > 0",
        "UPDATE billing_reservation SET lot_amounts_microusd[1] = lot_amounts_microusd[1] + 1 WHERE id = :holding_lot",
        "UPDATE billing_reservation SET lot_ids[1] = 'crd_nobody' WHERE id = :holding_lot",
    ],
    "budget_is_its_calls": [
        "UPDATE billing_budget SET held_microusd = held_microusd + 1",
        "UPDATE billing_budget SET spent_microusd = 0",
        "UPDATE billing_reservation SET closed_at = closed_at - interval '40 days' WHERE id = :paid_by_org",
    ],
    "hold_is_its_parts": [
        "UPDATE billing_reservation SET cash_held_microusd = cash_held_microusd - 1 WHERE id = :settled",
        "UPDATE billing_reservation SET lot_ids = NULL, lot_amounts_microusd = NULL WHERE id = :settled",
    ],
    "charge_is_its_ledger": [
        "UPDATE billing_reservation SET charge_microusd = charge_microusd - 1 WHERE id = :settled",
        "DELETE FROM billing_transfer WHERE kind = 'charge' AND source = :settled AND seq = 0",
        "UPDATE billing_transfer SET debit_account = 'lot:crd_nobody' WHERE source = :settled AND seq = 1",
        "UPDATE billing_reservation SET lot_amounts_microusd[1] = 0 WHERE id = :settled",
        "UPDATE billing_reservation SET cash_held_microusd = 0 WHERE id = :settled",
        "INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id)"
        " SELECT 'charge', 'use_nobody', 0, 'wallet:' || id, 'platform:revenue', 1, id FROM billing_wallet LIMIT 1",
    ],
    "settled_has_one_usage_record": [
        "DELETE FROM billing_usage_record WHERE reservation_id = :settled",
        "UPDATE billing_usage_record SET charge_microusd = 1 WHERE reservation_id = :settled",
        "UPDATE billing_usage_record SET reservation_id = :open WHERE reservation_id = :settled",
    ],
    "money_is_conserved": [
        "UPDATE billing_wallet SET balance_microusd = balance_microusd + 1 WHERE owner_key = :purse",
        "UPDATE billing_transfer SET amount_microusd = amount_microusd + 1 WHERE kind = 'grant'",
    ],
    "payment_is_credited_once": [
        "INSERT INTO billing_transfer (kind, source, seq, debit_account, credit_account, amount_microusd, wallet_id)"
        " SELECT kind, source, 7, debit_account, credit_account, amount_microusd, wallet_id FROM billing_transfer"
        " WHERE kind = 'payment' LIMIT 1",
    ],
    "checkout_is_its_payment": [
        "UPDATE billing_checkout SET amount_microusd = 499 WHERE id = :checkout",
        "UPDATE billing_checkout SET owner_key = 'did:web:somebody.example' WHERE id = :checkout",
        "UPDATE billing_checkout SET status = 'open', paid_at = NULL, taken_back_microusd = 0 WHERE id = :checkout",
        "DELETE FROM billing_transfer WHERE kind = 'payment' AND source = :checkout",
    ],
    "checkout_taken_back_is_its_ledger": [
        "UPDATE billing_checkout SET taken_back_microusd = 199 WHERE id = :checkout",
        "DELETE FROM billing_transfer WHERE kind = 'refund' AND source = :checkout || '/1'",
    ],
    "replay_belongs_to_its_call": [
        "UPDATE billing_stored_replay SET expires_at = NULL WHERE reservation_id = :settled",
        "UPDATE billing_stored_replay SET expires_at = now() WHERE reservation_id = :reviewed",
        "UPDATE billing_stored_replay SET reservation_id = :released WHERE reservation_id = :settled",
        "UPDATE billing_stored_replay SET reservation_id = 'use_nobody' WHERE reservation_id = :settled",
    ],
    "loss_is_its_call": [
        "DELETE FROM billing_loss WHERE kind = 'overrun'",
        "UPDATE billing_loss SET amount_microusd = amount_microusd + 1 WHERE kind = 'unresolved'",
        "UPDATE billing_loss SET reservation_id = :settled WHERE kind = 'overrun'",
    ],
    "nothing_is_orphaned": [
        "UPDATE billing_reservation SET price_version_id = -1 WHERE id = :settled",
        "UPDATE billing_reservation SET wallet_id = 'wal_nobody' WHERE id = :released",
        "UPDATE billing_credit_lot SET wallet_id = 'wal_nobody'",
        "UPDATE billing_budget SET wallet_id = 'wal_nobody'",
        "UPDATE billing_transfer SET wallet_id = 'wal_nobody' WHERE kind = 'charge'",
        "UPDATE billing_reservation SET lot_ids[1] = 'crd_nobody' WHERE id = :settled",
    ],
    "merge_keeps_its_terms": [
        "UPDATE billing_transfer SET kind = 'merge' WHERE kind = 'grant'",
    ],
    "nothing_is_stale": [
        "UPDATE billing_reservation SET state = 'reserved', created_at = now() - interval '1 hour' WHERE id = :open",
        "UPDATE billing_reservation SET deadline_at = now() - interval '1 hour' WHERE id = :open",
        "UPDATE billing_reservation SET dispatched_at = now() - interval '80 hours' WHERE id = :reviewed",
        "UPDATE billing_credit_lot SET expires_at = now() - interval '2 hours' WHERE remaining_microusd > held_microusd",
    ],
}


@pytest.mark.parametrize(
    ("invariant", "statement"),
    [(invariant, statement) for invariant, statements in CORRUPTIONS.items() for statement in statements],
)
def test_names_what_is_broken(corrupt: Corrupt, invariant: str, statement: str) -> None:
    corrupt(statement)
    assert invariant in named()


def test_every_invariant_is_tried() -> None:
    assert set(CORRUPTIONS) == set(audit.invariants())


def test_names_the_row_and_both_amounts(corrupt: Corrupt, ledger: dict[str, str]) -> None:
    corrupt("UPDATE billing_reservation SET charge_microusd = 339 WHERE id = :settled")
    assert [str(finding) for finding in audit.findings()] == [
        f"charge_is_its_ledger: {ledger['settled']}: charge 339, ledger 340; from the balance 40, cash held 50;"
        " 0 from lots other than held",
        f"settled_has_one_usage_record: {ledger['settled']}: state settled, charge 339, usage record 340",
    ]


def test_the_command_says_that_all_is_well(ledger: dict[str, str]) -> None:
    out = StringIO()
    call_command("audit_ledger", stdout=out)
    assert out.getvalue() == f"The ledger is sound: {len(CORRUPTIONS)} invariants hold.\n"


@pytest.mark.django_db(transaction=True)
def test_looks_at_one_snapshot_and_changes_nothing(ledger: dict[str, str]) -> None:
    with CaptureQueriesContext(connection) as queries:
        assert audit.findings() == []
    assert queries[1]["sql"] == "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"


def test_the_command_fails_and_names_what_is_broken(corrupt: Corrupt, ledger: dict[str, str]) -> None:
    corrupt("UPDATE billing_budget SET held_microusd = held_microusd + 1")
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit_ledger", stdout=out, stderr=err)
    assert ended.value.code == 1
    assert out.getvalue() == ""
    assert err.getvalue().startswith(f"budget_is_its_calls: {ledger['budget']}: held 121, open calls 120")


@pytest.mark.parametrize("table", ["transfer", "usage_record", "loss", "price_version"])
@pytest.mark.parametrize("change", ["UPDATE {} SET id = id", "DELETE FROM {}"])
def test_the_database_refuses_to_change_what_was_booked(ledger: dict[str, str], table: str, change: str) -> None:
    statement = change.format(f"billing_{table}")
    if table == "usage_record":
        statement = statement.replace("id = id", "basis = basis")
    with (
        connection.cursor() as cursor,
        pytest.raises(IntegrityError, match="never changed or deleted"),
        transaction.atomic(),
    ):
        cursor.execute(statement)
    assert audit.findings() == []


@pytest.mark.parametrize("table", ["wallet", "credit_lot", "reservation"])
def test_the_database_refuses_to_forget(ledger: dict[str, str], table: str) -> None:
    with (
        connection.cursor() as cursor,
        pytest.raises(IntegrityError, match="never changed or deleted"),
        transaction.atomic(),
    ):
        cursor.execute(f"DELETE FROM billing_{table}")


IMPOSSIBLE = [
    "UPDATE billing_wallet SET held_microusd = balance_microusd + 1",
    "UPDATE billing_wallet SET held_microusd = -1",
    "UPDATE billing_wallet SET debt_microusd = -1",
    "UPDATE billing_wallet SET owner_kind = 'team'",
    "UPDATE billing_credit_lot SET held_microusd = remaining_microusd + 1",
    "UPDATE billing_credit_lot SET remaining_microusd = granted_microusd + 1",
    "UPDATE billing_credit_lot SET closed_at = now() WHERE remaining_microusd > 0",
    "UPDATE billing_reservation SET hold_microusd = max_cost_microusd + 1",
    "UPDATE billing_reservation SET cash_held_microusd = hold_microusd + 1",
    "UPDATE billing_reservation SET charge_microusd = hold_microusd + 1 WHERE state = 'settled'",
    "UPDATE billing_reservation SET charge_microusd = NULL WHERE state = 'settled'",
    "UPDATE billing_reservation SET charge_microusd = 0 WHERE state <> 'settled'",
    "UPDATE billing_reservation SET overrun_microusd = 1 WHERE charge_microusd < hold_microusd",
    "UPDATE billing_reservation SET overrun_microusd = 1 WHERE state = 'released'",
    "UPDATE billing_reservation SET closed_at = NULL WHERE state = 'settled'",
    "UPDATE billing_reservation SET closed_at = now() WHERE state = 'review'",
    "UPDATE billing_reservation SET deadline_at = NULL WHERE state = 'dispatched'",
    "UPDATE billing_reservation SET replayable = true WHERE state = 'released'",
    "UPDATE billing_reservation SET replayable = true WHERE idempotency_key IS NULL",
    "UPDATE billing_reservation SET state = 'lost'",
    "UPDATE billing_reservation SET idempotency_key = 'same', wallet_id = 'same' WHERE replayable",
    "UPDATE billing_reservation SET lot_ids = NULL WHERE lot_ids IS NOT NULL",
    "UPDATE billing_reservation SET lot_amounts_microusd = NULL WHERE lot_ids IS NOT NULL",
    "UPDATE billing_budget SET spent_microusd = -1",
]


@pytest.mark.parametrize("statement", IMPOSSIBLE)
def test_the_database_refuses_wrong_money(ledger: dict[str, str], statement: str) -> None:
    with (
        connection.cursor() as cursor,
        pytest.raises(IntegrityError, match=r"violates (check|unique) constraint"),
        transaction.atomic(),
    ):
        cursor.execute(statement)
    assert audit.findings() == []
