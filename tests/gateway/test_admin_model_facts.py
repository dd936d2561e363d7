"""What a model's page shows beside its form: how its deployments do, all its prices and who set them, margin and limits."""

from datetime import timedelta
from html import unescape

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import Limit, MarginDay
from gateway.core.telemetry.models import HourlyTraffic, RequestTrace
from gateway.core.telemetry.rules.buckets import bucket_of, empty
from inference.models import Alias, Trial
from inference.queries import model_health
from inference.queries.rows import deployment_id
from tests.gateway.operators import address, clerk, publish_price

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

RESULT = {"outcome": "refused", "status": 401, "milliseconds": 81}


def page_of(name: str) -> str:
    return address("inference_alias_change", Alias.objects.get(name=name).pk)


def traffic(outcome: str, requests: int, *, hours_ago: int = 0, cause: str = "") -> None:
    durations = empty()
    durations[bucket_of(150_000)] = requests
    now = timezone.now().replace(minute=0, second=0, microsecond=0)
    HourlyTraffic.objects.create(
        hour=now - timedelta(hours=hours_ago),
        route="chat.completions",
        model="fast",
        upstream="primary",
        outcome=outcome,
        cause=cause,
        requests=requests,
        duration_buckets=durations,
        first_byte_buckets=durations,
    )


def test_health_is_that_of_telemetry_and_of_the_last_trial(operator: Client) -> None:
    assert "trial: never" in operator.get(page_of("fast")).content.decode()
    traffic("settled", 6)
    traffic("failed", 2, cause="upstream_5xx")
    traffic("refused", 50, cause="insufficient_funds")
    traffic("settled", 1000, hours_ago=30)
    now = timezone.now()
    RequestTrace.objects.create(
        request_id="req_1",
        began_at=now,
        model="fast",
        upstream="primary",
        outcome="failed",
        cause="upstream_5xx",
        duration_microseconds=1,
        overhead_microseconds=1,
    )
    row = Alias.objects.get(name="fast").deployments.order_by("priority")[0]
    Trial.objects.create(
        id="tri_1",
        deployment=deployment_id(row),
        route="chat.completions",
        key="current",
        operator="x",
        began_at=now,
        result=RESULT,
    )
    health = model_health.by_upstream("fast", ["primary"], now)["primary"]
    assert (health.calls, health.errors, health.last_cause) == (8, 2, "upstream_5xx")
    assert 100 <= (health.median_milliseconds or 0) <= 200
    shown = unescape(operator.get(page_of("fast")).content.decode())
    assert "8, 25.0 % of them errors" in shown
    assert "upstream_5xx" in shown
    assert "refused with 401 after 81 ms" in shown


def test_every_price_is_shown_with_who_set_it(operator: Client) -> None:
    assert publish_price(operator, {"alias": "fast", "input_token": "0.2", "output_token": "0.8"}).status_code == 303
    shown = unescape(operator.get(page_of("fast")).content.decode())
    first, second = shown.rindex("input_token 0.2, output_token 0.8"), shown.rindex("cached_input_token 0.075")
    assert first < second  # newest first
    assert shown.index("did:web:localhost:operator", first) < second


def test_margin_and_limits_need_their_own_rights(operator: Client) -> None:
    row = Alias.objects.get(name="fast").deployments.order_by("priority")[0]
    MarginDay.objects.create(
        closed_on=timezone.now().date(),
        model="fast",
        deployment=deployment_id(row),
        calls=4,
        charged_microusd=1_000_000,
        cost_microusd=250_000,
        uncosted_calls=0,
        uncosted_charged_microusd=0,
    )
    Limit.objects.create(scope="alias", subject="fast", requests_per_minute=77)
    shown = operator.get(page_of("fast")).content.decode()
    for words in ("primary/small-1", "$1.00", "$0.25", "$0.75", "75.0 %", "77"):
        assert words in shown, words
    viewer = clerk("view_alias").get(page_of("fast")).content.decode()
    assert "$0.75" not in viewer
    assert "Rate limits" not in viewer
    assert "trial: never" in viewer


def test_an_empty_model_says_what_to_do(operator: Client) -> None:
    Alias.objects.create(name="new")
    shown = operator.get(page_of("new")).content.decode()
    for words in (
        "There is no deployment yet. Add one below, then try it.",
        "There is no price yet, so nobody can call this model.",
        "No call of the last 30 days is summed up yet.",
    ):
        assert words in shown
