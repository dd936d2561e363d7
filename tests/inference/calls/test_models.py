"""GET /v1/models."""

import uuid
from typing import Any

import pytest

from inference.models import RawModel
from inference.queries import catalogue
from tests.factories.accounts import make_integration
from tests.factories.proofs import ProductServer
from tests.support.concurrency import eventually
from tests.support.stage import Stage, chat


def raw_model(stage: Stage, issuer: Any, model: Any = None) -> Any:
    """Allow an integration to use a model of the fake upstream under the model's own name."""
    server = ProductServer(issuer, product=f"p{uuid.uuid4().hex[:8]}")
    name = model or f"vendor/large-{uuid.uuid4().hex[:8]}"
    row = RawModel.objects.create(model=name, upstream=stage.upstream_row(), max_output_tokens=20)
    row.integrations.add(make_integration(server))
    stage.model(name=f"alias-{uuid.uuid4().hex}", price=None)
    from datetime import UTC, datetime

    from billing.operations import prices

    prices.publish(name, {"input_token": "1", "output_token": "2"}, now=datetime.now(UTC))
    catalogue.forget()
    return name


def test_a_model_is_shown_with_its_price(stage: Stage) -> None:
    alias, caller = stage.model(), stage.caller(scopes=())
    answer = caller.get(f"/v1/models/{alias}")
    assert answer.status_code == 200
    assert answer.json() == {
        "id": alias,
        "object": "model",
        "created": 0,
        "owned_by": "account-gateway",
        "routes": ["chat.completions", "responses", "messages"],
        "pricing": {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"},
        "authorized": False,
    }


def test_every_enabled_alias_is_listed_whether_or_not_it_may_be_called(stage: Stage) -> None:
    mine, other, off = stage.model(), stage.model(), stage.model(enabled=False)
    answer = stage.caller(scopes=(f"infer:{mine}",)).get("/v1/models").json()
    assert answer["object"] == "list"
    listed = {model["id"]: model["authorized"] for model in answer["data"]}
    assert (listed[mine], listed[other]) == (True, False)
    assert off not in listed


def test_a_model_shows_the_routes_that_the_gateway_has(stage: Stage) -> None:
    alias = stage.model(options={"routes": ["realtime", "embeddings", "chat.completions"]})
    assert stage.caller().get(f"/v1/models/{alias}").json()["routes"] == [
        "realtime",
        "embeddings",
        "chat.completions",
        "messages",
    ]


def test_discovery_names_the_models_that_can_be_called(stage: Stage) -> None:
    served = stage.model()
    for unserved in (
        stage.model(enabled=False),
        stage.model(deploy=False),
        stage.model(price=None),
        stage.model(price={"input_token": "1"}),
        stage.model(upstream=stage.upstream_row(enabled=False)),
        stage.model(options={"routes": ["rerank"]}, price={"request": "1"}),
    ):
        scopes = stage.client.get(f"{stage.origin}/.well-known/oauth-authorization-server").json()["scopes_supported"]
        assert f"infer:{served}" in scopes
        assert f"infer:{unserved}" not in scopes


def test_an_unknown_or_disabled_model_is_not_found(stage: Stage) -> None:
    caller = stage.caller()
    for name in ("nothing", stage.model(enabled=False), "a/b/c"):
        answer = caller.get(f"/v1/models/{name}")
        assert (answer.status_code, answer.json()["error"]["code"]) == (404, "model_not_found")


def test_a_raw_model_exists_only_for_its_integrations(stage: Stage) -> None:
    issuer = f"https://{uuid.uuid4().hex}.example"
    name = raw_model(stage, issuer)
    insider = stage.caller(scopes=(f"infer:{name}",), client_id=issuer)
    outsider = stage.caller(scopes=(f"infer:{name}",))
    assert insider.get(f"/v1/models/{name}").json()["authorized"] is True
    assert outsider.get(f"/v1/models/{name}").status_code == 404
    assert name not in {model["id"] for model in outsider.get("/v1/models").json()["data"]}
    answer = insider.post(chat(name))
    assert (answer.status_code, answer.json()["model"]) == (200, name)
    assert outsider.post(chat(name)).json()["error"]["code"] == "model_not_found"
    unscoped = stage.caller(scopes=("infer:fast",), client_id=issuer)
    assert unscoped.post(chat(name)).json()["error"]["code"] == "insufficient_scope"


def test_a_change_is_seen_within_fifteen_seconds(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:

    from inference.models import Alias

    monkeypatch.setattr(catalogue._snapshot, "fresh_seconds", 0.2)
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 200
    Alias.objects.filter(name=alias).update(enabled=False)
    eventually(lambda: caller.post(chat(alias)).status_code != 200)
    assert caller.post(chat(alias)).json()["error"]["code"] == "model_unavailable"
