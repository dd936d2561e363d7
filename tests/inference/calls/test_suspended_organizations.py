"""Calls under the token of an organization that an operator suspends: refused at once, whatever was under way."""

from dataclasses import replace
from typing import Any

import httpx
import orjson
import pytest
from pytest_django import Settings

from billing.models import Call, Wallet
from organizations.operations import suspension
from tests.factories.proofs import mint_token
from tests.inference.calls.test_organizations import PATH, SCOPES, World
from tests.inference.calls.test_rate_limits import limit, no_limits_remain  # noqa: F401
from tests.support.concurrency import at_once, eventually
from tests.support.stage import CHAT, Caller, Stage, chat

SLOW = "small-1?tokens=2000&token_delay_ms=20"
OPERATOR = "did:web:localhost:operator"


@pytest.fixture
def world(stage: Stage) -> World:
    return World(stage)


def suspend(world: World) -> None:
    assert suspension.suspend(org_id=world.team.id, text="", actor_did=OPERATOR)


def lift(world: World) -> None:
    assert suspension.lift(org_id=world.team.id, actor_did=OPERATOR)


def refused(answer: httpx.Response, world: World) -> None:
    """Check the whole refusal: the code of a suspended account, a message that names the organization, and the challenge."""
    error = answer.json()["error"]
    assert (answer.status_code, error["code"], error["type"]) == (401, "invalid_token", "authentication_error")
    assert error["message"] == f"The organization {world.team.id} is suspended. Ask the operator of this service."
    assert error["details"] == {"orgId": world.team.id, "reason": "organization_suspended"}
    assert f"The organization {world.team.id} is suspended" in answer.headers["WWW-Authenticate"]


def context(world: World, caller: Caller) -> httpx.Response:
    """Ask for an organization's token."""
    body = orjson.dumps({"orgId": world.team.id, "product": world.product})
    headers = {**caller.headers(PATH), "Content-Type": "application/json"}
    return caller.client.post(caller.origin + PATH, content=body, headers=headers)


def test_a_token_from_before_is_refused_until_the_suspension_is_lifted(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    suspend(world)
    proof = caller.headers(CHAT)
    refused(caller.post(chat(alias), headers=proof), world)
    assert caller.post(chat(alias), headers=proof).json()["error"]["code"] == "invalid_dpop_proof", "it was used up"
    for path in ("/v1/wallet", "/v1/usage", "/v1/account", "/v1/models"):
        refused(caller.get(path), world)
    assert (world.wallet, world.calls, len(stage.upstream.ledger)) == ((1_000_000, 0), [], 0)
    lift(world)
    assert caller.post(chat(alias)).status_code == 200


def test_no_new_token_is_issued(stage: Stage, world: World) -> None:
    held = world.context()
    suspend(world)
    answer = context(world, world.own)
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (403, "forbidden")
    assert error["message"] == f"The organization {world.team.id} is suspended. Ask the operator of this service."
    refused(context(world, held), world)
    assert world.own.get("/v1/account").status_code == 200, "its members are not suspended"
    lift(world)
    assert context(world, world.own).status_code == 200


def test_a_stranger_does_not_learn_that_it_is_suspended(stage: Stage, world: World) -> None:
    suspend(world)
    stranger = stage.caller(scopes=SCOPES)
    answer = context(world, stranger)
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_member")
    token = mint_token(stranger.did, SCOPES, stranger.signer, org_id=world.team.id, product=world.product)
    answer = replace(stranger, token=token).post(chat(stage.model(max_output_tokens=50)))
    assert (answer.status_code, answer.json()["error"]["code"]) == (403, "not_member")


def test_it_is_checked_after_the_idempotency_key_and_before_cost_and_funds(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    body = chat(alias)
    first = caller.post(body, key="one")
    suspend(world)
    assert caller.post(body, key="one").content == first.content, "it was paid for"
    assert caller.post(chat(alias, temperature=1), key="one").json()["error"]["code"] == "idempotency_key_reused"
    refused(caller.post(body, key="two", max_cost=1), world)
    assert len(world.calls) == 1
    poor = World(stage, balance=0)
    caller = poor.context(poor.own)
    suspend(poor)
    refused(caller.post(body), poor)


@pytest.mark.usefixtures("no_limits_remain")
def test_it_is_named_before_a_limit_that_is_used_up(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    limit("organization", world.team.id, requests_per_minute=1)
    assert caller.post(chat(alias)).status_code == 200
    assert caller.post(chat(alias)).status_code == 429
    suspend(world)
    refused(caller.post(chat(alias)), world)


def test_of_twenty_calls_at_once_each_is_charged_or_refused(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()
    headers = [caller.headers(CHAT) for _ in range(20)]
    calls = [lambda one=one: caller.post(chat(alias), headers=one) for one in headers]
    *answers, _ = at_once(*calls, lambda: suspend(world))
    accepted = [one for one in answers if one.status_code == 200]
    for one in answers:
        if one.status_code != 200:
            refused(one, world)
    charged = sum(int(one.headers["x-service-charge-microusd"]) for one in accepted)
    assert [call.state for call in world.calls] == ["settled"] * len(accepted)
    assert world.wallet == (1_000_000 - charged, 0)
    refused(caller.post(chat(alias)), world)
    assert len(world.calls) == len(stage.upstream.ledger) == len(accepted)


def test_a_call_that_was_sent_is_completed(stage: Stage, world: World) -> None:
    alias, caller = stage.model(max_output_tokens=50), world.context()

    def suspend_once_sent() -> None:
        eventually(lambda: stage.upstream.ledger)
        suspend(world)
        stage.upstream.release()

    with stage.upstream.holding():
        answer, _ = at_once(lambda: caller.post(chat(alias)), suspend_once_sent)
    assert answer.status_code == 200
    assert world.wallet == (1_000_000 - int(answer.headers["x-service-charge-microusd"]), 0)


def test_a_stream_ends_as_that_of_a_suspended_account(stage: Stage, world: World, settings: Settings) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.2
    alias, caller = stage.model(SLOW, max_output_tokens=2500), world.context()
    with caller.stream(chat(alias)) as answer:
        lines = answer.iter_lines()
        next(lines)
        suspend(world)
        rest = [line for line in lines if line]
    error = orjson.loads(rest[-2].removeprefix("data: "))["error"]
    assert (error["code"], world.team.id in error["message"]) == ("invalid_token", True)
    [call] = Call.objects.filter(org_id=world.team.id)
    assert (call.state, call.usage_record.basis) == ("settled", "delivered")
    assert world.wallet == (1_000_000 - (call.charge_microusd or 0), 0)


def test_the_wallet_says_so_too(world: World) -> None:
    wallets: Any = Wallet.objects.filter(owner_kind="organization", owner_key=world.team.id)
    suspend(world)
    assert wallets.values_list("is_suspended", flat=True).get() is True
    lift(world)
    assert wallets.values_list("is_suspended", flat=True).get() is False
