"""Single events: what is refused by name, and what of the upstream's own words reaches nobody."""

import json
from typing import Any

import pytest

from tests.inference.realtime.test_sessions import HELLO, cost
from tests.support.sessions import live_model, opened, settled, talker
from tests.support.stage import Stage

TURNS = {"type": "server_vad"}


def session_with(**members: Any) -> dict[str, Any]:
    return {"type": "session.update", "session": {"type": "realtime", **members}}


def input_audio(**members: Any) -> dict[str, Any]:
    return session_with(audio={"input": members})


def item(**members: Any) -> dict[str, Any]:
    return {"type": "conversation.item.create", "item": {"type": "message", "role": "user", **members}}


def response(**members: Any) -> dict[str, Any]:
    return {"type": "response.create", "response": members}


MCP = {"type": "mcp", "server_label": "x", "server_url": "https://evil.example"}
IMAGE = {"type": "input_image", "image_url": "data:image/png;base64,AAAA"}

REFUSED = [
    ({}, "type"),
    ({"type": 7}, "type"),
    ({"type": "unheard.of"}, "type"),
    ({"type": "transcription_session.update", "session": {}}, "type"),
    ({"type": "session.update"}, "session"),
    ({"type": "session.update", "session": []}, "session"),
    (session_with(model="gpt-other"), "session.model"),
    (session_with(type="transcription"), "session.type"),
    (session_with(tools=[MCP]), "session.tools.0.type"),
    (session_with(tools=[{"type": "function", "name": "f"}, {"type": "web_search"}]), "session.tools.1.type"),
    (session_with(tools="all"), "session.tools"),
    (session_with(prompt={"id": "pmpt_1"}), "session.prompt"),
    (session_with(tracing="auto"), "session.tracing"),
    (session_with(service_tier="priority"), "session.service_tier"),
    (session_with(max_response_output_tokens=5), "session.max_response_output_tokens"),
    (session_with(max_output_tokens=0), "session.max_output_tokens"),
    (session_with(max_output_tokens=-1), "session.max_output_tokens"),
    (session_with(max_output_tokens=True), "session.max_output_tokens"),
    (session_with(max_output_tokens="many"), "session.max_output_tokens"),
    (session_with(turn_detection=TURNS), "session.turn_detection"),
    (session_with(input_audio_transcription={"model": "whisper-1"}), "session.input_audio_transcription"),
    (session_with(input_audio_format="g711_ulaw"), "session.input_audio_format"),
    (session_with(audio=[]), "session.audio"),
    (session_with(audio={"input": 3}), "session.audio.input"),
    (input_audio(format={"type": "audio/mp3"}), "session.audio.input.format.type"),
    (input_audio(format={"type": "audio/pcm", "rate": 48000}), "session.audio.input.format.rate"),
    (input_audio(transcription={"model": "another-model"}), "session.audio.input.transcription.model"),
    (input_audio(transcription="whisper-1"), "session.audio.input.transcription"),
    (
        input_audio(turn_detection={**TURNS, "idle_timeout_ms": 5000}),
        "session.audio.input.turn_detection.idle_timeout_ms",
    ),
    (input_audio(turn_detection={**TURNS, "create_response": 1}), "session.audio.input.turn_detection.create_response"),
    (input_audio(turn_detection="server_vad"), "session.audio.input.turn_detection"),
    ({"type": "input_audio_buffer.append"}, "audio"),
    ({"type": "input_audio_buffer.append", "audio": [1]}, "audio"),
    ({"type": "conversation.item.create"}, "item"),
    (item(type="mcp_approval_response"), "item.type"),
    (item(content=[IMAGE]), "item.content.0.type"),
    (item(content="text"), "item.content"),
    (item(content=[{"type": "input_audio", "audio": 5}]), "item.content.0.audio"),
    (response(model="gpt-other"), "response.model"),
    (response(tools=[MCP]), "response.tools.0.type"),
    (response(prompt={"id": "pmpt_1"}), "response.prompt"),
    (response(max_response_output_tokens=9999), "response.max_response_output_tokens"),
    (response(max_output_tokens=1.5), "response.max_output_tokens"),
    (response(input=[{"type": "message", "role": "user", "content": [IMAGE]}]), "response.input.0.content.0.type"),
    (response(input={}), "response.input"),
    ({"type": "response.create", "response": 5}, "response"),
    ({"type": "response.cancel", "event_id": 7}, "event_id"),
    ({"type": "response.cancel", "event_id": "x" * 513}, "event_id"),
]


@pytest.mark.parametrize(
    ("event", "param"), REFUSED, ids=[str(n) + " " + param for n, (_, param) in enumerate(REFUSED)]
)
def test_what_could_cost_and_is_not_bounded_is_refused_by_name(stage: Stage, event: dict[str, Any], param: str) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.socket.send(json.dumps(event))
        error = session.until("error")["error"]
        assert (error["code"], error["param"], error["type"]) == ("invalid_request", param, "invalid_request_error")
        session.say(HELLO)
    assert len(stage.upstream.realtime.sessions[0].events) == 3
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_the_aliass_own_name_and_functions_pass(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    function = {"type": "function", "name": "look", "description": "Looks.", "parameters": {"type": "object"}}
    settings = {"type": "realtime", "model": alias, "tools": [function], "instructions": "Be brief.", "novelty": 1}
    with opened(caller, alias) as session:
        session.send("session.update", session=settings, event_id="mine")
        updated = session.until("session.updated")["session"]
        assert (updated["model"], updated["tools"], updated["instructions"]) == (alias, [function], "Be brief.")
    sent = stage.upstream.realtime.sessions[0].of("session.update")[1]
    assert sent["event_id"] == "mine"
    assert {name: sent["session"][name] for name in ("tools", "instructions", "novelty")} == {
        "tools": [function],
        "instructions": "Be brief.",
        "novelty": 1,
    }
    assert "model" not in sent["session"]


def test_nothing_of_the_upstreams_own_reaches_the_client(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    failed = {
        "type": "response.done",
        "response": {
            "id": "r1",
            "status": "failed",
            "status_details": {
                "type": "failed",
                "error": {
                    "type": "server_error",
                    "code": "org-secret",
                    "message": "host-7.internal sk-upstream-secret-0001",
                },
            },
            "usage": None,
        },
    }
    untranscribed = {
        "type": "conversation.item.input_audio_transcription.failed",
        "item_id": "i",
        "error": {"type": "x", "code": "audio_unintelligible", "message": "sk-upstream-secret-0001"},
    }
    stage.upstream.realtime.manners.first = [json.dumps(failed), json.dumps(untranscribed)]
    with opened(caller, alias) as session:
        session.send("conversation.item.delete", item_id="none", event_id="mine")
        error = session.until("error")["error"]
        assert error["event_id"] == "mine"
        session.say(HELLO)
        session.send("input_audio_buffer.clear")
        session.until("input_audio_buffer.cleared")
    seen = json.dumps(session.seen) + str(session.headers)
    for secret in (stage.api_key, "host-7.internal", "org-secret", "rate_limits", "live-1", "sess_upstream_1"):
        assert secret not in seen
    done = next(event for event in session.seen if event["type"] == "response.done")
    assert done["response"]["status_details"]["error"]["code"] == "upstream_error"
    assert settled(caller).charge_microusd == cost(4, 0, 8)


def test_the_gateways_own_events_are_nobody_elses(stage: Stage) -> None:
    caller, alias = talker(stage), live_model(stage)
    with opened(caller, alias) as session:
        session.say(HELLO)
    kinds = [event["type"] for event in session.seen]
    assert kinds[0] == "session.created"
    assert "session.updated" not in kinds
