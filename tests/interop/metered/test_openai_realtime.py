"""Live sessions with the vendor's package for Node.js, over the WebSocket library that it takes."""

import base64
import json
from typing import Any

import pytest

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.interop.node_script import run_script
from tests.support.concurrency import eventually
from tests.support.sessions import SILENCE, SPEECH, headers_of, live_model, settled, talker
from tests.support.stage import Caller, Stage

pytestmark = pytest.mark.usefixtures("npm_packages")

MESSAGE = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": HELLO}]}
ASK = [{"type": "conversation.item.create", "item": MESSAGE}, {"type": "response.create"}]
SPEAK = [
    {"type": "input_audio_buffer.append", "audio": base64.b64encode(audio).decode()} for audio in (SPEECH, SILENCE)
]


def session_of(caller: Caller, model: str, *events: Any, ends: str = "service.usage", **terms: Any) -> dict[str, Any]:
    """Plan a session that says something and hangs up once an event came."""
    return {"model": model, "headers": headers_of(caller, **terms), "said": events, "ends": ends}


def run(stage: Stage, **sessions: Any) -> dict[str, Any]:
    return run_script("openai_realtime.js", f"{stage.origin}/v1", json.dumps(sessions))


def kinds(found: dict[str, Any]) -> list[str]:
    return [event["type"] for event in found["events"]]


def test_it_writes_and_talks(stage: Stage) -> None:
    alias, writer, speaker = live_model(stage), talker(stage), talker(stage)
    found = run(stage, written=session_of(writer, alias, *ASK), spoken=session_of(speaker, alias, *SPEAK))
    written, spoken = found["written"], found["spoken"]
    assert written["errors"] == spoken["errors"] == []
    words = [event["delta"] for event in written["events"] if event["type"] == "response.output_text.delta"]
    assert "".join(words).split() == [f"word{number}" for number in range(8)]
    assert written["events"][-1]["charge_microusd"] == settled(writer).charge_microusd == cost(4, 0, 8)
    assert "input_audio_buffer.committed" in kinds(spoken)
    assert spoken["events"][-1]["charge_microusd"] == settled(speaker).charge_microusd == cost(0, 0, 8, 2)


def test_its_mistakes_and_the_ceiling_are_reported(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    wrong = {"type": "session.update", "event_id": "mine", "session": {"type": "realtime", "model": "another"}}
    found = run(stage, spent=session_of(caller, alias, wrong, *ASK, ends="", max_cost=4_000))["spent"]
    assert [error["code"] for error in found["errors"]] == ["invalid_request", "max_cost_exceeded"]
    assert {(error["kind"], error["isOpenAI"]) for error in found["errors"]} == {("OpenAIRealtimeError", True)}
    assert found["code"] == 4402
    assert settled(caller).charge_microusd == 0, "the maximum does not buy an answer to so long a text"


@pytest.mark.parametrize(
    ("fields", "status"), [({"consents": []}, 403), ({"balance": 0}, 402), ({"scopes": ["infer:*"]}, 403)]
)
def test_a_refused_handshake_is_the_packages_own_error(stage: Stage, fields: dict[str, Any], status: int) -> None:
    caller, alias = talker(stage, **fields), live_model(stage)
    found = run(stage, refused=session_of(caller, alias, *ASK))["refused"]
    cause = f"Unexpected server response: {status}"
    assert found["errors"] == [{"kind": "OpenAIRealtimeError", "isOpenAI": True, "code": None, "cause": cause}]
    assert found["events"] == []
    assert stage.upstream.realtime.sessions == []
    eventually(lambda: caller.wallet["held"] == 0)
