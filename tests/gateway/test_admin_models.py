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
        "options": "{}",
        **management,
    } | members


def test_an_alias_is_made_with_its_deployments(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    form = alias_form(
        **{
            "name": "slow",
            "enabled": "on",
            "options": '{"routes": ["embeddings"]}',
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
        ({"name": "slow", "options": '{"routes": ["nothing"]}'}, "options"),
        ({"name": "slow", "options": '{"routes": "embeddings"}'}, "options"),
    ],
)
def test_an_alias_is_checked_as_in_the_file(operator: Client, members: dict[str, str], field: str) -> None:
    response = operator.post(address("inference_alias_add"), alias_form(**members) | {"deployments-TOTAL_FORMS": "0"})
    assert list(errors(response)) == [field]
    assert Alias.objects.count() == 4


def test_the_name_of_an_alias_is_none_for_a_raw_model(operator: Client) -> None:
    form = {"model": "fast", "upstream": str(Upstream.objects.get(name="primary").pk), "options": "{}"}
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
