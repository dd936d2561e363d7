"""Prices in the console: dated versions that nobody edits."""

from datetime import timedelta

import pytest
from django.contrib.admin.models import ADDITION
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from billing.models import PriceVersion, UsageDay, UsageSubject
from billing.operations import prices
from billing.rules.prices import COMPONENTS
from inference.admin.price_fields import PRICE_FIELDS
from inference.models import Alias
from tests.gateway.operators import address, errors, logged, publish_price

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]


def test_every_component_has_a_field() -> None:
    assert set(PRICE_FIELDS) == {*COMPONENTS, "images", "bands", "service_tiers"}


def test_prices_are_labelled_in_the_unit_that_providers_quote(operator: Client) -> None:
    form = operator.get(address("billing_priceversion_add"), {"alias": "fast"}).content.decode()
    assert form.count("USD per million tokens.") == 7
    for unit in ("images", "characters", "seconds", "kilobytes", "items", "requests"):
        assert f"USD per million {unit}." in form
    assert 'value="0.15"' in form
    alias = operator.get(address("inference_alias_change", Alias.objects.get(name="fast").pk)).content.decode()
    assert "Current price in USD per million" in alias


def test_a_new_price_is_dated_and_the_old_one_stays(operator: Client) -> None:
    response = publish_price(operator, {"alias": "fast", "input_token": "0.2", "output_token": "0.8"})
    assert response.status_code == 303
    versions = PriceVersion.objects.filter(alias="fast").order_by("effective_at")
    assert [version.components for version in versions] == [
        {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"},
        {"input_token": "0.2", "output_token": "0.8"},
    ]
    assert [flag for flag, _ in logged()] == [ADDITION]
    page = operator.get(address("billing_priceversion_changelist"), {"q": "fast"}).content.decode()
    assert page.index("input_token 0.2,") < page.index("input_token 0.15,")


def test_images_have_prices_by_size_and_quality(operator: Client) -> None:
    publish_price(operator, {"alias": "image", "images": "1024x1024/high 5\n512x512/low 1"})
    version = PriceVersion.objects.filter(alias="image").order_by("-effective_at")[0]
    assert version.components == {"image": {"1024x1024/high": "5", "512x512/low": "1"}}


def test_bands_and_service_tiers_are_lines_of_the_form(operator: Client) -> None:
    variants = {
        "bands": "200000 input_token 5 output_token 22.5\n1000000 input_token 7",
        "service_tiers": "flex input_token 1.25\npriority input_token 5\npriority above 200000 input_token 10",
    }
    plain = {"alias": "fast", "input_token": "2.5", "cache_write_1h_token": "5", "output_token": "15"}
    assert publish_price(operator, {**plain, **variants}).status_code == 303
    version = PriceVersion.objects.filter(alias="fast").order_by("-effective_at")[0]
    assert version.components["bands"] == [
        {"above_input_tokens": 200000, "input_token": "5", "output_token": "22.5"},
        {"above_input_tokens": 1000000, "input_token": "7"},
    ]
    assert version.components["service_tiers"] == {
        "flex": {"input_token": "1.25"},
        "priority": {"input_token": "5", "bands": [{"above_input_tokens": 200000, "input_token": "10"}]},
    }
    form = operator.get(address("billing_priceversion_add"), {"alias": "fast"}).context["adminform"].form
    assert {name: form.get_initial_for_field(form.fields[name], name) for name in variants} == variants


@pytest.mark.parametrize(
    "members",
    [
        {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.6"},
        {},
        {"input_token": "-1"},
        {"input_token": "0.1234567"},
        {"input_token": "free"},
        {"input_token": "1e30", "output_token": "1"},
        {"input_token": "1" * 19, "output_token": "1"},
        {"input_token": "1" * 21, "output_token": "1"},
        {"input_token": "0.0000000000001", "output_token": "1"},
        {"input_token": "NaN", "output_token": "1"},
        {"input_token": "1\x00", "output_token": "1"},
        {"input_token": "\u0661", "output_token": "1"},
        {"images": "1024x1024/high"},
        {"images": "large 5"},
        {"images": "512x512/low 5\n512x512/low 6"},
        {"input_token": "1", "output_token": "1", "bands": "input_token 5"},
        {"input_token": "1", "output_token": "1", "bands": "0 input_token 5"},
        {"input_token": "1", "output_token": "1", "bands": "9"},
        {"input_token": "1", "output_token": "1", "bands": "9 input_token"},
        {"input_token": "1", "output_token": "1", "bands": "9 image 5"},
        {"input_token": "1", "output_token": "1", "bands": "9 input_token 5\n9 input_token 6"},
        {"input_token": "1", "output_token": "1", "service_tiers": "flex"},
        {"input_token": "1", "output_token": "1", "service_tiers": "default input_token 5"},
        {"input_token": "1", "output_token": "1", "service_tiers": "flex input_token 5\nflex output_token 6"},
        {"input_token": "1", "output_token": "1", "service_tiers": "flex above input_token 5"},
        {"input_token": "1", "output_token": "1", "service_tiers": "flex bands 5\nflex above 9 input_token 5"},
    ],
)
def test_a_price_that_is_none_or_no_news_is_refused(operator: Client, members: dict[str, str]) -> None:
    before = PriceVersion.objects.count()
    response = operator.post(address("billing_priceversion_add"), {"alias": "fast", **members})
    assert response.status_code == 200
    assert errors(response)
    assert PriceVersion.objects.count() == before


def test_a_price_is_published_only_as_it_was_shown(operator: Client) -> None:
    page, form = address("billing_priceversion_add"), {"alias": "fast", "input_token": "0.3", "output_token": "0.60"}
    subject = UsageSubject.objects.create(wallet_id="wal_1", actor_did="did:web:x", model="fast")
    today = timezone.now().date()
    for closed_on in (today, today - timedelta(days=40)):
        UsageDay.objects.create(
            subject=subject,
            closed_on=closed_on,
            begun_on=closed_on,
            calls=3,
            input_tokens=1_000_000_000,
            output_tokens=1_000_001,
            charges=3,
            charged_microusd=150_000_000,
        )
    before = PriceVersion.objects.count()
    shown = operator.post(page, form)
    review = shown.context["adminform"].form.review
    assert review["changes"]["rows"] == [
        ["input_token", "0.15", "0.3", "+100.0 %", "-"],
        ["cached_input_token", "0.075", "-", "+300.0 %", "more than a factor of 3, or from or to zero"],
    ]
    assert review["brought"]["rows"] == [
        ["Charged in fact", "$150.000000"],
        ["At the price in force", "$150.600001"],
        ["At the new price", "$300.600001"],
        ["Difference", "$150.000000"],
    ]
    assert "The 3 calls of the last 30 days" in shown.content.decode()
    seen = shown.context["adminform"].form.data["seen"]

    other = operator.post(page, {**form, "input_token": "3", "seen": seen})
    assert other.context["adminform"].form.review["changes"]["rows"][0][2] == "3"
    prices.publish("fast", {"input_token": "0.2", "output_token": "1"}, now=timezone.now())
    meanwhile = operator.post(page, {**form, "seen": seen})  # somebody else published another one meanwhile
    assert meanwhile.context["adminform"].form.review["changes"]["rows"][0][1] == "0.2"
    assert PriceVersion.objects.count() == before + 1
    seen = meanwhile.context["adminform"].form.data["seen"]
    assert operator.post(page, {**form, "seen": seen}).status_code == 303
    assert PriceVersion.objects.count() == before + 2


def test_the_database_itself_refuses_to_edit_a_price() -> None:
    for statement in ("UPDATE billing_price_version SET components = '{}'", "DELETE FROM billing_price_version"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)
