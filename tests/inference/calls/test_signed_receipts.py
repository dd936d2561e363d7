"""What a receipt says of the request: the hash of its body, byte for byte."""

import hashlib
import json
from typing import Any

import jwt
import pytest

from organizations.rules.roles import Role
from tests.factories.audio import wav
from tests.inference.calls.test_organizations import World, error_of, world  # noqa: F401
from tests.support.forms import form
from tests.support.sessions import SCOPES, live_model, opened, settled, talker
from tests.support.stage import Caller, Stage, chat

READS = ("infer:*", "usage:read")


def claims_of(caller: Caller, usage_id: str) -> dict[str, Any]:
    answer = caller.get(f"/v1/usage/{usage_id}/receipt")
    assert answer.status_code == 200, answer.text
    keys = jwt.PyJWKSet.from_dict(caller.get("/.well-known/receipt-keys.json").json())
    receipt = answer.json()["receipt"]
    key = keys[jwt.get_unverified_header(receipt)["kid"]]
    claims: dict[str, Any] = jwt.decode(receipt, key, ["ES256"])
    return claims


@pytest.mark.parametrize("spelling", [{}, {"indent": 2}, {"separators": (",", ":"), "sort_keys": True}])
def test_the_hash_is_of_the_body_as_it_was_sent(stage: Stage, spelling: Any) -> None:
    caller = stage.caller(scopes=READS)
    body = json.dumps(chat(stage.model(max_output_tokens=100)), **spelling).encode()
    answer = caller.post(None, content=body)
    claims = claims_of(caller, answer.headers["x-service-usage-id"])
    assert claims["request_sha256"] == hashlib.sha256(body).hexdigest()
    assert claims["charge_microusd"] == int(answer.headers["x-service-charge-microusd"])
    assert claims["hold_microusd"] == int(answer.headers["x-service-hold-microusd"])


def test_a_repeated_request_keeps_the_first_ones_hash(stage: Stage) -> None:
    caller = stage.caller(scopes=READS)
    members = chat(stage.model(max_output_tokens=100))
    first, again = (json.dumps(members, indent=indent).encode() for indent in (None, 1))
    usage_ids = {caller.post(None, content=body, key="k").headers["x-service-usage-id"] for body in (first, again)}
    assert claims_of(caller, usage_ids.pop())["request_sha256"] == hashlib.sha256(first).hexdigest()
    assert not usage_ids


def test_a_streams_body_is_hashed_too(stage: Stage) -> None:
    caller = stage.caller(scopes=READS)
    body = json.dumps({**chat(stage.model(max_output_tokens=100)), "stream": True}).encode()
    usage_id = caller.post(None, content=body).headers["x-service-usage-id"]
    assert claims_of(caller, usage_id)["request_sha256"] == hashlib.sha256(body).hexdigest()


def test_a_form_is_hashed_with_its_boundaries(stage: Stage, settings: Any, tmp_path: Any) -> None:
    settings.UPLOADS_DIR = str(tmp_path)
    routes = {"routes": ["audio.transcriptions"]}
    alias, caller = stage.model(price={"audio_second": "100.5"}, options=routes), stage.caller(scopes=READS)
    sent = form(wav(2.4), [("model", alias)])
    answer = caller.post(sent, path="/v1/audio/transcriptions")
    claims = claims_of(caller, answer.headers["x-service-usage-id"])
    assert claims["request_sha256"] == hashlib.sha256(sent.content).hexdigest()
    assert claims["components"] == [
        {"component": "audio_second", "quantity": 3, "unitPriceMicrousd": "100.5", "amountMicrousd": "301.500000"}
    ]


def test_a_session_has_no_body(stage: Stage) -> None:
    caller, alias = talker(stage, scopes=(*SCOPES, "usage:read")), live_model(stage)
    with opened(caller, alias) as session:
        session.say("hello")
    call = settled(caller)
    claims = claims_of(caller, call.pk)
    assert (claims["route"], claims["request_sha256"]) == ("realtime", None)
    assert claims["charge_microusd"] == call.charge_microusd


@pytest.mark.parametrize("role", list(Role))
@pytest.mark.parametrize("suffix", ["", "/receipt"])
def test_a_member_sees_what_the_list_shows(stage: Stage, world: World, role: Role, suffix: str) -> None:  # noqa: F811
    alias = stage.model(max_output_tokens=50)
    others = world.context().post(chat(alias)).headers["x-service-usage-id"]
    member = stage.caller(scopes=("infer:*", "usage:read"))
    world.join(member, role)
    caller = world.context(member, product=None)
    own = caller.post(chat(alias)).headers["x-service-usage-id"]
    assert caller.get(f"/v1/usage/{own}{suffix}").status_code == 200
    assert error_of(member.get(f"/v1/usage/{own}{suffix}")) == (404, "not_found"), (
        "the organization's, not the person's"
    )
    seen = caller.get(f"/v1/usage/{others}{suffix}")
    assert seen.status_code == (200 if role in (Role.OWNER, Role.BILLING) else 404)
    if suffix:
        assert claims_of(caller, own)["sub"] == world.team.id
