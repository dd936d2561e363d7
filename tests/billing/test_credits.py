"""A credit is granted once a source."""

from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, transaction
from django.utils import timezone

from billing.models import CreditLot, Transfer
from billing.operations import credits, ledger
from billing.operations.credits import GrantConflict
from gateway.core.contract.ids import new_id
from tests.factories.billing import Purse

EXPIRY = datetime(2099, 1, 31, tzinfo=UTC)


def grant(purse: Purse, amount: int = 500, product: str | None = "studio", **fields: object) -> tuple[str, bool]:
    given = {"expires_at": EXPIRY, "source_kind": "config", "source_key": "welcome", **fields}
    return credits.grant(*purse.owner, amount_microusd=amount, product=product, **given)  # type: ignore[arg-type]


def test_grants_once(purse: Purse) -> None:
    lot, is_new = grant(purse)
    assert is_new
    assert grant(purse) == (lot, False)
    [credit] = purse.wallet.credits
    assert (
        credit.credit_id,
        credit.product,
        credit.granted_microusd,
        credit.remaining_microusd,
        credit.expires_at,
    ) == (
        lot,
        "studio",
        500,
        500,
        EXPIRY,
    )
    posted = Transfer.objects.values_list("kind", "source", "debit_account", "credit_account", "amount_microusd")
    assert list(posted) == [("grant", lot, "platform:grants", f"lot:{lot}", 500)]


@pytest.mark.parametrize("change", [{"amount": 501}, {"product": None}, {"expires_at": None}])
def test_a_source_grants_no_second_thing(purse: Purse, change: dict[str, object]) -> None:
    grant(purse)
    before = purse.wallet
    with pytest.raises(GrantConflict):
        grant(purse, **change)  # type: ignore[arg-type]
    assert purse.wallet == before


def test_a_source_grants_to_one_owner(purse: Purse) -> None:
    grant(purse)
    with pytest.raises(GrantConflict):
        grant(Purse())
    assert CreditLot.objects.count() == 1


@pytest.mark.parametrize("amount", [0, -5])
def test_the_database_refuses_a_grant_of_nothing(purse: Purse, amount: int) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        grant(purse, amount)
    assert not CreditLot.objects.exists()


def test_sweeps_what_has_expired_and_nothing_else(purse: Purse) -> None:
    now = timezone.now()
    over = purse.grant(10, expires_at=now)
    purse.grant(20, expires_at=now + timedelta(microseconds=1))
    purse.grant(30)
    assert [tuple(row) for row in ledger.sweep_lots(now=now).rows()] == [(over, 10)]
    assert ledger.sweep_lots(now=now).rows() == []
    assert purse.wallet.balance_microusd == 0
    swept = CreditLot.objects.get(pk=over)
    assert (swept.remaining_microusd, swept.closed_at) == (0, now)
    assert Transfer.objects.get(kind="expiry").credit_account == "platform:expired"


def test_sweeps_in_batches(purse: Purse) -> None:
    now = timezone.now()
    lots = {Purse().grant(10, expires_at=now) for _ in range(5)}
    swept = [ledger.sweep_lots(now=now, limit=2).rows() for _ in range(4)]
    assert [len(batch) for batch in swept] == [2, 2, 1, 0]
    assert {row[0] for batch in swept for row in batch} == lots
    assert new_id("crd") not in lots
