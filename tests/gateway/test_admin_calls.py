"""Calls in review, resolved by an operator: once, with a reason and a log entry."""

import re

import pytest
from django.contrib.admin.models import CHANGE
from django.test import Client

from accounts.models import Account
from billing.models import Call, CreditLot, Transfer, UsageRecord
from inference.models import Deployment, RawModel
from inference.queries.rows import RAW_PREFIX
from tests.factories.billing import settle
from tests.gateway.console import make_call, make_review
from tests.gateway.operators import address, clerk, logged

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def test_a_call_in_review_is_charged_once_with_a_reason(operator: Client) -> None:
    call = make_review()
    charge = f"{address('billing_call_changelist')}{call.pk}/charge/"
    assert b"at most $0.05, the amount held." in operator.get(charge).content

    answer = operator.post(charge, {"_form_submitted": "on", "amount": "0.0012", "reason": "seen in their log"})

    assert answer["HX-Redirect"] == address("billing_call_change", call.pk)
    call.refresh_from_db()
    assert (call.state, call.charge_microusd, call.resolution) == ("settled", 1200, "operator")
    assert UsageRecord.objects.values_list("charge_microusd", "basis").get() == (1200, "operator")
    assert logged() == [(CHANGE, "Charged $0.0012: seen in their log")]
    assert operator.post(charge, {"_form_submitted": "on", "amount": "0.000009", "reason": "again"}).status_code == 403
    assert Transfer.objects.filter(kind="charge").count() == 1


def test_a_call_that_is_come_to_from_the_list_can_be_resolved(operator: Client) -> None:
    call = make_review()
    listed = operator.get(address("billing_call_changelist"), {"state__exact": "review"}).content.decode()
    [link] = set(re.findall(r'href="(/admin/billing/call/use[^"/]+/change/)[^"]*"', listed))
    page = operator.get(link).content.decode()
    for verb in ("charge", "release"):
        assert f'hx-get="{address("billing_call_changelist")}{call.pk}/{verb}/"' in page


def test_a_calls_deployment_is_named_by_upstream_and_model(operator: Client) -> None:
    raw, small = RawModel.objects.get(), Deployment.objects.get(model="small-1")
    shown = {str(small.pk): "primary/small-1", f"{RAW_PREFIX}{raw.pk}": "primary/vendor/large-2", "999999": "999999"}
    for deployment, name in shown.items():
        call = make_review()
        Call.objects.filter(pk=call.pk).update(deployment=deployment)
        assert name in operator.get(address("billing_call_change", call.pk)).content.decode()


def test_a_call_in_review_is_released_with_a_reason(operator: Client) -> None:
    call = make_review()
    release = f"{address('billing_call_changelist')}{call.pk}/release/"
    operator.post(release, {"_form_submitted": "on", "reason": "never arrived"})
    call.refresh_from_db()
    assert (call.state, call.charge_microusd, call.resolution) == ("released", None, "operator")
    assert CreditLot.objects.get(source_key="welcome-alice").held_microusd == 0
    assert logged() == [(CHANGE, "Released: never arrived")]


@pytest.mark.parametrize(
    "sent",
    [
        {"amount": "0.050001", "reason": "too much"},
        {"amount": "-0.000001", "reason": "negative"},
        {"amount": "0.0000015", "reason": "a fraction"},
        {"amount": "0.0012", "reason": ""},
        {"amount": "0.0012", "reason": "seen \u2066there"},
        {"amount": "", "reason": "nothing"},
    ],
)
def test_a_charge_within_the_hold_and_a_reason_are_required(operator: Client, sent: dict[str, str]) -> None:
    call = make_review()
    answer = operator.post(f"{address('billing_call_changelist')}{call.pk}/charge/", {"_form_submitted": "on", **sent})
    assert "HX-Redirect" not in answer
    assert Call.objects.get(pk=call.pk).state == "review"
    assert logged() == []


def test_only_a_call_in_review_can_be_resolved(operator: Client) -> None:
    usage_id = make_call()
    page = operator.get(address("billing_call_change", usage_id)).content
    assert b"Charge this call" not in page
    for verb in ("charge", "release"):
        answer = operator.post(
            f"{address('billing_call_changelist')}{usage_id}/{verb}/",
            {"_form_submitted": "on", "amount": "0.000001", "reason": "r"},
        )
        assert answer.status_code == 403
    assert Call.objects.get(pk=usage_id).state == "dispatched"


def test_reading_the_page_of_an_action_changes_nothing(operator: Client) -> None:
    call = make_review()
    for verb in ("charge", "release"):
        operator.get(f"{address('billing_call_changelist')}{call.pk}/{verb}/?reason=r&amount=0.000001")
    assert Call.objects.get(pk=call.pk).state == "review"


def test_an_operator_without_the_right_resolves_nothing() -> None:
    call = make_review()
    client = clerk("view_call")
    assert client.get(address("billing_call_change", call.pk)).status_code == 200
    release = f"{address('billing_call_changelist')}{call.pk}/release/"
    assert client.post(release, {"_form_submitted": "on", "reason": "r"}).status_code == 403
    assert Call.objects.get(pk=call.pk).state == "review"


def test_a_page_without_its_csrf_token_does_nothing() -> None:
    operator = Account.objects.create_superuser("did:web:localhost:operator", None, "x")
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    call = make_review()
    release = f"{address('billing_call_changelist')}{call.pk}/release/"
    assert client.post(release, {"_form_submitted": "on", "reason": "r"}).status_code == 403
    assert Call.objects.get(pk=call.pk).state == "review"


def shown(operator: Client, page: str, label: str) -> str:
    """Return the text that a page shows beside a label."""
    text = re.sub(r"<[^>]+>", "\n", operator.get(page).content.decode())
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[lines.index(label) + 1]


def test_the_credits_of_a_call_are_what_was_charged_and_not_what_was_held(operator: Client) -> None:
    usage_id, lot = make_call(hold_microusd=50_000), CreditLot.objects.get(source_key="welcome-alice")
    page = address("billing_call_change", usage_id)
    assert shown(operator, page, "Paid from credits") == f"$0.05 of {lot.pk} held"
    settle(usage_id, 321, quantities={"input_tokens": 7})
    assert shown(operator, page, "Paid from credits") == f"$0.000321 of {lot.pk}"
    assert "output_token 0.60" in shown(operator, page, "Price in USD per million").split(", ")

    released = make_review()
    operator.post(
        f"{address('billing_call_changelist')}{released.pk}/release/", {"_form_submitted": "on", "reason": "no"}
    )
    assert shown(operator, address("billing_call_change", released.pk), "Paid from credits") == "none"


def test_usage_shows_the_model_in_the_list_and_on_its_page(operator: Client) -> None:
    usage_id = make_call()
    settle(usage_id, 321, quantities={"input_tokens": 7})
    assert shown(operator, address("billing_usagerecord_change", usage_id), "Model") == "fast"
    listed = operator.get(address("billing_usagerecord_changelist")).content.decode()
    assert re.search(r">\s*fast\s*<", listed)


def test_usage_is_found_by_whose_count_it_is(operator: Client) -> None:
    reported, delivered = make_call(), make_call()
    settle(reported, 20)
    settle(delivered, 10, basis="delivered", resolution="client_left")

    def found(basis: str) -> set[str]:
        listed = operator.get(address("billing_usagerecord_changelist"), {"basis": basis}).content.decode()
        return {usage_id for usage_id in (reported, delivered) if usage_id in listed}

    assert (found("upstream"), found("delivered"), found("operator")) == ({reported}, {delivered}, set())
