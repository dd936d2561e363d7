"""What an operator sees of receipts that the database lost, and decides about each."""

from datetime import datetime
from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.db import DatabaseError, transaction
from django.test import Client
from django.utils import timezone

from billing.models import LostReceipt
from billing.operations import lost_receipts
from tests.gateway.console import lose
from tests.gateway.operators import address, clerk, logged

pytestmark = pytest.mark.django_db


@pytest.fixture
def receipt() -> LostReceipt:
    return lose("use_1", 1_234)


def decide(client: Client, receipt: LostReceipt, action: str, **form: Any) -> Any:
    path = f"{address('billing_lostreceipt_changelist')}{receipt.pk}/{action}/"
    return client.post(path, {"_form_submitted": "on", **form})


def listed(client: Client, state: str) -> str:
    return client.get(address("billing_lostreceipt_changelist"), {"state": state}).content.decode()


def test_each_is_decided_about_once_with_a_reason(operator: Client, receipt: LostReceipt) -> None:
    other = lose("use_2", None)
    assert "HX-Redirect" not in decide(operator, receipt, "charged", reason="")
    assert not LostReceipt.objects.exclude(outcome=None).exists()
    page = address("billing_lostreceipt_change", receipt.pk)
    assert decide(operator, receipt, "charged", reason="Invoice 7")["HX-Redirect"] == page
    assert decide(operator, other, "written_off", reason="Too little")["HX-Redirect"]
    assert decide(operator, receipt, "written_off", reason="again").status_code == 403
    decided = LostReceipt.objects.order_by("pk").values_list("outcome", "reason", "resolved_by")
    by = "did:web:localhost:operator"
    assert list(decided) == [("charged", "Invoice 7", by), ("written_off", "Too little", by)]
    assert logged() == [(CHANGE, "Charged otherwise: Invoice 7"), (CHANGE, "Written off: Too little")]
    assert "Invoice 7" in operator.get(page).content.decode()


def test_the_lists_separate_what_waits(operator: Client, receipt: LostReceipt) -> None:
    lose("use_2", 5)
    decide(operator, receipt, "written_off", reason="Too little")
    assert ("use_1" in listed(operator, "open"), "use_2" in listed(operator, "open")) == (False, True)
    assert ("use_1" in listed(operator, "written_off"), "use_2" in listed(operator, "written_off")) == (True, False)


def test_the_overview_names_what_waits_with_its_amount(operator: Client, receipt: LostReceipt) -> None:
    lose("use_2", 2_000_000)
    overview = operator.get(address("index")).content.decode()
    assert "2 receipts were lost by the database" in overview
    assert "$2.001234 on their receipts" in overview
    for usage_id in ("use_1", "use_2"):
        assert lost_receipts.resolve(usage_id, outcome="charged", reason="r", actor="o", now=timezone.now())
    assert "lost by the database" not in operator.get(address("index")).content.decode()


def test_an_operator_without_the_right_only_looks(receipt: LostReceipt) -> None:
    looks = clerk("view_lostreceipt")
    assert looks.get(address("billing_lostreceipt_change", receipt.pk)).status_code == 200
    for action in ("charged", "written_off"):
        assert decide(looks, receipt, action, reason="mine").status_code == 403
    assert clerk("view_wallet", name="other").get(address("billing_lostreceipt_changelist")).status_code == 403
    assert not LostReceipt.objects.exclude(outcome=None).exists()


@pytest.mark.parametrize("change", [{"charge_microusd": 1}, {"owner_key": "did:web:localhost:bob"}, {"found_at": None}])
def test_what_was_lost_is_never_changed(receipt: LostReceipt, change: dict[str, int | str | datetime | None]) -> None:
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        LostReceipt.objects.update(**change)
    with pytest.raises(DatabaseError, match="never changed"), transaction.atomic():
        LostReceipt.objects.all().delete()
