"""How sessions end: with their token, their access, the patience with silence, or either side; and how they go on."""

import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from accounts.models import Account
from accounts.operations import consents, suspension
from gateway.core.runtime import background
from organizations.operations import suspension as org_suspension
from tests.factories.proofs import ISSUER, Signer, mint_token
from tests.inference.calls.test_organizations import World
from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.concurrency import eventually
from tests.support.sessions import PATH, SCOPES, Session, code_of, live_model, opened, refused, settled, talker
from tests.support.stage import Caller, Stage

ENDS_SECONDS = 8
"""Enough to open a session on a busy machine, and little enough to wait for."""


@pytest.fixture
def quick(settings: Any) -> None:
    """Check in all the time."""
    settings.STREAM_CHECKPOINT_SECONDS = 0.05


def renew(session: Session, caller: Caller, token: str, signer: Signer | None = None, **claims: Any) -> dict[str, Any]:
    """Present a token, and give what is answered."""
    proof = (signer or caller.signer).proof(claims.pop("method", "GET"), PATH, token, **claims)
    session.send("service.reauthorize", access_token=token, proof=proof, event_id="renewal")
    while (event := session.receive())["type"] not in ("service.reauthorized", "error"):
        pass
    return event


def ending_soon(stage: Stage) -> Caller:
    """Make a caller whose token ends in ENDS_SECONDS."""
    return talker(stage, now=timezone.now() - timedelta(seconds=300 - ENDS_SECONDS))


def test_a_session_ends_with_its_token(stage: Stage) -> None:
    caller, alias = ending_soon(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4401, "invalid_token")
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_a_newer_token_prolongs_it(stage: Stage) -> None:
    caller, alias, ends_at = ending_soon(stage), live_model(stage), time.time() + ENDS_SECONDS
    with opened(caller, alias) as session:
        token = mint_token(caller.did, SCOPES, caller.signer, consents=["realtime"])
        event = renew(session, caller, token)
        assert event["type"] == "service.reauthorized"
        assert event["expires_at"] > time.time() + 200
        eventually(lambda: time.time() > ends_at)
        session.say(HELLO)
    assert settled(caller).charge_microusd == cost(4, 0, 8)
    assert caller.token not in str(stage.upstream.realtime.sessions[0].events)
    assert stage.upstream.realtime.sessions[0].of("service.reauthorize") == []


def test_a_session_whose_task_is_cancelled_is_charged_all_the_same(stage: Stage) -> None:
    """As every task is when its event loop ends."""
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        [task] = [task for task in background._running.copy() if "_supervise" in repr(task)]
        task.get_loop().call_soon_threadsafe(task.cancel)
        session.ending()
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def token_of(caller: Caller, **fields: Any) -> str:
    did, scopes, signer = (
        fields.pop(n, d) for n, d in (("did", caller.did), ("scopes", SCOPES), ("signer", caller.signer))
    )
    return mint_token(did, scopes, signer, **{"consents": ["realtime"], **fields})


@pytest.mark.parametrize(
    ("make", "code"),
    [
        (lambda caller, stage: token_of(caller, did=stage.caller().did), "invalid_token"),
        (lambda caller, stage: token_of(caller, client_id="https://other.example"), "invalid_token"),
        (lambda caller, stage: token_of(caller, product="courier"), "invalid_token"),
        (lambda caller, stage: token_of(caller, scopes=["realtime:connect"]), "insufficient_scope"),
        (lambda caller, stage: token_of(caller, scopes=["infer:*"]), "insufficient_scope"),
        (lambda caller, stage: token_of(caller, consents=[]), "consent_required"),
        (lambda caller, stage: token_of(caller, signer=Signer()), "invalid_token"),
        (lambda caller, stage: token_of(caller, now=timezone.now() - timedelta(hours=1)), "invalid_token"),
        (lambda caller, stage: "nonsense", "invalid_token"),
    ],
)
def test_another_token_prolongs_nothing(stage: Stage, make: Callable[..., str], code: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        refused = renew(session, caller, make(caller, stage))
        assert (refused["error"]["code"], refused["error"]["event_id"]) == (code, "renewal")
        session.say(HELLO)


def test_another_key_with_its_own_token_prolongs_nothing(stage: Stage) -> None:
    caller, alias, signer = talker(stage), live_model(stage), Signer()
    with opened(caller, alias) as session:
        refused = renew(session, caller, token_of(caller, signer=signer), signer)
        assert refused["error"]["code"] == "invalid_token"


def test_a_proof_prolongs_once_and_only_for_this_address(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    token = token_of(caller)
    with opened(caller, alias) as session:
        assert renew(session, caller, token, method="POST")["error"]["code"] == "invalid_dpop_proof"
        once = uuid.uuid4().hex
        assert renew(session, caller, token, jti=once)["type"] == "service.reauthorized"
        assert renew(session, caller, token, jti=once)["error"]["code"] == "invalid_dpop_proof"


@pytest.mark.parametrize("members", [{}, {"access_token": 1, "proof": "x"}, {"access_token": "ä", "proof": "x"}])
def test_a_renewal_without_its_parts_is_refused(stage: Stage, members: dict[str, Any]) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.send("service.reauthorize", **members)
        assert session.until("error")["error"]["param"] == "access_token"


def test_a_suspended_account_ends_its_sessions(stage: Stage, quick: None) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        suspension.suspend(account=Account.objects.get(did=caller.did), now=timezone.now())
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4401, "invalid_token")
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_a_withdrawn_consent_ends_open_sessions(stage: Stage, quick: None) -> None:
    caller, alias = talker(stage), live_model(stage)
    account = Account.objects.get(did=caller.did)
    consents.give(account=account, client_id=ISSUER, kind="realtime", now=timezone.now())
    with opened(caller, alias) as session:
        session.say(HELLO)
        consents.withdraw(account=account, consent_id=account.consents.get().pk, now=timezone.now())
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4403, "consent_required")
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_silence_ends_a_session(stage: Stage, settings: Any) -> None:
    settings.REALTIME_IDLE_SECONDS = 2.0
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        code, _ = session.ending()
    assert code == 4408
    assert settled(caller).charge_microusd == 0


def test_a_message_that_is_too_big_ends_a_session(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
        session.send("input_audio_buffer.append", audio="A" * (4 * 1024 * 1024))
        code, _ = session.ending()
    assert code == 1009
    assert settled(caller).charge_microusd == cost(4, 0, 8)


@pytest.mark.parametrize("first", ["no json", "[1]", '{"no": "type"}', '{"type": 7}', "A" * (5 * 1024 * 1024)])
def test_an_upstream_that_speaks_nonsense_ends_a_session(stage: Stage, first: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.first = [first]
    with opened(caller, alias) as session:
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) in {(1011, "upstream_invalid"), (1011, "upstream_error")}
    assert settled(caller).charge_microusd == 0


def test_an_upstream_without_pongs_is_dead(stage: Stage, settings: Any) -> None:
    settings.SOCKET_PING_SECONDS = 1.0
    caller, alias = talker(stage), live_model(stage)
    stage.upstream.realtime.manners.pongs = False
    with opened(caller, alias) as session:
        code, _ = session.ending()
    assert code == 1011
    assert settled(caller).charge_microusd == 0


class Organization(World):
    """An organization whose member may open sessions."""

    def __init__(self, stage: Stage) -> None:
        super().__init__(stage)
        self.own = replace(self.own, token=mint_token(self.own.did, SCOPES, self.own.signer, consents=["realtime"]))


def test_an_organization_pays_for_its_sessions_until_access_ends(stage: Stage, quick: None) -> None:
    organization, alias = Organization(stage), live_model(stage)
    with opened(organization.context(), alias, max_cost=500_000) as session:
        assert organization.wallet == (1_000_000, 500_000)
        session.say(HELLO)
        organization.end("no_seat")
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4403, "no_seat")
    eventually(lambda: organization.wallet == (1_000_000 - cost(4, 0, 8), 0))
    assert code_of(refused(organization.own, alias, max_cost=500_000)) == (402, "insufficient_funds")


def test_a_suspended_organization_ends_its_sessions_and_opens_no_others(stage: Stage, quick: None) -> None:
    organization, alias = Organization(stage), live_model(stage)
    caller = organization.context()
    with opened(caller, alias, max_cost=500_000) as session:
        session.say(HELLO)
        org_suspension.suspend(org_id=organization.team.id, text="", actor_did="did:web:localhost:operator")
        code, events = session.ending()
    assert (code, events[-1]["error"]["code"]) == (4401, "invalid_token")
    eventually(lambda: organization.wallet == (1_000_000 - cost(4, 0, 8), 0))
    assert code_of(refused(caller, alias, max_cost=500_000)) == (401, "invalid_token")
