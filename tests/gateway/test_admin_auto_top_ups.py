"""What an operator does about automatic top-up in the console: by operations, once, with a reason."""

import pytest
from django.contrib.admin.models import CHANGE
from django.test import Client

from billing.models import AutoTopUp, AutoTopUpCharge
from tests.gateway.console import ALICE, make_auto_top_ups
from tests.gateway.operators import address, logged

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _top_ups() -> None:
    make_auto_top_ups()


def act(operator: Client, table: str, verb: str, key: str) -> int:
    path = f"{address(f'billing_{table}_changelist')}{key}/{verb}/"
    return operator.post(path, {"_form_submitted": "on", "reason": "at the request of Alice"}).status_code


def test_it_is_paused_until_an_operator_resumes_it(operator: Client) -> None:
    terms = AutoTopUp.objects.get(wallet__owner_key=ALICE)
    assert act(operator, "autotopup", "resume", terms.pk) == 403
    act(operator, "autotopup", "pause", terms.pk)
    terms.refresh_from_db()
    assert terms.pause_reason == "operator"
    assert act(operator, "autotopup", "pause", terms.pk) == 403
    act(operator, "autotopup", "resume", terms.pk)
    terms.refresh_from_db()
    assert terms.pause_reason == "no_payment_method"  # as before the operator came
    assert logged() == [(CHANGE, "Paused: at the request of Alice"), (CHANGE, "Resumed: at the request of Alice")]


def test_a_charge_in_review_is_dismissed_once(operator: Client) -> None:
    charge = AutoTopUpCharge.objects.get(wallet__owner_key=ALICE, status="review")
    act(operator, "autotopupcharge", "dismiss", charge.pk)
    charge.refresh_from_db()
    assert (charge.status, charge.failure_code) == ("failed", "dismissed")
    assert AutoTopUp.objects.get(pk=charge.wallet_id).pause_reason == "operator"
    assert act(operator, "autotopupcharge", "dismiss", charge.pk) == 403
    assert logged() == [(CHANGE, "Dismissed: at the request of Alice")]
