"""Calls of months that are long over, and their move to tables of their own."""

from datetime import UTC, date, datetime, timedelta
from typing import Any

from django.utils import timezone

from billing.operations import ledger_months, seals, usage_days
from billing.operations.ledger_months import Batch
from gateway.core.contract.ids import id_of_time
from tests.factories.billing import Purse, settle

MONTH = date(2025, 10, 1)
AT = datetime(2025, 10, 17, 9, 30, tzinfo=UTC)
END = datetime(2025, 11, 1, tzinfo=UTC)
TABLES = ("billing_reservation", "billing_usage_record", "billing_transfer")


def id_at(at: datetime) -> str:
    """Make a usage id as `new_id` made it at that time."""
    return id_of_time("use", int(at.timestamp() * 1000))


def held(purse: Purse, hold: int, key: str | None = None, at: datetime = AT, **fields: Any) -> str:
    """Place a hold as of a time."""
    return purse.call(hold, key, usage_id=id_at(at), now=at, **fields)


def called(purse: Purse, cost: int, key: str | None = None, at: datetime = AT, **fields: Any) -> str:
    """Hold and settle a call as of a time."""
    usage_id = held(purse, cost + 10, key, at, **fields)
    settle(usage_id, cost, now=at + timedelta(seconds=2))
    return usage_id


def finish() -> None:
    """Seal everything and add it up, so that what is old may move."""
    seals.seal_until(timezone.now())
    usage_days.roll_up_until(timezone.now(), span=timedelta(days=10_000))


def move(month: date = MONTH, before: datetime | None = None) -> list[Batch]:
    """Make the month's tables and move what may move."""
    ledger_months.add_tables(month)
    return list(ledger_months.move(month, before=before or timezone.now()))


def name_of(hot: str, month: date = MONTH) -> str:
    """Return the name of a month's table."""
    return f"{hot}_{month:%Y_%m}"
