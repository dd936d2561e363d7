"""Handshakes that are refused: each by an HTTP answer, with nothing held and nothing opened upstream."""

import json
import socket
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from accounts.operations import consents
from inference.models import Alias, Deployment, Upstream
from tests.factories.proofs import ISSUER
from tests.support.concurrency import eventually
from tests.support.sessions import (
    PATH,
    code_of,
    headers_of,
    live_model,
    opened,
    refused,
    settled,
    subprotocols_of,
    talker,
)
from tests.support.stage import Caller, Stage
from tests.support.upstream import FakeUpstream
from tests.support.upstream.server import closed_port


def assert_nothing_happened(stage: Stage, caller: Caller, held: int = 0) -> None:
    assert [call for call in caller.calls if call.state != "released"] == []
    assert stage.upstream.realtime.sessions == []


@pytest.mark.parametrize(
    ("options", "status", "code"),
    [
        ({"key": None}, 400, "idempotency_key_required"),
        ({"max_cost": None}, 400, "max_cost_required"),
        ({"max_cost": "many"}, 400, "invalid_request"),
        ({"max_cost": 2000}, 402, "max_cost_exceeded"),
        ({"max_cost": 1_000_001}, 402, "insufficient_funds"),
    ],
)
def test_it_needs_a_key_and_a_maximum_and_money(stage: Stage, options: dict[str, Any], status: int, code: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    assert code_of(refused(caller, alias, **options)) == (status, code)
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("missing", ["Authorization", "DPoP"])
def test_it_needs_a_token_and_its_proof(stage: Stage, missing: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    headers = headers_of(caller)
    del headers[missing]
    answer = refused(caller, alias, headers=headers)
    assert code_of(answer) == (401, "invalid_token" if missing == "Authorization" else "invalid_dpop_proof")
    assert answer.headers["WWW-Authenticate"].startswith("DPoP error=")
    assert answer.headers["Cache-Control"] == "no-store"
    assert answer.headers["X-Request-Id"] == json.loads(answer.body or b"")["error"]["request_id"]
    assert_nothing_happened(stage, caller)


def test_a_proof_serves_once(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    headers = headers_of(caller)
    with opened(caller, alias, headers=headers):
        pass
    again = refused(caller, alias, headers={**headers, "Idempotency-Key": "another"})
    assert code_of(again) == (401, "invalid_dpop_proof")


def test_a_proof_of_a_refused_handshake_serves_no_second_time(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    headers = headers_of(caller, max_cost=None)
    assert code_of(refused(caller, alias, headers=headers)) == (400, "max_cost_required")
    complete = {**headers, "x-service-max-cost-microusd": "1000000"}
    assert code_of(refused(caller, alias, headers=complete)) == (401, "invalid_dpop_proof")


@pytest.mark.parametrize("scopes", [("infer:*",), ("realtime:connect", "infer:other")])
def test_it_needs_both_scopes(stage: Stage, scopes: tuple[str, ...]) -> None:
    caller, alias = talker(stage, scopes=scopes), live_model(stage)
    assert code_of(refused(caller, alias)) == (403, "insufficient_scope")
    assert_nothing_happened(stage, caller)


def test_it_needs_consent(stage: Stage) -> None:
    caller, alias = talker(stage, consents=[]), live_model(stage)
    assert code_of(refused(caller, alias)) == (403, "consent_required")
    assert_nothing_happened(stage, caller)


def test_a_consent_that_was_withdrawn_counts_no_more_until_it_is_given_again(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    account = Account.objects.get(did=caller.did)
    consents.give(account=account, client_id=ISSUER, kind="realtime", now=timezone.now())
    with opened(caller, alias, key="before"):
        pass
    settled(caller)
    [given] = account.consents.all()
    assert consents.withdraw(account=account, consent_id=given.pk, now=timezone.now())
    assert code_of(refused(caller, alias)) == (403, "consent_required")
    consents.give(account=account, client_id=ISSUER, kind="realtime", now=timezone.now())
    with opened(caller, alias, key="after"):
        pass


@pytest.mark.parametrize(
    ("query", "status", "param"),
    [
        ("", 400, "model"),
        ("?model=", 400, "model"),
        ("?model=a&model=b", 400, "model"),
        ("?model=x&intent=t", 400, "intent"),
    ],
)
def test_the_query_names_a_model_and_nothing_else(stage: Stage, query: str, status: int, param: str) -> None:
    caller = talker(stage)
    answer = stage.client.get(caller.origin + PATH + query, headers={**headers_of(caller), **UPGRADE})
    assert (answer.status_code, answer.json()["error"]["param"]) == (status, param)


UPGRADE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}


def test_an_unknown_model_is_not_found(stage: Stage) -> None:
    caller = talker(stage)
    assert code_of(refused(caller, "nothing-like-it")) == (404, "model_not_found")


def test_a_model_of_another_route_is_refused(stage: Stage) -> None:
    caller, alias = talker(stage), stage.model(options={"routes": ["chat.completions"]})
    assert code_of(refused(caller, alias)) == (400, "invalid_request")


@pytest.mark.parametrize(
    "fields",
    [
        {"price": None},
        {"price": {"input_token": "1", "output_token": "1"}},
        {"deploy": False},
        {"enabled": False},
    ],
)
def test_what_is_not_served_is_unavailable(stage: Stage, fields: dict[str, Any]) -> None:
    caller, alias = talker(stage), live_model(stage, **fields)
    assert code_of(refused(caller, alias)) == (503, "model_unavailable")
    assert_nothing_happened(stage, caller)


def test_an_upstream_of_another_protocol_serves_no_session(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage, upstream=stage.upstream_row(adapter="openai"))
    assert code_of(refused(caller, alias)) == (503, "model_unavailable")


OVERLOADED = {"code": "overloaded", "type": "server_error"}


@pytest.mark.parametrize(
    ("status", "refusal", "answered", "code", "handshakes", "alarms"),
    [
        (400, {"code": "no"}, 400, "invalid_request", 1, 0),
        (422, {"code": "invalid_value", "param": "model"}, 400, "invalid_request", 1, 0),
        (413, {"code": "no"}, 413, "input_too_large", 1, 0),
        (401, {"code": "no"}, 503, "model_unavailable", 1, 1),
        (403, {"code": "no"}, 503, "model_unavailable", 1, 1),
        (404, {"code": "no"}, 503, "model_unavailable", 1, 1),
        (402, {"code": "no"}, 502, "upstream_error", 1, 1),
        (429, {"code": "no"}, 503, "upstream_overloaded", 3, 0),
        (429, {"code": "insufficient_quota"}, 503, "upstream_overloaded", 3, 3),
        (503, OVERLOADED, 503, "upstream_overloaded", 3, 0),
        (503, {"code": "no"}, 502, "upstream_error", 1, 0),
        (500, {"code": "overloaded"}, 502, "upstream_error", 1, 0),
        (302, {"code": "no"}, 502, "upstream_error", 1, 1),
        (200, {"code": "no"}, 502, "upstream_error", 1, 1),
    ],
)
def test_an_upstream_that_refuses_releases_the_hold(
    stage: Stage, status: int, refusal: dict[str, str], answered: int, code: str, handshakes: int, alarms: int
) -> None:
    upstream = stage.upstream_row(adapter="realtime")
    caller, alias = talker(stage), live_model(stage, upstream=upstream)
    stage.upstream.realtime.manners.refuse, stage.upstream.realtime.manners.refusal = status, refusal
    answer = refused(caller, alias)
    assert code_of(answer) == (answered, code)
    assert stage.api_key.encode() not in (answer.body or b"")
    assert {call.state for call in caller.calls} == {"released"}
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    assert stage.upstream.realtime.handshakes == handshakes
    eventually(lambda: Upstream.objects.get(pk=upstream.pk).alarms == alarms)


def test_a_refusal_keeps_the_vendors_code_and_member(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    manners = stage.upstream.realtime.manners
    manners.refuse, manners.refusal = 400, {"code": "invalid_value", "param": "model"}
    error = json.loads(refused(caller, alias).body or b"")["error"]
    assert (error["details"], error["param"]) == ({"code": "invalid_value"}, "model")


def test_a_refusal_that_is_too_large_counts_by_its_status(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    manners = stage.upstream.realtime.manners
    manners.refuse, manners.refusal = 401, {"message": "x" * 200_000}
    assert code_of(refused(caller, alias)) == (503, "model_unavailable")


def test_a_handshake_that_is_reset_is_sent_three_times(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.resets = True
    assert code_of(refused(caller, alias)) == (502, "upstream_error")
    assert stage.upstream.realtime.handshakes == 3
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


def test_an_overloaded_upstream_leaves_the_session_to_another(stage: Stage) -> None:
    with FakeUpstream(api_key=stage.api_key) as busy:
        busy.realtime.manners.refuse, busy.realtime.manners.refusal = 503, OVERLOADED
        row = stage.upstream_row(adapter="realtime", base_url=busy.base_url)
        caller, alias = talker(stage), live_model(stage, upstream=row)
        Deployment.objects.create(
            alias=Alias.objects.get(name=alias),
            upstream=stage.upstream_row(adapter="realtime"),
            model="live-1",
            priority=1,
        )
        with opened(caller, alias) as session:
            session.say("Hello")
        assert (busy.realtime.handshakes, stage.upstream.realtime.handshakes) == (1, 1)
    assert settled(caller).charge_microusd == 132


def test_nobody_listening_releases_the_hold_and_frees_the_key(stage: Stage) -> None:
    caller = talker(stage)
    upstream = stage.upstream_row(adapter="realtime", base_url=f"http://127.0.0.1:{closed_port()}/v1")
    alias = live_model(stage, upstream=upstream)
    assert code_of(refused(caller, alias, key="one")) == (502, "upstream_error")
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}
    upstream.base_url = stage.upstream.base_url
    upstream.save()
    other = live_model(stage)
    with opened(caller, other, key="one"):
        pass


def test_a_mute_upstream_is_given_up(stage: Stage) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(16)
        row = stage.upstream_row(
            adapter="realtime",
            base_url=f"http://127.0.0.1:{listener.getsockname()[1]}/v1",
            timeout_seconds=0.3,
        )
        caller, alias = talker(stage), live_model(stage, upstream=row)
        assert code_of(refused(caller, alias)) == (502, "upstream_error")
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


def test_a_key_in_use_conflicts_and_a_used_one_ends_with_its_own_close_code(stage: Stage) -> None:
    caller, alias = talker(stage, balance=3_000_000), live_model(stage)
    with opened(caller, alias, key="one") as session:
        answer = refused(caller, alias, key="one")
        assert code_of(answer) == (409, "idempotency_in_progress")
        assert answer.headers["Retry-After"] == "1"
        session.say("Hello")
    call = settled(caller)
    with opened(caller, alias, key="one", begin=False) as again:
        assert again.headers["x-service-usage-id"] == call.id
        assert again.headers["x-service-charge-microusd"] == str(call.charge_microusd)
        code, events = again.ending()
    assert (code, [event["error"]["code"] for event in events]) == (4409, ["idempotency_key_reused"])
    assert len(caller.calls) == 1
    other = live_model(stage)
    assert code_of(refused(caller, other, key="one")) == (422, "idempotency_key_reused")


@pytest.mark.parametrize("twice", ["service.token.", "service.proof.", "service.key.", "service.max."])
def test_a_credential_that_comes_twice_is_refused(stage: Stage, twice: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    offers = subprotocols_of(caller)
    [offer] = [each for each in offers if each.startswith(twice)]
    assert refused(caller, alias, subprotocols=[*offers, offer]).status_code in (400, 401)
    assert_nothing_happened(stage, caller)


def test_a_credential_in_both_places_is_refused(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    answer = refused(caller, alias, subprotocols=subprotocols_of(caller), headers=headers_of(caller))
    assert answer.status_code == 401
    assert_nothing_happened(stage, caller)


def test_subprotocols_count_only_beside_ours(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    answer = refused(caller, alias, subprotocols=subprotocols_of(caller)[1:])
    assert code_of(answer) == (401, "invalid_dpop_proof")


def test_a_proof_for_another_address_or_method_is_refused(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    for method, path in (("POST", PATH), ("GET", "/v1/realtime2")):
        headers = {**headers_of(caller), **caller.headers(path, method=method)}
        assert code_of(refused(caller, alias, headers=headers)) == (401, "invalid_dpop_proof")


def test_a_token_that_has_ended_is_refused(stage: Stage) -> None:
    caller = talker(stage, now=timezone.now() - timedelta(minutes=10))
    assert code_of(refused(caller, live_model(stage))) == (401, "invalid_token")


def test_a_plain_request_needs_a_handshake(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    answer = stage.client.get(f"{caller.origin}{PATH}?model={alias}", headers=headers_of(caller))
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
    assert stage.client.get(f"{caller.origin}{PATH}?model={alias}").status_code == 401
    assert stage.client.post(f"{caller.origin}{PATH}").status_code == 405
    assert_nothing_happened(stage, caller)


def test_control_characters_are_refused(stage: Stage) -> None:
    caller = talker(stage)
    answer = stage.client.get(f"{caller.origin}{PATH}?model=a%00b", headers={**headers_of(caller), **UPGRADE})
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, "invalid_request")
