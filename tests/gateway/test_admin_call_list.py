"""The list of calls: its filters, each by itself, the file of what they leave, and the list of refused requests."""

import csv
import io
from datetime import timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client
from django.utils import timezone

from billing.admin import call_export, call_filters
from billing.models import Call
from gateway.core.contract.ids import first_id_of_time, id_of_time
from gateway.core.telemetry.models import HourlyTraffic
from inference.models import Deployment
from tests.factories.billing import Purse, release, review, settle
from tests.gateway.console import ALICE, make_call
from tests.gateway.operators import address, clerk
from tests.gateway.traces import refused

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def listed(client: Client, **filters: str) -> set[str]:
    """Return the usage ids of the list with these filters."""
    answer = client.get(address("billing_call_changelist"), filters)
    assert answer.status_code == 200
    return {call.pk for call in answer.context["cl"].result_list}


def rows(client: Client, **filters: str) -> list[dict[str, str]]:
    """Return the rows of the CSV file with these filters."""
    answer: Any = client.get(address("billing_call_export"), filters)
    assert answer.status_code == 200
    return list(csv.DictReader(io.StringIO(async_to_sync(whole)(answer).decode(), newline="")))


async def whole(answer: Any) -> bytes:
    """Return the whole body of a streamed answer."""
    return b"".join([piece async for piece in answer.streaming_content])


def test_each_filter_leaves_its_calls(operator: Client) -> None:
    small = str(Deployment.objects.get(model="small-1").pk)
    plain, cut, waiting = make_call(), make_call(), make_call()
    settle(plain, 3, deployment=small, quantities={"input_tokens": 20})
    release(cut, resolution="upstream_401")
    review(waiting, "timed out")
    ours = (
        Purse("organization", "org_1").pay(1_000).call(100, model="image", product="studio", route="images.generations")
    )
    expected: dict[tuple[str, str], set[str]] = {
        ("model", "fast"): {plain, cut, waiting},
        ("model", "image"): {ours},
        ("upstream", "primary"): {plain},
        ("upstream", "nobody"): set(),
        ("product", "studio"): {ours},
        ("product", "-"): {plain, cut, waiting},
        ("route", "images.generations"): {ours},
        ("cause", "upstream_401"): {cut},
        ("cause", "timed out"): {waiting},
        ("state__exact", "review"): {waiting},
        ("organization", "org_1"): {ours},
        ("account", ALICE): {plain, cut, waiting, ours},
        ("account", "did:web:nobody"): set(),
        ("time", "hour"): {plain, cut, waiting, ours},
        ("q", plain): {plain},
    }
    for (name, value), found in expected.items():
        assert listed(operator, **{name: value}) == found, (name, value)
    assert listed(operator, model="fast", cause="upstream_401") == {cut}


def test_the_list_begins_a_week_ago_unless_it_says_otherwise(operator: Client) -> None:
    usage_id = make_call()
    settle(usage_id, 3, quantities={"input_tokens": 20})
    long_ago = timezone.now() - timedelta(days=8)
    old = id_of_time("use", int(long_ago.timestamp() * 1000))
    Purse("account", ALICE).call(100, usage_id=old, now=long_ago)
    settle(old, 3, quantities={"input_tokens": 20})
    assert listed(operator) == {usage_id}
    assert listed(operator, time="month") == listed(operator, time="any") == {usage_id, old}
    assert listed(operator, time="nonsense") == {usage_id}
    assert listed(operator, q=old) == {old}


def test_the_list_of_a_busy_gateway_begins_a_day_ago(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    usage_id, two_days_ago = make_call(), timezone.now() - timedelta(days=2)
    old = id_of_time("use", int(two_days_ago.timestamp() * 1000))
    Purse("account", ALICE).call(100, usage_id=old, now=two_days_ago)
    assert listed(operator) == {usage_id, old}
    monkeypatch.setattr(call_filters, "SCANNED_MAX", 0)
    assert listed(operator) == {usage_id}
    assert listed(operator, time="week") == {usage_id, old}


def test_an_open_call_is_listed_however_old_it_is(operator: Client) -> None:
    long_ago = timezone.now() - timedelta(days=80)
    old = id_of_time("use", int(long_ago.timestamp() * 1000))
    Purse("account", ALICE).call(100, usage_id=old, now=long_ago)
    assert listed(operator) == set()
    assert listed(operator, state__exact="dispatched") == {old}
    assert listed(operator, state__exact="dispatched", time="week") == set()


def test_ids_of_a_time_are_not_below_its_first() -> None:
    assert first_id_of_time("use", 1_000) <= id_of_time("use", 1_000) < first_id_of_time("use", 1_001)


def test_the_file_has_what_the_filters_leave(operator: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(call_export, "PAGE", 2)
    calls = [make_call(hold_microusd=1_000) for _ in range(5)]
    settle(calls[0], 3, quantities={"input_tokens": 20})
    for usage_id in calls[1:4]:
        release(usage_id, resolution="upstream_5xx")
    found = rows(operator, cause="upstream_5xx")
    assert [row["usage_id"] for row in found] == [*reversed(calls[1:4])]
    assert {row["cause_in_words"] for row in found} == {"Upstream: an error of its own (5xx)"}
    [settled] = rows(operator, state__exact="settled")
    assert (settled["charge_microusd"], settled["hold_microusd"], settled["input_tokens"]) == ("3", "1000", "20")
    assert (settled["owner"], settled["status"], settled["basis"]) == (ALICE, "settled", "upstream")
    assert [row["usage_id"] for row in rows(operator)] == [*reversed(calls)]
    monkeypatch.setattr(call_export, "ROWS_MAX", 3)
    assert len(rows(operator)) == 3


def test_the_file_needs_the_right_to_see_calls() -> None:
    make_call()
    assert clerk("view_wallet").get(address("billing_call_export")).status_code == 403
    assert clerk("view_call", name="reader").get(address("billing_call_export")).status_code == 200


def test_an_empty_list_says_what_to_do_next(operator: Client) -> None:
    page = operator.get(address("billing_call_changelist")).content.decode()
    assert "Choose a longer time" in page
    assert address("telemetry_requesttrace_changelist") in page


def test_refused_requests_are_listed_by_themselves(operator: Client) -> None:
    budget = refused("budget_exceeded", account=ALICE, model="fast")
    stranger = refused("invalid_token", status=401)
    settled = refused("", outcome="settled", status=200, usage_id=make_call())

    def found(**filters: str) -> set[int]:
        answer = operator.get(address("telemetry_requesttrace_changelist"), filters)
        return {trace.pk for trace in answer.context["cl"].result_list}

    assert found() == {budget.pk, stranger.pk}
    assert found(code="budget_exceeded") == found(account=ALICE) == found(model="fast") == {budget.pk}
    assert found(outcome="all") == {budget.pk, stranger.pk, settled.pk}
    assert found(outcome="settled") == {settled.pk}
    assert found(q="req_refused", code="invalid_token") == {stranger.pk}


def test_the_list_says_how_many_requests_are_missing(operator: Client) -> None:
    refused("rate_limited", status=429)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    traffic = {"route": "chat.completions", "requests": 500}
    HourlyTraffic.objects.create(hour=hour, outcome="refused", untraced=321, **traffic)
    HourlyTraffic.objects.create(hour=hour, outcome="settled", untraced=7, **traffic)
    page = operator.get(address("telemetry_requesttrace_changelist")).content.decode()
    assert "321 of the last 14 days are missing here:" in page
    assert Call.objects.count() == 0
