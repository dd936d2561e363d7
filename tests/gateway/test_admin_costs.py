"""What upstreams charge, on the console's pages of aliases and raw models: dated as by the file."""

import re
from collections.abc import Mapping
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.core.exceptions import NON_FIELD_ERRORS
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from billing.models import CostVersion
from billing.rules.prices import COMPONENTS
from inference.models import Alias, Deployment, RawModel
from inference.queries.rows import deployment_id
from tests.gateway.operators import address, clerk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

COST = {"input_token": "0.10", "output_token": "0.40", "service_tiers": {"flex": {"input_token": "0.05"}}}
SHOWN = {"input_token": "0.10", "output_token": "0.40", "service_tiers": "flex input_token 0.05"}
"""The same as an operator enters it."""

EVERYTHING = {
    **{name: f"{number}.000001" for number, name in enumerate(COMPONENTS)},
    "image": {"1024x1024/high": "167000", "auto/low": "0"},
    "bands": [
        {"above_input_tokens": 200_000, "input_token": "5", "output_token": "22.5"},
        {"above_input_tokens": 400_000, "cached_input_token": "1"},
    ],
    "service_tiers": {
        "flex": {"input_token": "1.25", "bands": [{"above_input_tokens": 200_000, "input_token": "2.5"}]},
        "priority": {"bands": [{"above_input_tokens": 100_000, "output_token": "60"}]},
    },
}
"""A cost of everything that a configuration file can state."""


def alias_form(alias: Alias, *costs: Mapping[str, str]) -> dict[str, str]:
    """Return the form of an alias with these costs of its deployments, each as an operator enters it."""
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
            **inputs(cost),
        }
        form |= {f"deployments-{number}-{name}": str(value) for name, value in members.items()}
    return form


def inputs(cost: Mapping[str, str]) -> dict[str, str]:
    return {f"cost_{name}": text for name, text in cost.items()}


def raw_form(raw: RawModel, cost: Mapping[str, str]) -> dict[str, Any]:
    return {"model": raw.model, "upstream": raw.upstream_id, "enabled": "on", **inputs(cost)}


def _sent(value: Any) -> str:
    return "on" if value is True else str(value).replace("\n", "\r\n")


def form_of(page: Any) -> dict[str, Any]:
    """Return what a browser sends back if an operator saves the page as it is."""
    form: dict[str, Any] = {}
    for each in page.context["adminform"], *page.context["inline_admin_formsets"]:
        forms = [each.form] if hasattr(each, "form") else [each.formset.management_form, *each.formset.forms]
        for field in [field for form in forms for field in form]:
            value = field.value()
            if value is not False and value not in (None, "", []):
                form[field.html_name] = value if isinstance(value, list) else _sent(value)
    return form


def costs_of(row: Deployment | RawModel) -> list[Any]:
    found = CostVersion.objects.filter(deployment=deployment_id(row)).order_by("effective_at", "pk")
    return list(found.values_list("components", flat=True))


def test_a_cost_of_a_deployment_is_published_and_shown(operator: Client) -> None:
    alias = Alias.objects.get(name="fast")
    first, second = alias.deployments.order_by("pk")
    page = address("inference_alias_change", alias.pk)
    for _ in range(2):
        assert operator.post(page, alias_form(alias, SHOWN, {})).status_code == 303
        assert (costs_of(first), costs_of(second)) == ([COST], [])
    shown = operator.get(page).content.decode()
    assert re.search(
        r'name="deployments-0-cost_input_token"[^>]* value="0\.10"|value="0\.10"[^>]* name="deployments-0-cost_input_token"',
        shown,
    )
    assert "flex input_token 0.05</textarea>" in shown
    assert operator.post(page, alias_form(alias, {}, {"request": "5"})).status_code == 303
    assert (costs_of(first), costs_of(second)) == ([COST, {}], [{"request": "5"}])


def test_a_cost_of_a_raw_model_is_published_and_shown(operator: Client) -> None:
    raw = RawModel.objects.get()
    page = address("inference_rawmodel_change", raw.pk)
    for _ in range(2):
        assert operator.post(page, raw_form(raw, SHOWN)).status_code == 303
        assert costs_of(raw) == [COST]
    assert "flex input_token 0.05</textarea>" in operator.get(page).content.decode()
    assert operator.post(page, raw_form(raw, {})).status_code == 303
    assert costs_of(raw) == [COST, {}]


@pytest.mark.parametrize(
    ("field", "text", "words"),
    [
        ("input_token", "-1", "input_token must be a price in micro-USD"),
        ("request", "1e3", "request must be a price in micro-USD"),
        ("input_token", "9" * 5000, "Ensure this value has at most 20 characters"),
        ("bands", "200000", "bands[0] has no prices"),
        ("bands", "many input_token 1", "a band begins with a number of input tokens"),
        ("images", "large", "Each line must be size/quality and its price."),
        ("service_tiers", "default input_token 1", "service tier default cannot be priced"),
    ],
)
def test_a_cost_that_cannot_be_read_is_refused_at_its_field(
    operator: Client, field: str, text: str, words: str
) -> None:
    alias, raw = Alias.objects.get(name="fast"), RawModel.objects.get()
    answer = operator.post(address("inference_alias_change", alias.pk), alias_form(alias, {field: text}, {}))
    [formset] = answer.context["inline_admin_formsets"]
    errors = formset.formset.errors[0]
    assert (answer.status_code, formset.formset.errors[1]) == (200, {})
    assert words in str(errors)
    assert set(errors) <= {f"cost_{field}", NON_FIELD_ERRORS}
    answer = operator.post(address("inference_rawmodel_change", raw.pk), raw_form(raw, {field: text}))
    assert (answer.status_code, dict(answer.context["adminform"].form.errors)) == (200, dict(errors))
    assert not CostVersion.objects.exists()


def test_saving_a_page_as_it_is_keeps_everything_that_a_file_can_state(operator: Client) -> None:
    alias, raw = Alias.objects.get(name="fast"), RawModel.objects.get()
    first, second = alias.deployments.order_by("pk")
    for row in (first, raw):
        CostVersion.objects.create(deployment=deployment_id(row), components=EVERYTHING)
    for page in (address("inference_alias_change", alias.pk), address("inference_rawmodel_change", raw.pk)):
        form = form_of(operator.get(page))
        logged = LogEntry.objects.count()
        answer = operator.post(page, form)
        assert answer.status_code == 303, (answer.context["errors"], form)
        assert (costs_of(first), costs_of(second), costs_of(raw)) == ([EVERYTHING], [], [EVERYTHING])
        assert {*LogEntry.objects.order_by("pk").values_list("change_message", flat=True)[logged:]} <= {"[]"}
    form = form_of(operator.get(address("inference_alias_change", alias.pk))) | {"deployments-0-cost_request": "7"}
    assert operator.post(address("inference_alias_change", alias.pk), form).status_code == 303
    assert costs_of(first) == [EVERYTHING, {**EVERYTHING, "request": "7"}]


def test_operators_who_may_only_look_see_the_costs() -> None:
    alias, raw = Alias.objects.get(name="fast"), RawModel.objects.get()
    for row in (alias.deployments.order_by("pk")[0], raw):
        CostVersion.objects.create(deployment=deployment_id(row), components=COST)
    curious = clerk("view_alias", "view_deployment", "view_rawmodel", "view_upstream", "view_integration")
    for page in (address("inference_alias_change", alias.pk), address("inference_rawmodel_change", raw.pk)):
        assert "input_token 0.10, output_token 0.40" in curious.get(page).content.decode()
    assert curious.post(address("inference_rawmodel_change", raw.pk), raw_form(raw, {})).status_code == 403
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
