"""A new model in the console: one form makes alias, deployment, price and cost at once, or nothing."""

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from django.db import connection
from django.test import Client

from billing.models import CostVersion, PriceVersion
from inference.models import Alias, Deployment, RawModel, Upstream
from inference.queries.rows import deployment_id
from tests.gateway.operators import address, clerk, logged
from tests.support.concurrency import at_once, eventually
from tests.support.database import connect

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

WAITING = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
RIGHTS = ("add_alias", "add_deployment", "add_priceversion")


def form(**members: Any) -> dict[str, Any]:
    return {
        "name": "slow",
        "upstream": str(Upstream.objects.get(name="primary").pk),
        "upstream_model": "slow-1",
        "offered_routes": "chat.completions",
        "price-input_token": "1.25",
        "price-output_token": "10",
        "price-bands": "200000 input_token 2.5",
        "cost-input_token": "1",
        **members,
    }


def waiting() -> int:
    with connection.cursor() as cursor:
        cursor.execute(WAITING)
        [number] = cursor.fetchone()
    return int(number)


def counts() -> tuple[int, ...]:
    return tuple(model.objects.count() for model in (Alias, Deployment, PriceVersion, CostVersion))


def test_all_rows_are_made_at_once_and_the_model_is_closed(operator: Client) -> None:
    page = address("inference_alias_new_model")
    assert "Make the model" in operator.get(page).content.decode()
    answer = operator.post(page, form(max_output_tokens="1000", context_tokens="8000"))
    row = Deployment.objects.select_related("alias", "upstream").get(model="slow-1")
    alias = row.alias
    assert (answer.status_code, answer.headers["Location"]) == (
        303,
        f"{address('inference_alias_try_it', alias.pk)}?deployment={row.pk}",
    )
    assert (alias.name, alias.enabled, alias.options) == ("slow", False, {"routes": ["chat.completions"]})
    assert (alias.max_output_tokens, alias.context_tokens) == (1000, 8000)
    assert (row.upstream.name, row.priority, row.weight, row.enabled) == ("primary", 0, 1, True)
    assert PriceVersion.objects.get(alias="slow").components == {
        "input_token": "1.25",
        "output_token": "10",
        "bands": [{"above_input_tokens": 200000, "input_token": "2.5"}],
    }
    assert CostVersion.objects.get(deployment=deployment_id(row)).components == {"input_token": "1"}
    assert logged() == [(1, "Made with primary/slow-1, its price and its cost.")]

    opening = address("inference_alias_open_model", alias.pk)
    without = operator.post(opening, {"_form_submitted": "on"})
    assert "HX-Redirect" not in without.headers
    opened = operator.post(opening, {"_form_submitted": "on", "reason": "tried"})
    assert opened.headers["HX-Redirect"] == address("inference_alias_change", alias.pk)
    assert Alias.objects.get(pk=alias.pk).enabled
    assert logged()[1:] == [(2, "Opened: tried")]
    assert operator.post(opening, {"_form_submitted": "on", "reason": "again"}).status_code == 403


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({"name": "fast"}, "This is the name of an alias."),
        ({"name": "vendor/large-2"}, "This is the name of a raw model."),
        ({"name": "a b"}, "Letters, digits and . _ : / @ - only."),
        ({"name": "a\x00"}, "Null characters are not allowed."),
        ({"name": "a" * 201}, "at most 200 characters"),
        ({"name": ""}, "This field is required."),
        ({"upstream": "999999"}, "Select a valid choice."),
        ({"upstream": "x"}, "Select a valid choice."),
        ({"upstream_model": ""}, "This field is required."),
        ({"upstream_model": "m\x07"}, "control characters"),
        ({"offered_routes": "nothing"}, "Select a valid choice."),
        ({"max_output_tokens": "0"}, "greater than or equal to 1"),
        ({"context_tokens": "1e9"}, "Enter a whole number."),
        ({"price-input_token": "1e30"}, "input_token must be a price in micro-USD"),
        ({"price-input_token": "-1"}, "input_token must be a price in micro-USD"),
        ({"price-input_token": "0.1234567890123"}, "input_token must be a price in micro-USD"),
        ({"price-input_token": "9999999999"}, "input_token must be at most 1000000000 micro-USD"),
        ({"price-bands": "nothing"}, "a band begins with a number of input tokens"),
        ({"price-input_token": "", "price-output_token": "", "price-bands": ""}, "at least one component"),
        ({"price-output_token": ""}, "This price has no output_token: /v1/chat/completions cannot be called"),
        ({"offered_routes": "embeddings", "price-input_token": ""}, "This price has no input_token: /v1/embeddings"),
        ({"cost-input_token": "free"}, "input_token must be a price in micro-USD"),
        ({"cost-image": "1", "cost-images": "512x512/low"}, "Each line must be size/quality and its price."),
    ],
)
def test_a_form_that_is_not_right_makes_nothing(operator: Client, members: dict[str, str], words: str) -> None:
    before = counts()
    answer = operator.post(address("inference_alias_new_model"), form(**members))
    assert answer.status_code == 200
    assert words in answer.content.decode()
    assert counts() == before
    assert logged() == []


@pytest.mark.parametrize("missing", RIGHTS)
def test_all_three_rights_are_needed(missing: str) -> None:
    before = counts()
    almost = clerk(*(right for right in RIGHTS if right != missing), "view_alias", "change_alias")
    assert almost.post(address("inference_alias_new_model"), form()).status_code == 403
    assert counts() == before


def test_those_three_rights_are_enough() -> None:
    assert clerk(*RIGHTS, "view_alias").post(address("inference_alias_new_model"), form()).status_code == 303


def test_a_gateway_without_upstreams_says_what_to_do_first(operator: Client) -> None:
    Alias.objects.exclude(name__startswith="judgement").delete()
    RawModel.objects.all().delete()
    Deployment.objects.all().delete()
    Upstream.objects.all().delete()
    shown = operator.get(address("inference_alias_new_model")).content.decode()
    assert "A model needs an upstream" in shown
    assert f'href="{address("inference_upstream_add")}"' in shown


@pytest.mark.django_db(transaction=True)
def test_of_two_operators_who_make_the_same_model_one_is_told(operator: Client) -> None:
    page = address("inference_alias_new_model")
    answers = at_once(*[lambda: operator.post(page, form())] * 2)
    assert sorted(answer.status_code for answer in answers) == [200, 303]
    assert "This is the name of an alias." in next(each for each in answers if each.status_code == 200).content.decode()
    assert PriceVersion.objects.filter(alias="slow").count() == 1
    assert Deployment.objects.filter(model="slow-1").count() == 1


@pytest.mark.django_db(transaction=True)
def test_two_who_open_a_model_at_once_leave_one_entry(operator: Client) -> None:
    alias = Alias.objects.create(name="waiting", enabled=False)
    page = address("inference_alias_open_model", alias.pk)

    def open_it(reason: str) -> int:
        try:
            return operator.post(page, {"_form_submitted": "on", "reason": reason}).status_code
        finally:
            connection.close()

    with connect() as database, ThreadPoolExecutor(2) as threads:
        with database.transaction():
            database.execute("SELECT FROM inference_alias WHERE id = %s FOR UPDATE", [alias.pk])
            answers = [threads.submit(open_it, reason) for reason in ("first", "second")]
            eventually(lambda: waiting() == 2)  # both have seen that it is closed
        assert [answer.result() for answer in answers] == [200, 200]
    alias.refresh_from_db()
    assert alias.enabled
    assert [words for _, words in logged()] in (["Opened: first"], ["Opened: second"])
