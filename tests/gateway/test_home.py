"""The console's home page: what needs a person, exact figures, for whom, and with how many queries."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from accounts.models import SigningKey
from billing.models import ActiveAccount, ActiveDay, Call, MarginDay, ModelMargin, ProviderEvent
from billing.operations import usage_days
from gateway.core.console import needs
from gateway.core.console.home import Breakdown, Figure
from gateway.core.console.moments import elapsed
from gateway.core.jobs.models import JobRun
from gateway.core.telemetry.models import HourlyTraffic
from gateway.core.telemetry.operations import traffic_days
from gateway.core.telemetry.rules.buckets import bucket_of, empty
from gateway.navigation import GROUPS
from inference.models import Alias, DeploymentTrouble, Upstream
from inference.operations import upstream_keys
from inference.queries.rows import deployment_id
from tests.factories.billing import Purse, settle, used_for
from tests.gateway.operators import address, clerk

pytestmark = pytest.mark.django_db

QUERIES_MAX = 10


def sell(charge: int, **fields: Any) -> str:
    """Settle a call with this charge; return its usage id."""
    call = Purse().pay(10_000_000).call(charge, **fields)
    settle(call, charge, quantities=used_for(charge))
    return call


def move(usage_id: str, days: int) -> None:
    """Make a call close some days earlier, as if it had happened then."""
    at = timezone.now() - timedelta(days=days)
    with connection.cursor() as cursor:
        cursor.execute("SET LOCAL session_replication_role = replica")
        Call.objects.filter(pk=usage_id).update(created_at=at, dispatched_at=at, closed_at=at)
        cursor.execute("UPDATE billing_transfer SET created_at = %s WHERE source = %s", [at, usage_id])
        cursor.execute("SET LOCAL session_replication_role = DEFAULT")


def figures(client: Client) -> dict[str, Figure]:
    return {figure.title: figure for figure in client.get("/admin/").context["parts"].figures}


def breakdowns(client: Client) -> dict[str, list[tuple[str, str]]]:
    found: list[Breakdown] = client.get("/admin/").context["parts"].breakdowns
    return {each.title: [(point.name, point.text) for point in each.points] for each in found}


def waiting(client: Client) -> dict[str, str]:
    """Return the lines of what needs a person, and where each leads."""
    return {line.text: line.link for line in client.get("/admin/").context["waiting"]}


def test_a_fresh_gateway_says_what_to_do_first(operator: Client) -> None:
    page = operator.get("/admin/")
    text = page.content.decode()
    assert {line.need.key: line.link for line in page.context["setup"]} == {
        "inference.no_upstream": address("inference_upstream_add"),
        "inference.no_model": address("inference_alias_add"),
        "inference.no_price": address("billing_priceversion_add"),
        "accounts.no_product": address("accounts_product_add"),
    }
    assert "Nothing waits. All is well." in text
    assert "No call has closed yet." in text
    assert "No request failed." in text


@pytest.mark.usefixtures("configured")
def test_a_configured_gateway_lacks_nothing(operator: Client) -> None:
    assert operator.get("/admin/").context["setup"] == []


@pytest.mark.parametrize("is_added_up", [False, True], ids=["read one by one", "added up"])
def test_the_figures_of_two_periods(operator: Client, is_added_up: bool) -> None:
    mine = {"did": "did:web:studio.example:one", "product": "studio"}
    sell(3_000_000, **mine)
    sell(1_500_000, **{**mine, "did": "did:web:studio.example:two"})
    move(sell(500_000, **mine), 1)
    move(sell(250_000), 29)
    move(sell(4_000_000, **mine), 30)
    move(sell(1_000_000, did="did:web:studio.example:three"), 59)
    move(sell(9_000_000), 60)
    if is_added_up:
        usage_days.roll_up_until(timezone.now() + timedelta(seconds=1))
    found = figures(operator)
    shown = {
        title: (each.today, each.yesterday, each.period, each.before, each.change) for title, each in found.items()
    }
    assert shown["Revenue"] == ("$4.50", "$0.50", "$5.25", "$5.00", "+5.0 %")
    assert shown["Calls"] == ("2", "1", "4", "2", "+100 %")
    assert [point.value for point in found["Revenue"].points] == [250_000, *[0] * 27, 500_000, 4_500_000]
    assert breakdowns(operator)["Revenue by product"] == [("studio", "$5.00"), ("No product", "$0.25")]
    accounts = found["Active accounts"]
    assert (accounts.today, accounts.yesterday, accounts.period) == ("2", "1", "3")
    assert accounts.before == ("2" if is_added_up else "–")  # noqa: RUF001


def test_accounts_count_once_on_a_day_and_in_thirty() -> None:
    names = [f"did:web:studio.example:{number}" for number in range(3)]
    for days, who in ((40, 0), (40, 0), (40, 1), (35, 1), (5, 1), (5, 2), (0, 1)):
        move(sell(1000, did=names[who]), days)
    now = timezone.now()
    usage_days.roll_up_until(now - timedelta(days=5) + timedelta(seconds=1))  # a run that ends within a day
    usage_days.roll_up_until(now + timedelta(seconds=1))
    rows = {(now.date() - row.day).days: row for row in ActiveDay.objects.all()}
    assert {age: row.accounts for age, row in rows.items() if row.accounts} == {40: 2, 35: 1, 5: 2, 0: 1}
    assert [rows[age].month_accounts for age in (40, 35, 12, 11, 10, 6, 5, 0)] == [2, 2, 2, 2, 1, 1, 2, 2]
    assert dict(ActiveAccount.objects.values_list("actor_did", "last_on")) == {
        names[0]: now.date() - timedelta(days=40),
        names[1]: now.date(),
        names[2]: now.date() - timedelta(days=5),
    }
    before = list(ActiveDay.objects.order_by("day").values())
    usage_days.rebuild(margin=timedelta(0))
    assert list(ActiveDay.objects.order_by("day").values())[: len(before)] == before


def test_the_greatest_eight_and_the_others(operator: Client) -> None:
    day = timezone.now().date()
    for number in range(10):
        sums = {"calls": 1, "cost_microusd": 0, "uncosted_calls": 0, "uncosted_charged_microusd": 0}
        MarginDay.objects.create(closed_on=day, model=f"m{number}", charged_microusd=(10 - number) * 1_000_000, **sums)
    rows = breakdowns(operator)["Revenue by model"]
    assert rows == [*((f"m{number}", f"${10 - number}.00") for number in range(8)), ("Others", "$3.00")]


def test_a_job_that_is_late_makes_the_page_incomplete_and_not_slow(
    operator: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    from billing.queries import money_days

    monkeypatch.setattr(money_days, "NEWER_MAX", 2)
    for _ in range(3):
        sell(1_000_000)
    revenue = figures(operator)["Revenue"]
    assert (revenue.today, revenue.note) == (
        "$2.00",
        "Not all of the newest calls are counted: the job that adds them up is late.",
    )


@pytest.mark.parametrize("is_added_up", [False, True], ids=["hours", "added up"])
def test_errors_and_latencies_come_from_the_sums_of_hours(operator: Client, is_added_up: bool) -> None:
    now = timezone.now()
    hour = now.replace(minute=0, second=0, microsecond=0)
    buckets = empty()
    buckets[bucket_of(40_000)] = 90
    slow = empty()
    slow[bucket_of(1_500_000)] = 10
    traffic(hour, 90, duration_buckets=buckets, first_byte_buckets=buckets)
    traffic(hour, 8, outcome="released", cause="upstream_401", duration_buckets=slow)
    traffic(hour, 2, outcome="settled", cause="client_left")
    traffic(hour, 500, outcome="refused", cause="insufficient_funds", upstream="")
    traffic(hour - timedelta(days=35), 100)
    traffic(hour - timedelta(days=35), 100, outcome="released", cause="timeout_connect")
    if is_added_up:
        assert traffic_days.roll_up(now=now) in (34, 35)  # yesterday counts an hour after midnight
        assert traffic_days.roll_up(now=now) == 0
        HourlyTraffic.objects.filter(hour__lt=now - timedelta(days=3)).delete()
    page = operator.get("/admin/")
    rate = figures(operator)["Error rate"]
    assert (rate.today, rate.period, rate.before) == ("8.00 %", "8.00 %", "50.00 %")
    assert (rate.change, rate.is_good, rate.note) == ("-42.00 points", True, "8 of 100 requests failed.")
    failures, latency = page.context["parts"].listings
    assert failures.rows == [["fast", "primary", "upstream_401", "8"]]
    assert [row[:3] for row in latency.rows] == [["primary", "100", "8.00 %"]]
    assert latency.rows[0][3:] == ["37 ms", "1.5 s", "35 ms", "48 ms"]


def traffic(hour: datetime, requests: int, **fields: Any) -> None:
    known = {"route": "chat.completions", "model": "fast", "upstream": "primary", "outcome": "settled"}
    HourlyTraffic.objects.create(hour=hour, requests=requests, **{**known, **fields})


@pytest.mark.usefixtures("furnished")
def test_everything_that_waits_is_a_line_and_a_badge(operator: Client) -> None:
    now = timezone.now()
    deployment = Alias.objects.get(name="fast").deployments.order_by("pk").first()
    assert deployment is not None
    DeploymentTrouble.objects.create(
        deployment=deployment_id(deployment), cause="it answered 500", failures=1, since=now, last_at=now
    )
    ModelMargin.objects.create(model="costly", margins_microusd=[-1], negative_since=now)
    Alias.objects.create(name="unfinished")
    ProviderEvent.objects.update(received_at=now - timedelta(hours=1))
    SigningKey.objects.filter(state="active").update(activated_at=now - timedelta(days=40))
    JobRun.objects.create(job="billing.tasks.reap", started_at=now, ended_at=now, outcome="failed", error="Boom: no")
    for findings, minutes in ((0, 30), (2, 20), (2, 10)):
        at = now - timedelta(minutes=minutes)
        counts = {"findings": findings} if findings else {}
        JobRun.objects.create(
            job="billing.tasks.audit_ledger", started_at=at, ended_at=at, outcome="done", counts=counts
        )
    found = waiting(operator)
    assert "Job that does not run: Find abandoned calls" in found
    expected = {
        "2 findings of the ledger's audit": "/admin/jobs/jobrun/?job=billing.tasks.audit_ledger",
        "1 payment differs from the provider's balance": "/admin/billing/paymentdifference/?state=open",
        "1 call waits for a decision": "/admin/billing/call/?state__exact=review",
        "1 payment in review": "/admin/billing/checkout/?status__exact=review",
        "2 automatic charges in review": "/admin/billing/autotopupcharge/?status__exact=review",
        "1 webhook of the payment provider was not handled": "/admin/billing/providerevent/?handled_at__isempty=1",
        "1 invoice is past due": "/admin/billing/invoice/?status__exact=past_due",
        "1 model is sold below its cost": "/admin/billing/marginday/",
        "1 signing key is old": "/admin/accounts/signingkey/",
        "2 proposed prices wait for a decision": "/admin/inference/priceproposal/?state__exact=waiting",
        "Upstream primary fails for fast": address("inference_upstream_change", deployment.upstream_id),
    }
    assert {text: found.get(text) for text in expected} == expected
    page = operator.get("/admin/")
    lines = page.context["waiting"]
    assert [line.need.is_urgent for line in lines] == sorted((line.need.is_urgent for line in lines), reverse=True)
    [audit] = [line for line in lines if line.need.key == "billing.audit"]
    assert audit.found.since == now - timedelta(minutes=20)
    assert audit.elapsed.endswith("\xa0minutes")
    badged = {line.need.badge or line.need.key for line in lines}
    assert badged <= {row.badge for rows in GROUPS.values() for row in rows}
    for link in found.values():
        assert operator.get(link).status_code == 200, link


@pytest.mark.parametrize(
    ("is_enabled", "has_key", "age_days"), [(False, True, 366), (True, False, 366), (True, True, 364)]
)
def test_an_old_key_counts_while_it_is_in_use(operator: Client, is_enabled: bool, has_key: bool, age_days: int) -> None:
    set_at = timezone.now() - timedelta(days=age_days)
    key = "sk-old" if has_key else ""
    Upstream.objects.create(name="aged", adapter="demo", api_key=key, api_key_set_at=set_at, enabled=is_enabled)
    assert "Old upstream key: aged" not in waiting(operator)


def test_an_old_key_waits_until_it_is_replaced(operator: Client, settings: Any) -> None:
    now = timezone.now()
    rows = [
        Upstream.objects.create(name=name, adapter="demo", api_key="sk", api_key_set_at=now - timedelta(days=days))
        for name, days in (("older", 500), ("old", 366), ("new", 100))
    ]
    Upstream.objects.create(name="undated", adapter="demo", api_key="sk")
    old = {f"Old upstream key: {row.name}": address("inference_upstream_change", row.pk) for row in rows}
    del old["Old upstream key: new"]
    assert {text: link for text, link in waiting(operator).items() if "key" in text} == old
    [first, _] = [line for line in operator.get("/admin/").context["waiting"] if line.need.key == "inference.old_keys"]
    assert first.found.number == 2
    assert first.found.since == now - timedelta(days=500)
    settings.UPSTREAM_KEY_DAYS = 400
    upstream_keys.add_next(rows[0].pk, "sk-next")
    assert len([text for text in waiting(operator) if "key" in text]) == 1
    upstream_keys.switch(rows[0].pk, now=now)
    assert [text for text in waiting(operator) if "key" in text] == []


def test_what_has_just_begun_lasts_for_less_than_a_minute() -> None:
    now = timezone.now()
    spoken = {0: "less than a minute", 59: "less than a minute", 60: "1\xa0minute", 7320: "2\xa0hours, 2\xa0minutes"}
    assert {ago: elapsed(now - timedelta(seconds=ago), now) for ago in spoken} == spoken


@pytest.mark.usefixtures("furnished")
def test_an_operator_sees_what_they_may_view() -> None:
    account = clerk("view_checkout")
    page = account.get("/admin/")
    assert list(waiting(account)) == ["1 payment in review"]
    assert (page.context["setup"], page.context["parts"].figures, page.context["parts"].cards) == ([], [], [])
    cards = clerk("view_call", name="support").get("/admin/").context["parts"].cards
    assert [(card.title, card.amount, card.note.split(",")[0]) for card in cards] == [
        ("Held by open calls", "$0.10", "2 open"),
        ("In review", "$0.05", "1 waiting"),
    ]
    seen = figures(clerk("view_marginday", name="controller"))
    assert list(seen) == ["Revenue", "Cost", "Margin", "Calls", "Active accounts"]
    assert waiting(clerk(name="nobody")) == {}


@pytest.mark.usefixtures("furnished", "untracked")
def test_the_page_takes_few_queries(operator: Client) -> None:
    operator.get("/admin/")
    with CaptureQueriesContext(connection) as queries:
        assert operator.get("/admin/").status_code == 200
    assert len(queries) <= QUERIES_MAX, "\n".join(query["sql"][:120] for query in queries)


def test_every_need_names_pages_that_exist_and_a_right_that_exists() -> None:
    from django.contrib.auth.models import Permission

    rights = {f"{app}.{name}" for app, name in Permission.objects.values_list("content_type__app_label", "codename")}
    for need in needs._needs.values():
        assert need.right in rights, need.key
        assert address(need.page)
        assert need.sql or need.find
