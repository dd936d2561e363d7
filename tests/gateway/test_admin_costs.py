"""What upstreams charge, on the console's pages of aliases and raw models: dated as by the file."""

import json
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing.models import CostVersion
from inference.models import Alias, Deployment, RawModel
from inference.queries.rows import deployment_id
from tests.gateway.operators import address, clerk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

COST = {"input_token": "0.10", "output_token": "0.40", "service_tiers": {"flex": {"input_token": "0.05"}}}


def alias_form(alias: Alias, *costs: Any) -> dict[str, str]:
    """Return the form of an alias with these costs of its deployments, each a text or what JSON can state."""
    rows = list(alias.deployments.order_by("pk"))
    form = {
        "deployments-TOTAL_FORMS": str(len(rows)),
        "deployments-INITIAL_FORMS": str(len(rows)),
        "deployments-MIN_NUM_FORMS": "0",
        "deployments-MAX_NUM_FORMS": "1000",
        "name": alias.name,
        "enabled": "on",
        "max_output_tokens": "4096",
    }
    for number, (row, cost) in enumerate(zip(rows, costs, strict=True)):
        members = {
            "id": row.pk,
            "alias": alias.pk,
            "upstream": row.upstream_id,
            "model": row.model,
            "enabled": "on",
            "priority": row.priority,
            "weight": row.weight,
            "cost": cost if isinstance(cost, str) else json.dumps(cost),
        }
        form |= {f"deployments-{number}-{name}": str(value) for name, value in members.items()}
    return form


def raw_form(raw: RawModel, cost: Any) -> dict[str, Any]:
    text = cost if isinstance(cost, str) else json.dumps(cost)
    return {"model": raw.model, "upstream": raw.upstream_id, "enabled": "on", "cost": text}


def costs_of(row: Deployment | RawModel) -> list[Any]:
    found = CostVersion.objects.filter(deployment=deployment_id(row)).order_by("effective_at", "pk")
    return list(found.values_list("components", flat=True))


def test_a_cost_of_a_deployment_is_published_and_shown(operator: Client) -> None:
    alias = Alias.objects.get(name="fast")
    first, second = alias.deployments.order_by("pk")
    page = address("inference_alias_change", alias.pk)
    for _ in range(2):
        assert operator.post(page, alias_form(alias, COST, "")).status_code == 303
        assert (costs_of(first), costs_of(second)) == ([COST], [])
    shown = operator.get(page).content.decode()
    assert (
        "{&quot;input_token&quot;: &quot;0.10&quot;, &quot;output_token&quot;: &quot;0.40&quot;, &quot;service" in shown
    )
    assert operator.post(page, alias_form(alias, "", {"request": "5"})).status_code == 303
    assert (costs_of(first), costs_of(second)) == ([COST, {}], [{"request": "5"}])


def test_a_cost_of_a_raw_model_is_published_and_shown(operator: Client) -> None:
    raw = RawModel.objects.get()
    page = address("inference_rawmodel_change", raw.pk)
    for _ in range(2):
        assert operator.post(page, raw_form(raw, COST)).status_code == 303
        assert costs_of(raw) == [COST]
    assert "&quot;flex&quot;" in operator.get(page).content.decode()
    assert operator.post(page, raw_form(raw, "")).status_code == 303
    assert costs_of(raw) == [COST, {}]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "Enter a valid JSON."),
        ("[1]", "This must be a JSON object."),
        ('{"input_tokens": "1"}', "input_tokens is not a price component."),
        ('{"input_token": 0.1}', "input_token must be a price in micro-USD"),
        ('{"input_token": "-1"}', "input_token must be a price in micro-USD"),
        ('{"bands": [{"input_token": "1"}]}', "bands[0].above_input_tokens must be a whole number"),
        ('{"service_tiers": {"default": {"input_token": "1"}}}', "service tier default cannot be priced"),
        ("9" * 5000, "Enter a valid JSON."),
        ("[" * 5000, "Enter a valid JSON."),
    ],
)
def test_a_cost_that_cannot_be_read_is_refused_by_name(operator: Client, text: str, words: str) -> None:
    alias, raw = Alias.objects.get(name="fast"), RawModel.objects.get()
    for page, form in (
        (address("inference_alias_change", alias.pk), alias_form(alias, text, "")),
        (address("inference_rawmodel_change", raw.pk), raw_form(raw, text)),
    ):
        answer = operator.post(page, form)
        assert answer.status_code == 200
        assert words in answer.content.decode().replace("&quot;", '"')
    assert not CostVersion.objects.exists()


def test_operators_who_may_only_look_see_the_costs() -> None:
    alias, raw = Alias.objects.get(name="fast"), RawModel.objects.get()
    for row in (alias.deployments.order_by("pk")[0], raw):
        CostVersion.objects.create(deployment=deployment_id(row), components=COST)
    curious = clerk("view_alias", "view_deployment", "view_rawmodel", "view_upstream", "view_integration")
    for page in (address("inference_alias_change", alias.pk), address("inference_rawmodel_change", raw.pk)):
        assert "input_token 0.10, output_token 0.40" in curious.get(page).content.decode()
    assert curious.post(address("inference_rawmodel_change", raw.pk), raw_form(raw, "")).status_code == 403
    assert costs_of(raw) == [COST]


def test_more_deployments_take_no_more_queries(operator: Client) -> None:
    alias = Alias.objects.get(name="fast")
    page, upstream = address("inference_alias_change", alias.pk), alias.deployments.all()[0].upstream
    operator.get(page)
    with CaptureQueriesContext(connection) as before:
        operator.get(page)
    for number in range(3):
        row = Deployment.objects.create(alias=alias, upstream=upstream, model=f"more-{number}")
        CostVersion.objects.create(deployment=deployment_id(row), components=COST)
    with CaptureQueriesContext(connection) as after:
        operator.get(page)
    of_costs = [len([each for each in found if "billing_cost_version" in each["sql"]]) for found in (before, after)]
    assert of_costs == [1, 1]
