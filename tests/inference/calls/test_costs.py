"""Each settled call records what its upstream charges for it, and no caller ever sees that."""

import json
from datetime import timedelta
from typing import Any
from urllib.parse import quote

import orjson
import pytest
from django.utils import timezone

from billing.models import CostVersion, UsageRecord
from billing.operations import closings, costs, reviews
from billing.queries import audit
from billing.rules.cost import cost_microusd
from billing.rules.prices import PriceList
from billing.rules.quantities import QUANTITY_NAMES, Quantities
from inference.metering import call as metered
from inference.models import Deployment, RawModel
from inference.queries import catalogue
from tests.factories.billing import Purse, used_for
from tests.support.stage import CHAT, MESSAGE, RESPONSES, Caller, Stage, ask, chat, message

BODIES = {CHAT: chat, MESSAGE: message, RESPONSES: ask}
COST = {"input_token": "100.000001", "cached_input_token": "0.05", "output_token": "777.40"}


def recorded(caller: Caller) -> tuple[int | None, int | None]:
    record = UsageRecord.objects.get(pk=caller.only_call.id)
    return record.cost_microusd, record.cost_version_id


def expected(caller: Caller, components: dict[str, str] = COST) -> int:
    """Compute the cost of what the caller's one call used."""
    record = UsageRecord.objects.get(pk=caller.only_call.id)
    used = Quantities(**{name: getattr(record, name) for name in QUANTITY_NAMES})
    return cost_microusd(used, PriceList.parse(components))


def version_of(alias: str) -> int:
    deployment = Deployment.objects.get(alias__name=alias)
    return CostVersion.objects.get(deployment=str(deployment.pk)).pk


def adapter_of(path: str) -> str:
    """Return the adapter whose own route this is."""
    return "anthropic" if path == MESSAGE else "openai"


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("path", BODIES)
def test_a_call_records_its_cost(stage: Stage, path: str, streams: bool) -> None:
    upstream = stage.upstream_row(adapter=adapter_of(path))
    alias, caller = stage.model(cost=COST, max_output_tokens=20, upstream=upstream), stage.caller()
    answer = caller.post(BODIES[path](alias, stream=streams), path=path)
    assert answer.status_code == 200
    assert recorded(caller) == (expected(caller), version_of(alias))
    assert expected(caller) > 1000 > caller.only_call.charge_microusd
    assert b"cost" not in answer.content.lower()
    assert not [name for name in answer.headers if "cost" in name.lower()]


@pytest.mark.parametrize("streams", [False, True])
@pytest.mark.parametrize("options", [{}, {"routes": ["chat.completions"]}], ids=["own", "as-chat"])
@pytest.mark.parametrize("path", BODIES)
def test_what_an_upstream_says_that_it_charges_reaches_no_caller(
    stage: Stage, path: str, options: Any, streams: bool
) -> None:
    told = {"cost": 0.25, "cost_details": {"inference": 0.2}, "is_byok": True}
    counted = quote(json.dumps(told, separators=(",", ":")))
    upstream = stage.upstream_row(options=options, adapter="openai" if options else adapter_of(path))
    alias = stage.model(f"small-1?counted={counted}", upstream=upstream, max_output_tokens=20)
    shown = {"stream_options": {"include_usage": True}} if streams and path == CHAT else {}
    caller = stage.caller()
    answer = caller.post(BODIES[path](alias, stream=streams, **shown), path=path)
    assert answer.status_code == 200
    assert (b"output_tokens" if path == MESSAGE else b"total_tokens") in answer.content
    assert not [word for word in (b"cost", b"byok") if word in answer.content]
    assert caller.only_call.state == "settled"


def test_a_deployment_without_costs_records_none(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 200
    assert recorded(caller) == (None, None)


def test_a_cost_that_is_no_longer_known_is_not_recorded(stage: Stage) -> None:
    alias, caller = stage.model(cost=COST, max_output_tokens=20), stage.caller()
    costs.publish(str(Deployment.objects.get(alias__name=alias).pk), {}, now=timezone.now() - timedelta(milliseconds=1))
    catalogue.forget()
    assert caller.post(chat(alias)).status_code == 200
    assert recorded(caller) == (None, None)


def test_a_cost_applies_from_its_instant_on(stage: Stage) -> None:
    alias, caller = stage.model(cost=COST, max_output_tokens=20), stage.caller()
    deployment = str(Deployment.objects.get(alias__name=alias).pk)
    costs.publish(deployment, {"request": "5"}, now=timezone.now() + timedelta(seconds=20))
    catalogue.forget()
    assert caller.post(chat(alias)).status_code == 200
    assert recorded(caller)[0] == expected(caller)


def test_a_raw_model_is_its_own_deployment(stage: Stage) -> None:
    raw = RawModel.objects.create(model="raw-with-a-cost", upstream=stage.upstream_row())
    now = timezone.now()
    version = costs.publish(f"raw:{raw.pk}", {"request": "7.5"}, now=now)
    [deployment] = catalogue.read().models[raw.model].deployments
    found = deployment.cost_at(now)
    assert version is not None
    assert found is not None
    assert found.id == version.pk


def test_the_deployment_that_answered_counts(stage: Stage) -> None:
    alias, caller = stage.model("rate-limited", cost={"request": "9"}, max_output_tokens=20), stage.caller()
    row = Deployment.objects.get(alias__name=alias)
    second = Deployment.objects.create(alias=row.alias, upstream=row.upstream, model="small-1", priority=1)
    version = costs.publish(str(second.pk), {"request": "3"}, now=timezone.now() - timedelta(seconds=1))
    catalogue.forget()
    assert version is not None
    assert caller.post(chat(alias)).status_code == 200
    assert recorded(caller) == (3, version.pk)


def test_no_charge_depends_on_a_cost(stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> int:
        raise RuntimeError("no cost")

    monkeypatch.setattr(metered, "upstream_cost_microusd", fail)
    alias, caller = stage.model(cost=COST, max_output_tokens=20), stage.caller()
    answer = caller.post(chat(alias))
    assert answer.status_code == 200
    assert int(answer.headers["x-service-charge-microusd"]) == caller.only_call.charge_microusd > 0
    assert recorded(caller) == (None, None)


def test_a_stored_cost_that_cannot_be_read_is_not_known(stage: Stage) -> None:
    alias, caller = stage.model(max_output_tokens=20), stage.caller()
    deployment = str(Deployment.objects.get(alias__name=alias).pk)
    CostVersion.objects.create(
        deployment=deployment, components={"later": "1"}, effective_at=timezone.now() - timedelta(seconds=1)
    )
    catalogue.forget()
    assert caller.post(chat(alias)).status_code == 200
    assert recorded(caller) == (None, None)


def test_a_stream_that_broke_off_costs_what_was_delivered(stage: Stage) -> None:
    alias, caller = stage.model("cut-mid-stream", cost=COST, max_output_tokens=30), stage.caller()
    caller.post(chat(alias, stream=True))
    assert caller.only_call.state == "review"
    reviews.reconcile(now=timezone.now())
    assert caller.only_call.usage_record.basis == "delivered"
    assert recorded(caller) == (expected(caller), version_of(alias))


def test_an_operator_s_charge_has_no_known_cost(stage: Stage) -> None:
    alias, caller = stage.model("usage-missing", cost=COST, max_output_tokens=30), stage.caller()
    caller.post(chat(alias))
    assert reviews.charge(caller.only_call.id, cost_microusd=1)
    assert recorded(caller) == (None, None)


READS = ("/v1/models", "/v1/usage", "/v1/wallet", "/v1/account")


def test_no_caller_ever_sees_a_cost(stage: Stage) -> None:
    alias, caller = (
        stage.model(cost=COST, max_output_tokens=20),
        stage.caller(scopes=("infer:*", "wallet:read", "usage:read")),
    )
    first = caller.post(chat(alias), key="same")
    again = caller.post(chat(alias), key="same")
    refused = caller.post(chat(alias), max_cost=1)
    assert (first.status_code, again.status_code, refused.status_code) == (200, 200, 402)
    cost, _ = recorded_of_first(caller)
    answers = [first, again, refused, *(caller.get(path) for path in (*READS, f"/v1/models/{alias}"))]
    for answer in answers:
        assert answer.status_code in (200, 402), answer.text
        text = orjson.dumps(dict(answer.headers)) + answer.content
        assert str(cost).encode() not in text, answer.url
        assert b"777.4" not in text, answer.url
        assert b"cost_microusd" not in text.lower(), answer.url
        assert b"cost_version" not in text.lower(), answer.url


def recorded_of_first(caller: Caller) -> Any:
    record = UsageRecord.objects.get(pk=caller.calls[0].id)
    return record.cost_microusd, record.cost_version_id


def test_the_audit_accepts_what_calls_recorded(stage: Stage) -> None:
    alias, caller = stage.model(cost=COST, max_output_tokens=20), stage.caller()
    assert caller.post(chat(alias)).status_code == 200
    assert [finding for finding in audit.findings() if finding.subject == caller.only_call.id] == []


def test_a_closing_of_a_process_that_died_records_its_cost(stage: Stage) -> None:
    caller = stage.caller()
    purse = Purse(key=caller.did)
    usage_id = purse.call(100, did=caller.did)
    version = costs.publish("1", {"request": "9"}, now=timezone.now())
    assert version is not None
    usage = {**used_for(30), "cost_microusd": 9, "cost_version_id": version.pk}
    call = closings.OpenCall(owner=purse.owner, usage_id=usage_id, deployment="1")
    closing = closings.settle(call, cost_microusd=30, basis="upstream", quantities=usage)
    assert closings.from_note(closing.note).run() == "settled"
    assert recorded(caller) == (9, version.pk)
