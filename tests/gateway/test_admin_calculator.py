"""The calculator of a model's page: exactly what a call would hold and be charged."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from billing.operations import prices
from billing.rules.cost import cost_microusd
from billing.rules.prices import PriceList
from billing.rules.quantities import Quantities
from inference.models import Alias
from tests.gateway.operators import address, clerk

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

PRICE = {
    "input_token": "2.50",
    "cached_input_token": "0.25",
    "cache_write_token": "3.125",
    "cache_write_1h_token": "5",
    "output_token": "15",
    "bands": [{"above_input_tokens": 200000, "input_token": "5", "cached_input_token": "0.5", "output_token": "22.5"}],
    "service_tiers": {"flex": {"input_token": "1.25", "output_token": "7.5"}},
}


@pytest.fixture
def page() -> str:
    alias = Alias.objects.create(name="dear")
    prices.publish("dear", PRICE, now=timezone.now())
    return address("inference_alias_calculator", alias.pk)


@pytest.mark.parametrize(
    ("asked", "charge", "hold"),
    [
        # The worked examples of docs/prices.md.
        ({"input_tokens": 1000, "cached_input_tokens": 400, "output_tokens": 200}, 4600, 6125),
        (
            {
                "input_tokens": 1000,
                "cache_write_tokens": 900,
                "cache_write_1h_tokens": 300,
                "output_tokens": 10,
            },
            3775,
            5150,
        ),
        ({"input_tokens": 200000, "output_tokens": 1}, 500015, 625015),
        ({"input_tokens": 200001, "output_tokens": 1}, 1000028, 1000028),
        ({"input_tokens": 1000, "output_tokens": 100, "service_tier": "flex"}, 2000, 4625),
        ({"input_tokens": 1000, "output_tokens": 1, "output_limit": 100}, 2515, 4625),
        ({"input_tokens": 0, "output_tokens": 0}, 0, 0),
    ],
)
def test_charge_and_hold_are_those_of_a_call(
    operator: Client, page: str, asked: dict[str, Any], charge: int, hold: int
) -> None:
    shown = operator.get(page, asked)
    quote = shown.context["quote"]
    assert (quote.charge_microusd, quote.hold_microusd) == (charge, hold)
    assert f'data-charge="{charge}"' in shown.content.decode()
    for total, components in ((charge, quote.charge), (hold, quote.hold)):
        assert -(-sum(each.amount for each in components) // 10**6) == total
    used = {name: count for name, count in asked.items() if name != "output_limit"}
    assert cost_microusd(Quantities(**used), PriceList.parse(PRICE)) == charge


def test_images_by_size_and_quality(operator: Client) -> None:
    image: str = address("inference_alias_calculator", Alias.objects.get(name="image").pk)
    asked: dict[str, Any] = {"images": 3, "image_kind": "1024x1024/high"}
    shown = operator.get(image, asked)
    assert (shown.context["quote"].charge_microusd, shown.context["quote"].hold_microusd) == (120_000, 120_000)
    assert set(shown.context["form"].fields) == {"price", "images", "image_kind"}


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"input_tokens": -1}, "greater than or equal to 0"),
        ({"input_tokens": "1e30"}, "Enter a whole number."),
        ({"input_tokens": 2 * 10**9 + 1}, "less than or equal to 2000000000"),
        ({"input_tokens": 1, "cached_input_tokens": 2}, "input tokens exceed the input tokens"),
        ({"input_tokens": 1, "service_tier": "gold"}, "Select a valid choice."),
    ],
)
def test_quantities_that_cannot_be_are_refused_by_name(
    operator: Client, page: str, asked: dict[str, Any], words: str
) -> None:
    shown = operator.get(page, asked)
    assert (shown.status_code, shown.context.get("quote")) == (200, None)
    assert words in shown.content.decode()


def test_an_earlier_price_can_be_chosen(operator: Client, page: str) -> None:
    first = operator.get(page).context["form"]["price"].value()
    prices.publish("dear", {"request": "7"}, now=timezone.now())
    assert operator.get(page).context["quote"].charge_microusd == 7
    old = operator.get(page, {"price": first, "input_tokens": 2, "output_tokens": 0})
    assert old.context["quote"].charge_microusd == 5
    for odd in ("0", "x", "9" * 40):
        assert operator.get(page, {"price": odd}).context["quote"].charge_microusd == 7


def test_a_model_without_a_price_says_what_to_do(operator: Client) -> None:
    alias = Alias.objects.create(name="free")
    shown = operator.get(address("inference_alias_calculator", alias.pk)).content.decode()
    assert "This model has no price yet." in shown
    assert "/admin/billing/priceversion/add/?alias=free" in shown


def test_it_needs_the_right_to_see_the_model(page: str) -> None:
    assert clerk("view_alias").get(page).status_code == 200
    assert clerk("view_priceversion", "change_deployment", name="other").get(page).status_code == 403
