"""The audit looks at one snapshot, changes nothing, and says what it found."""

import logging
import re
from datetime import UTC, datetime, timedelta
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from billing import tasks
from billing.models import Call, Seal
from billing.operations import budgets, seals
from billing.queries import audit
from billing.rules.budgets import Subject
from tests.billing.audit.conftest import Forge, valid_ledger
from tests.factories.billing import Purse, settle

pytestmark = pytest.mark.django_db


@pytest.fixture
def ledger(db: None) -> dict[str, str]:
    """Make a ledger for each test: some look at transactions of their own, and some need an empty one."""
    return valid_ledger()


def test_names_the_row_and_both_amounts(forge: Forge, ledger: dict[str, str]) -> None:
    forge("UPDATE billing_reservation SET charge_microusd = 339 WHERE id = :paid")
    call, seal = audit.findings()
    assert call.invariant == "charges_match_usage_and_price"
    assert call.subject == ledger["paid"]
    assert call.detail == (
        "state settled, charge 339, usage record 340; charge 339, credits held 0, from the balance 340;"
        " charge 339 and overrun 0 of hold 350, cost by usage and price 340"
    )
    assert str(seal).startswith("seals_match: seal 2: call from ")
    assert re.search(r": (\d+) rows were sealed, now there are \1 and not the same$", str(seal))


def test_looks_at_what_closed_lately(forge: Forge, ledger: dict[str, str]) -> None:
    forge("UPDATE billing_usage_record SET input_tokens = 1 WHERE reservation_id = :paid")
    assert audit.findings(since=timezone.now()) == []
    assert {finding.invariant for finding in audit.findings(since=timezone.now() - timedelta(hours=1))} == {
        "charges_match_usage_and_price",
        "seals_match",
    }


def test_adds_up_balances_from_their_beginning(forge: Forge, ledger: dict[str, str]) -> None:
    forge("DELETE FROM billing_transfer WHERE source = :paid")
    assert "accounts_match_transfers" in {finding.invariant for finding in audit.findings(since=timezone.now())}


@pytest.mark.django_db(transaction=True)
def test_each_query_has_a_short_snapshot_and_changes_nothing(
    ledger: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(audit, "SLICE_CALLS", 1_000)  # with the usual size, tests ask all at once
    with CaptureQueriesContext(connection) as queries:
        assert audit.findings() == []
    begun = [query["sql"] for query in queries if query["sql"].startswith("SET TRANSACTION")]
    assert begun == ["SET TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY"] * len(audit.invariants())


def test_finds_in_slices_what_it_finds_at_once(
    forge: Forge, ledger: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    forge(
        "UPDATE billing_reservation SET charge_microusd = 339 WHERE id = :paid",
        "UPDATE billing_usage_record SET reservation_id = '!' WHERE reservation_id = :paid",
        "UPDATE billing_transfer SET source = '~' WHERE source = :paid",
    )
    at_once = audit.findings()
    assert {"!", "~", ledger["paid"]} <= {finding.subject for finding in at_once}
    monkeypatch.setattr(audit, "SLICE_CALLS", 1)
    with CaptureQueriesContext(connection) as queries:
        assert sorted(map(str, audit.findings())) == sorted(map(str, at_once))
    assert sum("OFFSET" in query["sql"] for query in queries) > Call.objects.count()


def test_the_command_says_that_all_is_well_and_where_the_seals_end(ledger: dict[str, str]) -> None:
    out = StringIO()
    call_command("audit_ledger", stdout=out)
    last = Seal.objects.latest("id")
    assert out.getvalue() == (
        f"The ledger is sound: {len(audit.invariants())} invariants hold.\n"
        f"Sealed until {last.ends_at.isoformat()}: {bytes(last.chain).hex()}\n"
    )


def test_the_command_fails_and_names_what_is_broken(forge: Forge, ledger: dict[str, str]) -> None:
    forge("UPDATE billing_budget SET held_microusd = held_microusd + 1")
    out, err = StringIO(), StringIO()
    with pytest.raises(SystemExit) as ended:
        call_command("audit_ledger", stdout=out, stderr=err)
    assert ended.value.code == 1
    assert out.getvalue() == ""
    assert err.getvalue().startswith("budgets_match_calls: ")
    assert f"{ledger['budget']}: held 121, open calls 120" in err.getvalue()


def test_the_command_knows_a_seal_that_was_noted_elsewhere(ledger: dict[str, str]) -> None:
    noted = bytes(Seal.objects.earliest("id").chain).hex()
    call_command("audit_ledger", seal=noted, stdout=StringIO())
    err = StringIO()
    with pytest.raises(SystemExit):
        call_command("audit_ledger", seal="00" * 32, stdout=StringIO(), stderr=err)
    assert err.getvalue() == f"There is no seal {'00' * 32}: seals were erased or rebuilt.\n"


def test_the_job_raises_the_alarm(forge: Forge, ledger: dict[str, str], caplog: pytest.LogCaptureFixture) -> None:
    assert tasks.audit_ledger() == 0
    forge("UPDATE billing_usage_record SET input_tokens = 1 WHERE reservation_id = :paid")
    with caplog.at_level(logging.CRITICAL):
        assert tasks.audit_ledger() == tasks.audit_whole_ledger() == 2
    assert f"ledger audit: charges_match_usage_and_price: {ledger['paid']}: " in caplog.text


def test_a_charge_dated_in_the_month_before_its_budgets_is_no_finding(db: None) -> None:
    org = Purse("organization", "org_late").pay(1000)
    january, february = datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC), datetime(2026, 2, 1, tzinfo=UTC)
    one, two, three = (org.reserve(100, now=january).usage_id or "" for _ in range(3))
    settle(one, 10, now=january)
    budget = budgets.put(Subject(("organization", "org_late")), limit_microusd=500, now=february)
    settle(two, 20, now=january)
    settle(three, 30, now=february)
    budget.refresh_from_db()
    assert (budget.period_start, budget.spent_microusd) == (february.date(), 30)
    assert [finding for finding in audit.findings() if finding.invariant != "nothing_is_stale"] == []


def test_seals_nothing_where_nothing_closed(ledger: dict[str, str]) -> None:
    until = Seal.objects.latest("id").ends_at
    assert seals.seal_until(until) is None
