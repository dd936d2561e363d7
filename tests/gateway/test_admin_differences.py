"""What an operator sees of payment differences in the console, and closes with a reason."""

from typing import Any

import pytest
from django.contrib.admin.models import CHANGE
from django.test import Client

from billing.models import DifferenceClosing, PaymentDifference
from gateway.core.contract.ids import new_id
from tests.gateway.console import differing
from tests.gateway.operators import address, clerk, logged

pytestmark = pytest.mark.django_db


@pytest.fixture
def difference() -> PaymentDifference:
    return differing(new_id("txn"))


def resolve(client: Client, difference: PaymentDifference, **form: Any) -> Any:
    path = f"{address('billing_paymentdifference_changelist')}{difference.pk}/resolve/"
    return client.post(path, {"_form_submitted": "on", **form})


def listed(client: Client, state: str) -> str:
    return client.get(address("billing_paymentdifference_changelist"), {"state": state}).content.decode()


def test_one_is_resolved_with_a_reason_once(operator: Client, difference: PaymentDifference) -> None:
    assert "HX-Redirect" not in resolve(operator, difference, reason="")
    assert not DifferenceClosing.objects.exists()
    page = address("billing_paymentdifference_change", difference.pk)
    assert resolve(operator, difference, reason="Another environment's")["HX-Redirect"] == page
    closing = DifferenceClosing.objects.get()
    assert (closing.difference, closing.reason) == (difference, "Another environment's")
    assert closing.closed_by == "did:web:localhost:operator"
    assert logged() == [(CHANGE, "Resolved: Another environment's")]
    assert resolve(operator, difference, reason="again").status_code == 403
    assert "Another environment" in operator.get(page).content.decode()


def test_open_and_closed_ones_are_distinguished(operator: Client, difference: PaymentDifference) -> None:
    other = differing(new_id("pay"))
    resolve(operator, other, reason="looked into")
    assert difference.transaction_id in listed(operator, "open")
    assert other.transaction_id not in listed(operator, "open")
    assert other.transaction_id in listed(operator, "closed")
    assert difference.transaction_id not in listed(operator, "closed")


def test_the_overview_names_the_open_ones(operator: Client, difference: PaymentDifference) -> None:
    assert "1 payment differs from the provider" in operator.get(address("index")).content.decode()
    resolve(operator, difference, reason="looked into")
    overview = operator.get(address("index")).content.decode()
    assert "differs from the provider" not in overview


def test_an_operator_without_the_right_only_looks(difference: PaymentDifference) -> None:
    looks = clerk("view_paymentdifference")
    assert looks.get(address("billing_paymentdifference_change", difference.pk)).status_code == 200
    assert resolve(looks, difference, reason="mine").status_code == 403
    assert clerk("view_wallet", name="other").get(address("billing_paymentdifference_changelist")).status_code == 403
    assert not DifferenceClosing.objects.exists()
