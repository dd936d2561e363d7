"""The console's report of margins: sums by model, product, upstream and day, the same as CSV, and the alarm."""

import csv
import io
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from asgiref.sync import async_to_sync
from django.test import Client

from billing.models import CostVersion, ModelMargin, UsageRecord
from billing.operations import usage_days
from inference.models import Alias, RawModel
from inference.queries.rows import deployment_id
from tests.factories.billing import Purse, settle, used_for
from tests.gateway.operators import address, clerk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

EVIL = "=HYPERLINK(1)"


def sell(charge: int, cost: int | None, deployment: str | None, **fields: Any) -> None:
    """Settle a call with this charge and cost."""
    known = {}
    if deployment is not None and cost is not None:
        version, _ = CostVersion.objects.get_or_create(deployment=deployment, defaults={"components": {"request": "1"}})
        known = {"cost_microusd": cost, "cost_version_id": version.pk}
    call = Purse().pay(100_000).call(10_000, **fields)
    settle(call, charge, quantities={**used_for(charge), **known}, deployment=deployment)


@pytest.fixture
def sold() -> str:
    """Calls of two upstreams and of none, with a cost and without; returns this month's name."""
    first, second = Alias.objects.get(name="fast").deployments.order_by("pk")
    other = Alias.objects.get(name="judgement-backend-b").deployments.get()
    sell(3000, 1000, deployment_id(first), product="studio")
    sell(2000, 2500, deployment_id(second))
    sell(900, None, deployment_id(other), model="judgement-backend-b")
    sell(80, 20, deployment_id(RawModel.objects.get()), model="vendor/large-2")
    sell(7, 1, "9999999", product=EVIL)
    sell(5, None, None, model="image")
    return f"{datetime.now(UTC):%Y-%m}"


async def whole(answer: Any) -> bytes:
    """Return the body of a streamed answer."""
    return b"".join([piece async for piece in answer.streaming_content])


def shown(client: Client, **query: str) -> list[list[str]]:
    """Return the rows of the report's table, without markup in the last."""
    rows = client.get(address("billing_marginday_changelist"), query).context["table"]["rows"]
    return [[str(cell).removeprefix("<strong>").removesuffix("</strong>") for cell in row] for row in rows]


TOTAL = ["Total", "6", "$0.005992", "$0.003521", "$0.001566", "30.8 %", "2", "$0.000905"]
BY = {
    "model": [
        ["fast", "3", "$0.005007", "$0.003501", "$0.001506", "30.1 %", "", ""],
        ["judgement-backend-b", "1", "$0.000900", "", "", "", "1", "$0.000900"],
        ["vendor/large-2", "1", "$0.000080", "$0.000020", "$0.000060", "75.0 %", "", ""],
        ["image", "1", "$0.000005", "", "", "", "1", "$0.000005"],
        TOTAL,
    ],
    "product": [
        ["studio", "1", "$0.003000", "$0.001000", "$0.002000", "66.7 %", "", ""],
        ["No product", "4", "$0.002985", "$0.002520", "-$0.000440", "-21.2 %", "2", "$0.000905"],
        [EVIL, "1", "$0.000007", "$0.000001", "$0.000006", "85.7 %", "", ""],
        TOTAL,
    ],
    "upstream": [
        ["primary", "3", "$0.005080", "$0.003520", "$0.001560", "30.7 %", "", ""],
        ["judge", "1", "$0.000900", "", "", "", "1", "$0.000900"],
        ["9999999", "1", "$0.000007", "$0.000001", "$0.000006", "85.7 %", "", ""],
        ["Not known", "1", "$0.000005", "", "", "", "1", "$0.000005"],
        TOTAL,
    ],
}


@pytest.mark.parametrize("is_added_up", [False, True], ids=["read one by one", "added up"])
@pytest.mark.parametrize("by", BY)
def test_the_sums_of_a_month(operator: Client, sold: str, by: str, is_added_up: bool) -> None:
    if is_added_up:
        usage_days.roll_up_until(datetime.now(UTC) + timedelta(seconds=1))
    assert shown(operator, by=by, month=sold) == BY[by]


def test_the_sums_of_a_day(operator: Client, sold: str) -> None:
    [day, total] = shown(operator, by="day")
    assert total == TOTAL
    assert day == [datetime.now(UTC).date().isoformat(), *TOTAL[1:]]


def test_the_report_as_a_file(operator: Client, sold: str) -> None:
    answer = operator.get(address("billing_marginday_export"), {"by": "product", "month": sold})
    assert answer["Content-Disposition"] == f'attachment; filename="margins-by-product-{sold}.csv"'
    header, *rows = csv.reader(io.StringIO(async_to_sync(whole)(answer).decode()))
    assert header == [
        *("product", "calls", "revenue_microusd", "cost_microusd", "margin_microusd"),
        *("calls_without_cost", "revenue_without_cost_microusd"),
    ]
    assert rows == [
        ["studio", "1", "3000", "1000", "2000", "0", "0"],
        ["No product", "4", "2985", "2520", "-440", "2", "905"],
        ["'" + EVIL, "1", "7", "1", "6", "0", "0"],
    ]


@pytest.mark.parametrize("name", ["billing_marginday_changelist", "billing_marginday_export"])
def test_the_report_needs_its_right_and_takes_no_other_filter(operator: Client, name: str) -> None:
    assert clerk("view_call", "view_usagerecord").get(address(name)).status_code == 403
    assert clerk("view_marginday", name="controller").get(address(name)).status_code == 200
    for query in ({"month": "2026-13"}, {"month": "x" * 3000}, {"by": "owner"}, {"by": ""}, {"q": "a"}):
        assert operator.get(address(name), query).status_code == 200
    assert operator.get(address(name), {"charged_microusd__gte": "1"}).status_code == 400


def test_a_usage_record_has_its_cost(operator: Client, sold: str) -> None:
    record = UsageRecord.objects.get(cost_microusd=2500)
    page = operator.get(address("billing_usagerecord_change", record.pk)).content.decode()
    assert "$0.0025" in page
    assert "request 1" in page
    assert "$0.0025" in operator.get(address("billing_usagerecord_changelist")).content.decode()


def test_no_call_in_a_month(operator: Client) -> None:
    answer = operator.get(address("billing_marginday_changelist"))
    assert "No call closed in this month." in answer.content.decode()
    assert len(answer.context["months"]) <= 2


def test_a_model_that_is_sold_below_its_cost_is_on_the_overview_and_in_the_report(operator: Client) -> None:
    since = datetime(2026, 11, 2, 3, 4, tzinfo=UTC)
    overview = operator.get("/admin/").content.decode()
    assert "below its cost" not in overview
    ModelMargin.objects.create(model="dear", margins_microusd=[100, -2_000_000], negative_since=since)
    ModelMargin.objects.create(model="cheap", margins_microusd=[1])
    answer = operator.get(address("billing_marginday_changelist"))
    assert answer.context["negative"]["rows"] == [["dear", "2", "-$1.9999", "2026-11-02 03:04 UTC"]]
    overview = operator.get("/admin/").content.decode()
    assert "1 model is sold below its cost" in overview
    assert "dear" in overview
    assert "below its cost" not in clerk("view_call").get("/admin/").content.decode()
