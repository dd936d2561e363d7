"""Aliases and raw models in the console: checked as in the file."""

import pytest
from django.test import Client

from inference.models import Alias, RawModel, Upstream
from judgement.models import JudgementSettings
from tests.gateway.operators import address, clerk, errors

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def alias_form(**members: str) -> dict[str, str]:
    management = {f"deployments-{name}": "0" for name in ("INITIAL_FORMS", "MIN_NUM_FORMS")}
    return {
        "deployments-TOTAL_FORMS": "1",
        "deployments-MAX_NUM_FORMS": "1000",
        **management,
    } | members


def test_an_alias_is_made_with_its_deployments(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    form = alias_form(
        **{
            "name": "slow",
            "enabled": "on",
            "offered_routes": "embeddings",
            "deployments-0-upstream": str(upstream.pk),
            "deployments-0-model": "m",
            "deployments-0-priority": "2",
            "deployments-0-weight": "5",
            "deployments-0-enabled": "on",
        }
    )
    assert operator.post(address("inference_alias_add"), form).status_code == 303
    alias = Alias.objects.get(name="slow")
    assert alias.served_routes() == ("embeddings",)
    assert alias.deployments.values_list("upstream__name", "model", "priority", "weight").get() == (
        "primary",
        "m",
        2,
        5,
    )


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"name": "vendor/large-2"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "slow", "offered_routes": "nothing"}, "offered_routes"),
        ({"name": "slow", "dimensions": "0"}, "dimensions"),
        ({"name": "slow", "dimensions": "65537"}, "dimensions"),
        ({"name": "slow", "quantization": "int4"}, "quantization"),
        ({"name": "slow", "normalized": "yes"}, "normalized"),
        ({"name": "slow", "provider": "p\x00"}, "provider"),
        ({"name": "slow", "revision": "r\u202e"}, "revision"),
        ({"name": "slow", "revision": "r" * 121}, "revision"),
        ({"name": "slow", "input_overhead_tokens": "-1"}, "input_overhead_tokens"),
        ({"name": "slow", "input_overhead_tokens": "1e9"}, "input_overhead_tokens"),
    ],
)
def test_an_alias_is_checked_as_in_the_file(operator: Client, members: dict[str, str], field: str) -> None:
    response = operator.post(address("inference_alias_add"), alias_form(**members) | {"deployments-TOTAL_FORMS": "0"})
    assert list(errors(response)) == [field]
    assert Alias.objects.count() == 4


def test_the_name_of_an_alias_is_none_for_a_raw_model(operator: Client) -> None:
    form = {"model": "fast", "upstream": str(Upstream.objects.get(name="primary").pk)}
    assert list(errors(operator.post(address("inference_rawmodel_add"), form))) == ["model"]
    assert RawModel.objects.count() == 1


def test_an_alias_that_judgement_selects_is_not_deleted(operator: Client) -> None:
    alias = Alias.objects.get(name="judgement-backend-b")
    response = operator.post(address("inference_alias_delete", alias.pk), {"post": "yes"})
    assert response.status_code == 200
    assert Alias.objects.filter(pk=alias.pk).exists()
    assert JudgementSettings.objects.get().text_backend == alias


def test_deployments_need_their_own_right() -> None:
    alias, upstream = Alias.objects.get(name="fast"), Upstream.objects.get(name="primary")
    before = list(alias.deployments.order_by("pk").values())
    added = {"upstream": str(upstream.pk), "model": "sold-dear", "priority": "0", "weight": "1", "enabled": "on"}
    form = alias_form(**{f"deployments-0-{name}": value for name, value in added.items()}, enabled="on")
    answer = clerk("view_alias", "change_alias", "view_upstream").post(
        address("inference_alias_change", alias.pk), form
    )
    assert answer.status_code == 303
    assert list(alias.deployments.order_by("pk").values()) == before


def test_options_are_fields_and_those_without_a_field_stay(operator: Client) -> None:
    alias = Alias.objects.get(name="image")
    Alias.objects.filter(pk=alias.pk).update(options={"later": 1, "normalized": False, "dimensions": 8})
    page = address("inference_alias_change", alias.pk)
    shown = operator.get(page).context["adminform"].form
    assert (shown["normalized"].value(), shown["dimensions"].value()) == ("false", 8)
    stated = {"offered_routes": "embeddings", "normalized": "true", "provider": "Us", "input_overhead_tokens": "0"}
    assert operator.post(page, alias_form(enabled="on", **stated) | {"deployments-TOTAL_FORMS": "0"}).status_code == 303
    alias.refresh_from_db()
    assert alias.options == {
        "later": 1,
        "routes": ["embeddings"],
        "normalized": True,
        "provider": "Us",
        "input_overhead_tokens": 0,
    }
    viewer = clerk("view_alias")
    assert "provider: Us" in viewer.get(page).content.decode()
