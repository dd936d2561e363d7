"""Calls of an old month move to tables of their own, and whoever reads the ledger finds them as before."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Call, UsageDay
from billing.operations import ledger_months, seals, usage_days
from gateway.core.contract.ids import new_id
from tests.billing.months.conftest import Old, readings, rows_of, run, unsound
from tests.factories import months
from tests.factories.accounts import make_caller
from tests.factories.billing import Purse, note_delivery, release, review, settle
from tests.factories.months import AT, MONTH, TABLES, called, move, name_of

pytestmark = pytest.mark.django_db


def in_month(hot: str) -> set[str]:
    """Return the keys of the rows that are in the table of the month."""
    key = {"billing_reservation": "id", "billing_usage_record": "reservation_id"}.get(hot, "source")
    return {value for (value,) in run(f"SELECT {key} FROM ONLY {name_of(hot)}")}


def test_every_reader_finds_moved_calls_as_before(old: Old) -> None:
    before = readings(old)
    assert unsound() == []
    [batch] = move()
    assert (batch.calls, batch.staying) == (8, {"open": 1, "in review": 1, "booked as a loss": 1})
    assert in_month("billing_reservation") == old.movable
    assert in_month("billing_usage_record") == in_month("billing_transfer") == old.movable - {old["released"]}
    assert readings(old) == before
    assert unsound() == []


def test_what_belongs_to_a_call_goes_with_it_and_the_rest_stays(old: Old) -> None:
    move()
    assert run("SELECT count(*) FROM ONLY billing_transfer WHERE kind <> 'charge'") == run(
        "SELECT count(*) FROM billing_transfer WHERE kind <> 'charge'"
    )
    assert run("SELECT count(*) FROM ONLY billing_transfer t WHERE source = %s", old["of credit"]) == [(0,)]
    assert [batch.calls for batch in move()] == [0]


def test_days_of_use_are_made_again_of_moved_calls(old: Old) -> None:
    days = list(UsageDay.objects.order_by("closed_on", "calls").values_list("closed_on", "calls", "charged_microusd"))
    move()
    assert usage_days.rebuild(margin=timedelta(0)) == sum(calls for _, calls, _ in days)
    assert days == list(
        UsageDay.objects.order_by("closed_on", "calls").values_list("closed_on", "calls", "charged_microusd")
    )


def test_a_preview_says_what_would_move_and_moves_nothing(old: Old) -> None:
    before = {hot: rows_of(hot, only=True) for hot in TABLES}
    [batch] = ledger_months.preview(MONTH, before=timezone.now())
    assert (batch.looked_at, batch.calls, batch.rows) == (11, 8, 0)
    assert {hot: rows_of(hot, only=True) for hot in TABLES} == before


@pytest.mark.parametrize(
    ("undo", "reason"),
    [
        ("UPDATE billing_seal SET ends_at = '2025-10-01'", "closed too recently"),
        ("DELETE FROM billing_seal", "closed too recently"),
        ("UPDATE billing_usage_horizon SET ends_at = '2025-10-01'", "closed too recently"),
        ("DELETE FROM billing_usage_horizon", "closed too recently"),
        ("UPDATE billing_reservation SET created_at = '2025-09-29' WHERE closed_at IS NOT NULL", "made at another time than the id says"),
        ("INSERT INTO billing_stored_replay SELECT id, 200, '[]', '' FROM billing_reservation WHERE closed_at IS NOT NULL"
         " ON CONFLICT DO NOTHING", "answer is stored"),
    ],
)  # fmt: skip
def test_stays_until_nothing_can_touch_it(old: Old, undo: str, reason: str) -> None:
    run("SET session_replication_role = replica")
    run(undo)
    run("SET session_replication_role = DEFAULT")
    [batch] = move()
    assert batch.calls == 0
    assert batch.staying[reason] >= 8


def test_stays_until_it_is_as_old_as_the_setting_says(old: Old) -> None:
    [batch] = move(before=AT + timedelta(hours=1))
    assert in_month("billing_reservation") == {old[name] for name in ("paid 0", "of credit", "of member", "released")}
    assert batch.staying["closed too recently"] == 4


def test_tables_are_made_for_months_that_are_over(db: None) -> None:
    today = timezone.now().astimezone(UTC).date()
    for month in (today.replace(day=1), date(2025, 10, 2)):
        with pytest.raises(Exception, match="is not a month that has ended"):
            ledger_months.add_tables(month)


def test_small_batches_move_the_same(old: Old, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ledger_months, "BATCH_MAX", 2)
    monkeypatch.setattr(ledger_months, "BATCH_MIN", 2)
    assert [batch.looked_at for batch in move()] == [2, 2, 2, 2, 2, 1]
    assert in_month("billing_reservation") == old.movable


def test_first_id_is_that_of_the_clock(db: None) -> None:
    for day in (date(1970, 1, 1), date(2025, 10, 1), date(2100, 12, 31)):
        at = datetime(day.year, day.month, day.day, tzinfo=UTC)
        assert run("SELECT billing_first_id(%s)", day) == [(months.id_at(at)[: len("use_") + 10],)]
    [(first,)] = run("SELECT billing_first_id(current_date)")
    [(after,)] = run("SELECT billing_first_id(current_date + 2)")
    assert first < new_id("use") < after


def test_a_moved_call_is_closed_for_good(old: Old) -> None:
    before = readings(old)
    move()
    paid, released = old["paid 0"], old["released"]
    assert settle(paid, 5)[:2] == ("already", 100)
    assert release(paid).outcome == "settled"
    assert (settle(released, 5).outcome, release(released).outcome) == ("released", "already")
    assert not review(paid)
    assert not note_delivery(paid, {})
    assert readings(old) == before


def test_a_key_is_used_again_after_its_call_moved(old: Old) -> None:
    move()
    assert old.purse.look_up("key 0").outcome == "fresh"
    again = old.purse.call(30, "key 0")
    assert old.purse.look_up("key 0").outcome == "in_progress"
    settle(again, 10)
    assert Call.objects.filter(idempotency_key="key 0").count() == 2
    assert unsound() == []


def test_what_is_sealed_later_does_not_touch_moved_calls(old: Old) -> None:
    move()
    settle(old.purse.call(30, "new"), 10)
    assert seals.seal_until(timezone.now())
    assert unsound() == []


def test_is_served_as_before(client: Client) -> None:
    caller = make_caller("usage:read", "wallet:read")
    purse = Purse("account", caller.account.did).pay(100_000)
    called(purse, 100, "a", product="courier")
    called(purse, 7, "b", at=months.END + timedelta(days=3))
    months.finish()

    def served() -> Any:
        answers = [client.get(path, headers=caller.headers("GET", path)) for path in ("/v1/usage", "/v1/wallet")]
        assert [answer.status_code for answer in answers] == [200, 200]
        return [answer.json() for answer in answers]

    before = served()
    assert len(before[0]["data"]) == 2
    move()
    assert len(in_month("billing_reservation")) == 1
    assert served() == before
