"""A call's page: every figure as the ledger has it, times and attempts from the request's trace, and what to do about it."""

import html
import re
from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Budget, Call, CostVersion, CreditLot, PriceVersion, Transfer
from billing.operations import budgets, seals
from billing.rules.budgets import Subject
from inference.models import Deployment, RawModel
from inference.queries.rows import RAW_PREFIX
from tests.factories.billing import Purse, price_version, release, review, settle
from tests.factories.payments import top_up
from tests.gateway.console import ALICE, make_call, make_review
from tests.gateway.operators import address, clerk
from tests.gateway.traces import MARKS, attempt, refused, trace_of

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def text_of(client: Client, page: str) -> str:
    """Return the words of a page, with single spaces."""
    answer = client.get(page)
    assert answer.status_code == 200
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", answer.content.decode())).split())


def call_page(client: Client, usage_id: str) -> str:
    return text_of(client, address("billing_call_change", usage_id))


def small() -> str:
    """Return the deployment of the alias "fast"."""
    return str(Deployment.objects.get(model="small-1").pk)


def test_a_settled_call_shows_its_money_and_its_times(operator: Client) -> None:
    usage_id = make_call(hold_microusd=1_050)
    cost = CostVersion.objects.create(deployment=small(), components={"input_token": "0.1", "output_token": "0.4"})
    used = {"input_tokens": 1_000, "cached_input_tokens": 200, "output_tokens": 500}
    settle(usage_id, 435, deployment=small(), quantities={**used, "cost_microusd": 300, "cost_version_id": cost.pk})
    bound = {"input_tokens": 3_000, "output_tokens": 1_000}
    trace_of(usage_id, attempts=[attempt(small())], hold={"price_version": price_version(), **bound})

    shown = call_page(operator, usage_id)

    assert "Charged. Charged for the usage that the provider reported." in shown
    # 3,000 x 0.15 + 1,000 x 0.60 = 1,050
    assert "Input tokens 3,000 $0.15 a million $0.00045 Output tokens 1,000 $0.60 a million $0.00060" in shown
    assert "Sum $0.00105 Hold exact $0.00105" in shown
    # 800 x 0.15 + 200 x 0.075 + 500 x 0.60 = 435
    assert "Input tokens 800 $0.15 a million $0.000120" in shown
    assert "Input tokens from the cache 200 $0.075 a million $0.000015" in shown
    assert "Sum $0.000435 Charge exact $0.000435" in shown
    # 800 x 0.1 + 200 x 0.1 + 500 x 0.4 = 300
    assert "Sum $0.00030 Cost exact $0.0003" in shown
    assert "$0.000435 − $0.0003 = $0.000135 (31.0 % of the charge)" in shown  # noqa: RUF001
    assert "1,000 input tokens, 200 cached input tokens, 500 output tokens; counted by the upstream" in shown
    assert "thumbprint-of-the-key" in shown
    assert "+4.6 ms Attempt 1: sent to primary/small-1" in shown
    assert "+254.6 ms First byte from primary with status 200" in shown
    assert "+303.0 ms The ledger charged $0.000435" in shown
    assert "Duration 303.2 ms first byte after 254.6 ms" in shown
    charge = Transfer.objects.get(kind="charge", source=usage_id)
    assert f"charge {charge.seq} {charge.debit_account} platform:revenue $0.000435" in shown


def test_a_hold_at_a_fallbacks_price_is_explained_by_it(operator: Client) -> None:
    larger = PriceVersion.objects.create(alias="larger", components={"input_token": "0.35"})
    usage_id = make_call(hold_microusd=1_050)
    trace_of(usage_id, hold={"price_version": larger.pk, "input_tokens": 3_000})
    shown = call_page(operator, usage_id)
    assert "Input tokens 3,000 $0.35 a million $0.00105 Sum $0.00105 Hold exact $0.00105" in shown
    assert f"Price Version {larger.pk}, of larger , in USD per million: input_token 0.35" in shown


def test_a_session_holds_its_whole_maximum(operator: Client) -> None:
    usage_id = Purse("account", ALICE).call(2_000, route="realtime")
    assert "so this whole maximum is held." in call_page(operator, usage_id)


def test_an_amount_is_rounded_up_once(operator: Client) -> None:
    usage_id = make_call(hold_microusd=3)
    settle(usage_id, 2, quantities={"input_tokens": 7})
    trace_of(usage_id, hold={"input_tokens": 7, "output_tokens": 2})
    shown = call_page(operator, usage_id)
    # 7 x 0.15 = 1.05, and with 2 x 0.60 it is 2.25
    assert "Sum $0.00000105 Charge rounded up to a millionth of a dollar $0.000002" in shown
    assert "Sum $0.00000225 Hold rounded up to a millionth of a dollar $0.000003" in shown


def test_a_settled_stream_shows_what_was_delivered(operator: Client) -> None:
    usage_id = make_call(hold_microusd=900)
    settle(usage_id, 60, basis="delivered", resolution="client_left", quantities={"output_tokens": 100})
    trace_of(usage_id, attempts=[attempt(small())], is_stream=True, cause="client_left")
    shown = call_page(operator, usage_id)
    assert "Charged. The app left before the end of the answer. Only what was delivered is charged." in shown
    assert "estimated from what was delivered" in shown
    assert "Charge $0.00006 The client left" in shown
    assert "Attempt 1: primary, its answer" in shown


def test_a_call_that_another_deployment_answered_shows_both(operator: Client) -> None:
    raw = f"{RAW_PREFIX}{RawModel.objects.get().pk}"
    usage_id = make_call(hold_microusd=1_000)
    settle(usage_id, 3, deployment=raw, quantities={"input_tokens": 20})
    first = attempt(small(), first_byte=None, ended=90_000, status=429, cause="upstream_429")
    trace_of(usage_id, attempts=[first, attempt(raw, began=95_000)])
    shown = call_page(operator, usage_id)
    row = "1 primary/small-1 +4.6 ms none 85.4 ms 429 Upstream: too many requests (429)"
    assert row in shown
    assert "2 primary/vendor/large-2 +95.0 ms +254.6 ms 205.0 ms 200 Its answer is complete" in shown
    assert "+90.0 ms Attempt 1 failed: Upstream: too many requests (429)" in shown


def test_a_released_call_says_that_the_upstream_refused_the_key(operator: Client) -> None:
    usage_id = make_call()
    release(usage_id, resolution="upstream_401")
    marks = [mark for mark in MARKS if mark[0] != "first_byte"]
    failed = attempt(small(), first_byte=None, status=401, cause="upstream_401")
    trace_of(usage_id, marks=marks, attempts=[failed], status=503, outcome="released", cause="upstream_401")
    shown = call_page(operator, usage_id)
    assert "Not charged. The model provider did not give this gateway access to the model." in shown
    assert "Charge $0.00 Upstream: the gateway's key was refused (401)" in shown
    assert "+303.0 ms The ledger released the hold: Upstream: the gateway's key was refused (401)" in shown
    assert "Nothing was charged." in shown
    assert "No money was moved." in shown
    listed = text_of(operator, address("billing_call_changelist"))
    assert "Released Upstream: the gateway's key was refused (401)" in listed


def test_a_call_in_review_shows_what_is_known_and_its_two_actions(operator: Client) -> None:
    usage_id = make_call(hold_microusd=50_000)
    assert review(usage_id, "timed out", evidence={"output_tokens": 3, "charge_microusd": 2})
    trace_of(usage_id, outcome="review", cause="timeout_first_byte", status=504)
    answer = operator.get(address("billing_call_change", usage_id)).content.decode()
    shown = call_page(operator, usage_id)
    assert "Waits for a decision" in shown
    assert "Why Upstream: no answer in time" in shown
    assert "Delivered output_tokens 3, charge_microusd 2" in shown
    for verb in ("charge", "release"):
        assert f'hx-get="{address("billing_call_changelist")}{usage_id}/{verb}/"' in answer
    assert "Nothing is charged yet." in shown
    assert "Seal none yet: the call is open" in shown


def test_a_call_without_a_trace_shows_what_the_ledger_knows(operator: Client) -> None:
    usage_id = make_call(hold_microusd=900)
    settle(usage_id, 30, quantities={"input_tokens": 200})
    shown = call_page(operator, usage_id)
    assert "No trace of the request was kept" in shown
    assert "+0.0 ms $0.0009 are held, and the call counts as sent" in shown
    assert "The ledger charged $0.00003" in shown
    assert "What it was computed from is not on record any more." in shown
    assert "Key (thumbprint) Not known" in shown
    assert "Sum $0.00003 Charge exact $0.00003" in shown
    assert "The cost at the upstream is not known." in shown


def test_the_cover_of_a_hold_is_its_credits_its_balance_and_its_budgets(operator: Client) -> None:
    top_up(("account", ALICE), 1_000_000)
    budgets.put(Subject(("account", ALICE)), limit_microusd=9_000_000)
    Budget.objects.update(created_at=timezone.now() - timedelta(days=1))
    lot = CreditLot.objects.get(source_key="welcome-alice")
    free = lot.remaining_microusd
    usage_id = make_call(hold_microusd=free + 7)
    shown = call_page(operator, usage_id)
    assert f"{lot.pk} , $0.000007 from the balance" in shown
    assert "Budgets account, $9.00 a month" in shown
    page = operator.get(address("billing_call_change", usage_id)).content.decode()
    assert f'href="{address("billing_budget_change", Budget.objects.get().pk)}"' in page


def test_a_sealed_call_names_its_seal(operator: Client) -> None:
    usage_id = make_call()
    settle(usage_id, 30, quantities={"input_tokens": 200})
    closed = Call.objects.get(pk=usage_id).closed_at
    assert closed is not None
    seals.seal_until(closed + timedelta(minutes=30))
    shown = call_page(operator, usage_id)
    assert "Seal number 1, chain " in shown
    assert "Seal 1 covers the call" in shown
    assert "the caller can fetch it: it is settled" in shown


def test_the_page_needs_the_right_to_see_calls() -> None:
    call = make_review()
    assert clerk("view_wallet").get(address("billing_call_change", call.pk)).status_code == 403
    assert clerk("view_call", name="reader").get(address("billing_call_change", call.pk)).status_code == 200


def test_a_refused_request_says_which_check_refused_it_and_what_helps(operator: Client) -> None:
    trace = refused(
        "budget_exceeded",
        account=ALICE,
        model="fast",
        product="studio",
        marks=[["authenticated", 400], ["received", 700], ["checked", 1_100]],
    )
    shown = text_of(operator, address("telemetry_requesttrace_change", trace.pk))
    assert "Error budget_exceeded , status 402" in shown
    assert "What the caller was told This request would exceed a budget." in shown
    assert "Refused by 12. Budgets" in shown
    assert "Remedy Wait for the budget's next period" in shown
    assert "11 The worst case is within the maximum cost Passed" in shown
    assert "12 Budgets Refused 13 Wallet and credits Not made" in shown
    assert "+2.5 ms The request was answered with status 402" in shown
    page = operator.get(address("telemetry_requesttrace_change", trace.pk)).content.decode()
    assert "/docs/errors#budget_exceeded" in page
    listed = text_of(operator, address("telemetry_requesttrace_changelist"))
    assert "Refused budget_exceeded 12. Budgets fast studio" in listed
