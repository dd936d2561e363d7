"""Whether each route of a model can be called, and why not: the same as calls find, and in words on the model's page."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from billing.models import PriceVersion
from billing.operations import prices
from billing.queries.prices import in_force
from billing.rules.prices import PriceList
from inference.metering.admission import price_in_force
from inference.metering.obstacles import states_of
from inference.metering.served import routes
from inference.models import Alias, RawModel
from inference.queries import catalogue
from tests.gateway.operators import address, errors, publish_price

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("configured")]

CHAT, EMBEDDINGS, MESSAGE, RESPONSES = "/v1/chat/completions", "/v1/embeddings", "/v1/messages", "/v1/responses"
TEXTS = (CHAT, RESPONSES, MESSAGE)


def obstacles(name: str) -> dict[str, tuple[str, ...]]:
    """Return the obstacles of each route, having compared them with what calls find."""
    model = Alias.objects.filter(name=name).first() or RawModel.objects.get(model=name)
    version = in_force(name, timezone.now())
    states = states_of(model, PriceList.parse(version.components) if version else None)
    served = catalogue.read().models[name]
    callable_paths = {
        path for route, path in routes().values() if route.name in served.routes and price_in_force(served, route)
    }
    assert callable_paths == {state.path for state in states if not state.obstacles}
    return {state.path: state.obstacles for state in states}


def change(model: Any, **fields: Any) -> None:
    type(model).objects.filter(pk=model.pk).update(**fields)


def test_a_route_that_is_deployed_and_priced_can_be_called() -> None:
    assert obstacles("fast")[CHAT] == ()
    assert obstacles("vendor/large-2")[CHAT] == ()
    assert obstacles("image") == {"/v1/images/generations": ()}
    Alias.objects.create(name="talk", options={"routes": ["realtime"]})
    assert obstacles("talk") == {"/v1/realtime": ("there is no price", "there is no deployment")}


def test_an_upstream_that_knows_one_of_the_text_routes_can_be_called_on_all() -> None:
    [upstream] = {row.upstream for row in Alias.objects.get(name="fast").deployments.all()}
    for known in ("chat.completions", "responses"):
        change(upstream, options={"routes": [known]})
        assert [obstacles("fast")[path] for path in TEXTS] == [(), (), ()]
    change(upstream, options={"routes": ["embeddings"]})
    assert obstacles("fast")[CHAT] == ("upstream primary supports neither this route nor one that it is translated to",)


def test_the_words_name_what_is_missing() -> None:
    fast = Alias.objects.get(name="fast")
    for row in fast.deployments.all():
        change(row.upstream, enabled=False)
    assert obstacles("fast")[CHAT] == ("upstream primary is disabled",)
    assert obstacles("vendor/large-2")[CHAT] == ("upstream primary is disabled",)

    upstream = fast.deployments.all()[0].upstream
    change(upstream, enabled=True, base_url="")
    assert obstacles("fast")[CHAT] == ("upstream primary has no base URL",)
    change(upstream, base_url="https://models.example/v1", api_key="")
    assert obstacles("fast")[CHAT] == ("upstream primary has no API key",)
    change(upstream, api_key="sk-1", adapter="voyage")
    assert obstacles("fast")[CHAT] == ("the adapter voyage of upstream primary does not serve this route",)

    fast.deployments.update(enabled=False)
    assert obstacles("fast")[CHAT] == (
        "deployment primary/small-1 is disabled",
        "deployment primary/small-2 is disabled",
    )
    fast.deployments.all().delete()
    prices.publish("fast", {"input_token": "1"}, now=timezone.now())
    change(fast, enabled=False)
    assert obstacles("fast")[CHAT] == (
        "the model is disabled",
        "the price has no output_token",
        "there is no deployment",
    )


def test_one_good_deployment_is_enough() -> None:
    first = Alias.objects.get(name="fast").deployments.all()[0]
    change(first, enabled=False)
    assert obstacles("fast")[CHAT] == ()


def test_a_model_without_a_price_says_so(settings: Any) -> None:
    settings.DEMO_ADAPTER = False
    alias = Alias.objects.create(name="new", options={"routes": ["embeddings"]})
    assert obstacles("new") == {EMBEDDINGS: ("there is no price", "there is no deployment")}
    reserved = Alias.objects.create(name="persona", options={"routes": ["embeddings"]})
    prices.publish("persona", {"request": "1"}, now=timezone.now())
    assert obstacles("persona")[EMBEDDINGS] == ("this name is reserved and never served", "there is no deployment")
    upstream = Alias.objects.get(name="fast").deployments.all()[0].upstream
    change(upstream, adapter="demo")
    alias.deployments.create(upstream=upstream, model="m")
    demo = "upstream primary is the demo, which never serves in production"
    assert obstacles("new")[EMBEDDINGS] == ("there is no price", demo)
    assert reserved.deployments.count() == 0


@pytest.mark.parametrize(("table", "name"), [("alias", "fast"), ("rawmodel", "vendor/large-2")])
def test_the_page_of_a_model_tells_of_its_routes_and_price(operator: Client, table: str, name: str) -> None:
    model = Alias.objects.filter(name=name).first() or RawModel.objects.get(model=name)
    page = address(f"inference_{table}_change", model.pk)
    assert f"<code>{CHAT}</code>: can be called" in operator.get(page).content.decode()
    prices.publish(name, {"output_token": "0.5"}, now=timezone.now())
    text = operator.get(page).content.decode()
    assert f"<code>{CHAT}</code>: cannot be called: the price has no input_token" in text
    assert "output_token 0.5" in text
    link = address("billing_priceversion_add") + f"?alias={name.replace('/', '%2F')}"
    assert f'href="{link}">New price' in text
    assert operator.get(link).status_code == 200


def test_the_list_sums_up_what_can_be_called(operator: Client) -> None:
    Alias.objects.create(name="part", options={"routes": ["embeddings", "chat.completions"]})
    Alias.objects.get(name="part").deployments.create(
        upstream=Alias.objects.get(name="fast").deployments.all()[0].upstream, model="m"
    )
    prices.publish("part", {"input_token": "1"}, now=timezone.now())
    listed = operator.get(address("inference_alias_changelist")).context["cl"]
    summed = {row.name: listed.model_admin.can_be_called(row) for row in listed.result_list}
    assert summed == {
        "fast": "yes",
        "part": "partly",
        "image": "yes",
        "judgement-backend-b": "yes",
        "judgement-backend-c": "yes",
    }


def test_saving_a_model_warns_of_routes_that_it_takes_offline(operator: Client) -> None:
    raw = RawModel.objects.get()
    form: dict[str, Any] = {
        "upstream": str(raw.upstream.pk),
        "enabled": "on",
        "offered_routes": ["chat.completions", "embeddings"],
    }
    saved = operator.post(address("inference_rawmodel_change", raw.pk), form, follow=True)
    assert [str(each) for each in saved.context["messages"] if each.level_tag == "warning"] == []
    PriceVersion.objects.create(alias=raw.model, components={"input_token": "1"})
    saved = operator.post(address("inference_rawmodel_change", raw.pk), form, follow=True)
    assert [str(each) for each in saved.context["messages"] if each.level_tag == "warning"] == [
        f"{path} cannot be called: the price has no output_token." for path in (CHAT, MESSAGE)
    ]


def test_a_price_that_takes_a_route_offline_is_published_once_that_is_confirmed(operator: Client) -> None:
    before = PriceVersion.objects.count()
    form = {"alias": "fast", "input_token": "0.2"}
    refused = operator.post(address("billing_priceversion_add"), form)
    words = [f"This price has no output_token: {path} cannot be called with `fast`." for path in (CHAT, RESPONSES)]
    expected = [f"{word} Nothing was published. Add a price for it, or confirm below." for word in words]
    assert errors(refused) == {"__all__": expected}
    choices = list(refused.context["adminform"].form.fields["unsold"].choices)
    assert choices == [
        ("fast chat.completions", f"Take {CHAT} offline"),
        ("fast responses", f"Take {RESPONSES} offline"),
    ]
    assert f"Take {CHAT} offline" in refused.content.decode()
    assert PriceVersion.objects.count() == before

    for confirmed in ("embedding embeddings", "", words[0], choices[0][0]):
        assert errors(operator.post(address("billing_priceversion_add"), {**form, "unsold": confirmed}))
    assert PriceVersion.objects.count() == before
    assert publish_price(operator, {**form, "unsold": [key for key, _ in choices]}).status_code == 303
    assert obstacles("fast")[CHAT] == ("the price has no output_token",)


def test_a_new_price_starts_from_the_one_in_force(operator: Client) -> None:
    def initial(alias: str) -> dict[str, Any]:
        form = operator.get(address("billing_priceversion_add"), {"alias": alias}).context["adminform"].form
        return {name: value for name in form.fields if (value := form.get_initial_for_field(form.fields[name], name))}

    fast = {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"}
    copied = {name: value for name, value in initial("fast").items() if name != "alias"}
    assert (initial("fast")["alias"], copied) == ("fast", fast)
    image = initial("image")["images"]
    assert sorted(image.splitlines()) == ["1024x1024/high 40000", "1024x1024/low 10000"]
    assert initial("nothing") == {"alias": "nothing"}
    page = operator.get(address("billing_priceversion_add"), {"alias": "fast"}).content.decode()
    assert "data-starts-from-price" in page
    assert "gateway/console/price.js" in page
    again = operator.post(address("billing_priceversion_add"), {"alias": "fast", **fast})
    assert errors(again) == {"__all__": ["This is already the current price."]}
