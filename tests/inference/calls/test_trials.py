"""The console's page "Try it": one real call to a deployment, which is shown with its cause, and paid by no wallet."""

import re
import uuid
from typing import Any

import pytest
from django.contrib.admin.models import LogEntry
from django.test import Client
from django.utils import timezone

from accounts.models import Account
from billing.models import Call
from inference.models import Alias, Deployment, Trial, Upstream
from inference.operations import trials
from inference.rules.trials import ROUTES
from tests.gateway.operators import address, clerk
from tests.inference.routes.scripted_upstream import ScriptedUpstream
from tests.support.concurrency import at_once
from tests.support.stage import Stage
from tests.support.upstream import closed_port, mute_port


def somebody() -> Client:
    account = Account.objects.create_superuser(f"did:web:localhost:{uuid.uuid4().hex}", None, "x")
    client = Client(raise_request_exception=False)
    client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
    return client


def page_of(alias: str) -> str:
    return address("inference_alias_try_it", Alias.objects.get(name=alias).pk)


def form_of(alias: str, **members: str) -> dict[str, str]:
    row = Deployment.objects.get(alias__name=alias)
    trial = f"tri_{uuid.uuid4().hex[:26]}"
    return {"deployment": str(row.pk), "route": "chat.completions", "key": "current", "trial": trial, **members}


def result_of(alias: str) -> dict[str, Any]:
    [trial] = Trial.objects.filter(deployment=str(Deployment.objects.get(alias__name=alias).pk))
    assert trial.result is not None
    return dict(trial.result)


def test_the_answer_its_usage_and_its_costs_are_shown(stage: Stage) -> None:
    alias = stage.model("small-1?text=OK+then", cost={"input_token": "1", "output_token": "2"})
    operator, calls = somebody(), Call.objects.count()
    shown = operator.get(page_of(alias)).content.decode()
    assert re.search(r'name="trial" value="tri_[0-9a-z]{26}"', shown)
    shown = operator.post(page_of(alias), form_of(alias)).content.decode()
    [entry] = stage.upstream.ledger.entries
    prompt, result = entry.prompt_tokens, result_of(alias)
    assert (result["outcome"], result["status"], result["text"], result["cause"]) == ("answered", 200, "OK then", "")
    assert (result["usage"]["input_tokens"], result["usage"]["output_tokens"]) == (prompt, 2)
    assert result["cost_microusd"] == prompt + 4
    assert result["charge_microusd"] == -(-(15 * prompt + 60 * 2) // 100)
    assert "OK then" in shown
    assert entry.body["max_completion_tokens"] == 16
    assert Call.objects.count() == calls  # no hold, and no call of a wallet
    [logged] = LogEntry.objects.filter(object_id=str(Alias.objects.get(name=alias).pk))
    name = Upstream.objects.get(deployments__alias__name=alias).name
    assert re.fullmatch(
        rf"Tried {name}/small-1\?text=OK\+then on chat.completions with the current key: answered with 200 after [\d,]+ ms",
        logged.change_message,
    )


@pytest.mark.parametrize(
    ("preset", "outcome", "status", "words"),
    [
        ("unauthorized", "refused", 401, "The upstream refuses the key."),
        ("forbidden", "refused", 403, "Check what the key may do there."),
        ("missing-model", "refused", 404, "no such path or model"),
        ("bad-gateway", "failed", 502, ""),
        ("overloaded", "overloaded", 503, ""),
        ("?status=400&error_message=Unknown+parameter", "refused", 400, "Unknown parameter"),
        ("?status=429", "overloaded", 429, "limits this account"),
        ("?form=html", "unclear", None, "is not this API"),
        ("?form=garbage", "unclear", None, "is not this API"),
        ("?cut=mid_body", "unclear", None, ""),
        ("usage-missing", "answered", 200, "would wait for review"),
    ],
)
def test_what_went_wrong_is_said_exactly_and_without_the_key(
    stage: Stage,
    preset: str,
    outcome: str,
    status: int | None,
    words: str,
) -> None:
    model = f"small-1{preset}" if preset.startswith("?") else preset
    alias = stage.model(model)
    shown = somebody().post(page_of(alias), form_of(alias)).content.decode()
    result = result_of(alias)
    assert (result["outcome"], result["status"]) == (outcome, status)
    assert words in shown
    assert f'data-outcome="{outcome}"' in shown
    assert stage.api_key not in shown + str(result) + str(list(LogEntry.objects.values_list("change_message")))


@pytest.mark.parametrize("content", [{"a": "<b>1</b>"}, ["one", {"two": 3}], 4, True, "nul \x00 and\u2028lines"])
def test_whatever_an_upstream_sends_as_its_text_is_shown(stage: Stage, content: Any) -> None:
    choice = {"index": 0, "finish_reason": "stop", "message": {"role": "assistant", "content": content}}
    usage = {"prompt_tokens": 3, "completion_tokens": 2, "total_tokens": 5}
    with ScriptedUpstream() as scripted:
        scripted.player.says = {"id": "c", "object": "chat.completion", "choices": [choice], "usage": usage}
        alias = stage.model(upstream=stage.upstream_row(base_url=scripted.base_url))
        answer = somebody().post(page_of(alias), form_of(alias))
    assert answer.status_code == 200
    assert result_of(alias)["outcome"] == "answered"
    assert "<b>1</b>" not in answer.content.decode()


def test_an_upstream_that_repeats_the_key_shows_it_to_nobody(stage: Stage) -> None:
    """The key of this test looks like no vendor's, so only knowing it can hide it."""
    model = f"small-1?status=400&error_message=key+{stage.api_key}"
    alias = stage.model(model)
    shown = somebody().post(page_of(alias), form_of(alias)).content.decode()
    assert "[redacted]" in shown
    assert stage.api_key not in shown.replace(model.replace("&", "&amp;"), "")


@pytest.mark.parametrize(
    ("base_url", "outcome", "hint"),
    [
        ("http://no-such-host.invalid/v1", "unreachable", "cannot be resolved"),
        ("http://127.0.0.1:{closed}/v1", "unreachable", "Nothing listens at this address"),
        ("https://127.0.0.1:{open}/v1", "unreachable", "No encrypted connection came about"),
        ("{origin}/v2", "refused", "no such path or model"),
        ("http://127.0.0.1:{mute}/v1", "unclear", "No answer came in time"),
    ],
)
def test_an_address_that_does_not_work_is_explained(stage: Stage, base_url: str, outcome: str, hint: str) -> None:
    with mute_port() as mute:
        origin = stage.upstream.origin
        text = base_url.format(closed=closed_port(), mute=mute, open=origin.rpartition(":")[2], origin=origin)
        alias = stage.model(upstream=stage.upstream_row(base_url=text, timeout_seconds=1))
        shown = somebody().post(page_of(alias), form_of(alias)).content.decode()
    assert result_of(alias)["outcome"] == outcome, result_of(alias)
    assert hint in shown, result_of(alias)


def test_a_second_click_makes_no_second_call(stage: Stage) -> None:
    alias, operator = stage.model("small-1?delay_ms=200"), somebody()
    form = form_of(alias)
    answers = at_once(*[lambda: operator.post(page_of(alias), form)] * 3)
    assert [answer.status_code for answer in answers] == [200, 200, 200]
    operator.post(page_of(alias), form)
    assert len(stage.upstream.ledger.entries) == 1
    assert Trial.objects.filter(pk=form["trial"]).count() == 1


def test_a_call_whose_process_died_is_never_made_again(stage: Stage) -> None:
    alias = stage.model()
    form = form_of(alias)
    row = Deployment.objects.get(alias__name=alias)
    Trial.objects.create(
        id=form["trial"],
        deployment=str(row.pk),
        route="chat.completions",
        key="current",
        operator="x",
        began_at=timezone.now(),
    )
    shown = somebody().post(page_of(alias), form).content.decode()
    assert "under way, or its process ended" in shown
    assert not stage.upstream.ledger.entries


def test_the_next_key_is_tried_before_the_switch(stage: Stage) -> None:
    upstream_row = stage.upstream_row(api_key="sk-old-key-0000000001", next_api_key=stage.api_key)
    alias, operator = stage.model(upstream=upstream_row), somebody()
    operator.post(page_of(alias), form_of(alias, key="next"))
    assert result_of(alias)["outcome"] == "answered"
    operator.post(page_of(alias), form_of(alias, key="current"))
    outcomes = Trial.objects.filter(deployment=str(Deployment.objects.get(alias__name=alias).pk)).values_list(
        "key", "result__outcome"
    )
    assert set(outcomes) == {("next", "answered"), ("current", "refused")}


@pytest.mark.parametrize(
    "members",
    [
        {"trial": "tri_x"},
        {"trial": ""},
        {"deployment": "0"},
        {"deployment": "\x00"},
        {"route": "embeddings"},
        {"route": "nothing"},
        {"key": "next"},
        {"key": "api_key"},
    ],
)
def test_a_form_that_is_not_right_calls_nobody(stage: Stage, members: dict[str, str]) -> None:
    alias, before = stage.model(), Trial.objects.count()
    answer = somebody().post(page_of(alias), form_of(alias, **members))
    assert answer.status_code == 200
    assert (Trial.objects.count(), len(stage.upstream.ledger.entries)) == (before, 0)


def test_only_who_may_change_deployments_may_try_them(stage: Stage) -> None:
    alias = stage.model()
    for number, rights in enumerate((("view_alias", "change_alias"), ("change_deployment",))):
        answer = clerk(*rights, name=uuid.uuid4().hex).post(page_of(alias), form_of(alias))
        assert answer.status_code == 403, number
    assert not stage.upstream.ledger.entries
    allowed = clerk("view_alias", "change_deployment", name=uuid.uuid4().hex)
    assert allowed.post(page_of(alias), form_of(alias)).status_code == 200
    assert len(stage.upstream.ledger.entries) == 1


@pytest.mark.parametrize("route", sorted(ROUTES))
def test_every_route_but_those_of_files_and_sockets_can_be_tried(stage: Stage, route: str) -> None:
    row = stage.upstream_row(adapter="demo", base_url="", api_key="", options={"token_seconds": 0})
    alias = stage.model(upstream=row, price=None, options={"routes": [route]})
    shown = somebody().post(page_of(alias), form_of(alias, route=route)).content.decode()
    result = result_of(alias)
    assert (result["outcome"], result["cause"]) == ("answered", ""), (route, result)
    assert result["charge_microusd"] is None
    assert "there is no price for this route" in shown


def test_a_model_without_deployments_says_what_to_do(stage: Stage) -> None:
    alias = stage.model(deploy=False)
    assert "This model has no deployment yet" in somebody().get(page_of(alias)).content.decode()
    assert somebody().post(page_of(alias), {}).status_code == 200
    Alias.objects.filter(name=alias).delete()


def test_only_the_last_trials_of_a_deployment_are_kept(stage: Stage) -> None:
    row = stage.upstream_row(adapter="demo", base_url="", api_key="", options={"token_seconds": 0})
    alias, operator = stage.model(upstream=row), somebody()
    for _ in range(trials.KEPT_OF_DEPLOYMENT + 2):
        operator.post(page_of(alias), form_of(alias))
    kept = Trial.objects.filter(deployment=str(Deployment.objects.get(alias__name=alias).pk))
    assert kept.count() == trials.KEPT_OF_DEPLOYMENT
