"""Speech: bytes as they come, or the vendor's events; the characters are what is paid for."""

import base64
import contextlib
import json
import os
import socket
import struct
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx
import pytest
from django.utils import timezone

from accounts.models import Account
from billing.operations import reviews
from tests.support.concurrency import eventually
from tests.support.server_thread import http_server
from tests.support.stage import Caller, Stage
from tests.support.upstream.audio import MEDIA_TYPES, audio_of
from tests.support.upstream.behaviours import Behaviour

SPEECH = "/v1/audio/speech"
PRICE = {"input_character": "15.1"}
INPUT = "Badgers sleep 🦡"
HOLD = 212  # 14 characters at 15.1, rounded up
AUDIO = audio_of(Behaviour())


def model_of(stage: Stage, model: str = "small-1", price: Any = PRICE, **fields: Any) -> str:
    return stage.model(model, price=price, options={"routes": ["audio.speech"]}, **fields)


def speech(model: str, **members: Any) -> dict[str, Any]:
    return {"model": model, "input": INPUT[:14], "voice": "alloy", **members}


def events_of(text: str) -> list[Any]:
    return [json.loads(line.removeprefix("data: ")) for line in text.split("\n\n") if line.startswith("data: ")]


@pytest.mark.parametrize("layout", [None, *MEDIA_TYPES])
def test_the_bytes_come_under_the_upstreams_media_type_and_replay(stage: Stage, layout: str | None) -> None:
    caller, body = stage.caller(), speech(model_of(stage), response_format=layout)
    first, again = (caller.post(body, path=SPEECH, key="same") for _ in range(2))
    assert (first.status_code, first.content) == (200, AUDIO)
    assert first.headers["content-type"] == MEDIA_TYPES[layout or "mp3"]
    assert first.headers["x-service-hold-microusd"] == str(HOLD)
    assert first.headers["x-service-usage-id"] == caller.only_call.id
    assert "x-service-charge-microusd" not in first.headers
    assert (again.content, again.headers["idempotent-replayed"]) == (AUDIO, "true")
    assert again.headers["content-type"] == first.headers["content-type"]
    assert caller.only_call.charge_microusd == HOLD
    assert caller.only_call.usage_record.input_characters == 14
    assert caller.wallet == {"balance": 1_000_000 - HOLD, "held": 0, "debt": 0}
    assert len(stage.upstream.ledger) == 1


def test_the_first_bytes_come_before_the_last_are_generated(stage: Stage) -> None:
    caller = stage.caller()
    with stage.upstream.holding(), caller.stream(speech(model_of(stage)), path=SPEECH) as answer:
        pieces = answer.iter_bytes()
        assert next(pieces) == AUDIO[:1000]
        assert caller.only_call.state == "dispatched"
        stage.upstream.release()
        assert b"".join(pieces) == AUDIO[1000:]
    eventually(lambda: caller.only_call.state == "settled")


def test_events_come_with_the_receipt_at_their_end(stage: Stage) -> None:
    caller, body = stage.caller(), speech(model_of(stage), stream_format="sse")
    first, again = (caller.post(body, path=SPEECH, key="same") for _ in range(2))
    *deltas, done = events_of(first.text)
    assert first.headers["content-type"].startswith("text/event-stream")
    assert b"".join(base64.b64decode(event["audio"]) for event in deltas) == AUDIO
    assert (done["type"], done["usage"]["total_tokens"]) == ("speech.audio.done", 55)
    receipt = {"usage_id": caller.only_call.id, "charge_microusd": HOLD}
    assert json.loads(first.text.rstrip().rpartition("\n\n")[2].removeprefix(": service ")) == receipt
    assert again.content == first.content
    assert caller.only_call.charge_microusd == HOLD


def test_an_upstream_without_events_is_shown_as_events(stage: Stage) -> None:
    caller = stage.caller()
    answer = caller.post(speech(model_of(stage, "swapped"), stream_format="sse"), path=SPEECH)
    *deltas, done = events_of(answer.text)
    assert b"".join(base64.b64decode(event["audio"]) for event in deltas) == AUDIO
    assert done == {"type": "speech.audio.done"}
    assert caller.only_call.charge_microusd == HOLD


def test_instructions_are_characters_too(stage: Stage) -> None:
    caller = stage.caller()
    caller.post(speech(model_of(stage), instructions="Slow."), path=SPEECH)
    assert caller.only_call.usage_record.input_characters == 19
    assert stage.upstream.ledger.entries[0].body["instructions"] == "Slow."


def test_what_upstreams_may_know_passes(stage: Stage) -> None:
    members = {"speed": 1.5, "response_format": "wav", "novelty": {"a": 1}}
    stage.caller().post(speech(model_of(stage), **members), path=SPEECH)
    [entry] = stage.upstream.ledger
    assert {name: entry.body[name] for name in members} == members
    assert (entry.body["model"], entry.body["voice"]) == ("small-1", "alloy")


@pytest.mark.parametrize("behaviour", ["cut-mid-stream", "cut-mid-body"])
@pytest.mark.parametrize("reset", [True, False])
def test_bytes_that_break_off_do_not_look_whole(stage: Stage, behaviour: str, reset: bool) -> None:
    caller, alias = stage.caller(), model_of(stage)
    stage.upstream.script(behaviour, reset=reset)
    with caller.stream(speech(alias), path=SPEECH, key="same") as answer:
        assert answer.status_code == 200
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
            b"".join(answer.iter_bytes())
    eventually(lambda: caller.only_call.state == "review")
    assert caller.only_call.evidence == {"input_characters": 14, "charge_microusd": HOLD}
    assert caller.wallet == {"balance": 1_000_000, "held": HOLD, "debt": 0}
    again = caller.post(speech(alias, stream=True), path=SPEECH, key="same")  # as `stream` sent it
    assert (again.status_code, again.json()["error"]["code"]) == (409, "idempotency_in_progress")


@pytest.mark.parametrize("behaviour", ["cut-first-event", "cut-mid-stream", "cut-mid-event", "no-done"])
def test_events_that_break_off_say_so(stage: Stage, behaviour: str) -> None:
    caller = stage.caller()
    answer = caller.post(speech(model_of(stage, behaviour), stream_format="sse"), path=SPEECH)
    assert "error" in events_of(answer.text)[-1]
    assert "speech.audio.done" not in answer.text
    assert caller.only_call.state == "review"


@pytest.mark.parametrize("stream_format", ["audio", "sse"])
def test_a_client_that_leaves_pays_for_its_request(stage: Stage, stream_format: str) -> None:
    caller = stage.caller()
    with (
        stage.upstream.holding(),
        caller.stream(speech(model_of(stage), stream_format=stream_format), path=SPEECH) as answer,
    ):
        next(answer.iter_bytes())
    eventually(lambda: caller.only_call.state == "settled")
    assert caller.wallet == {"balance": 1_000_000 - HOLD, "held": 0, "debt": 0}


def assert_gone(caller: Caller, body: dict[str, Any]) -> None:
    """Repeat a call whose sound did not come to its end: it costs nothing more, and half a sound is not given for a whole."""
    again = caller.post({**body, "stream": True}, path=SPEECH, key="same")  # as `stream` sent it
    assert (again.status_code, again.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert caller.wallet == {"balance": 1_000_000 - HOLD, "held": 0, "debt": 0}


def test_audio_that_broke_off_is_not_given_again_once_it_is_charged(stage: Stage) -> None:
    caller, body = stage.caller(), speech(model_of(stage))
    stage.upstream.script("cut-mid-stream")
    with caller.stream(body, path=SPEECH, key="same") as answer, pytest.raises(httpx.RemoteProtocolError):
        b"".join(answer.iter_bytes())
    eventually(lambda: caller.only_call.state == "review")
    reviews.reconcile(now=timezone.now())
    assert_gone(caller, body)


def test_audio_whose_client_left_is_not_given_again(stage: Stage) -> None:
    caller, body = stage.caller(), speech(model_of(stage))
    with stage.upstream.holding():
        with caller.stream(body, path=SPEECH, key="same") as answer:
            next(answer.iter_bytes())
        eventually(lambda: caller.only_call.state == "settled")
    assert_gone(caller, body)


def test_audio_of_an_account_that_was_suspended_meanwhile_is_cut(stage: Stage, settings: Any) -> None:
    settings.STREAM_CHECKPOINT_SECONDS = 0.1
    caller, body = stage.caller(), speech(model_of(stage))
    account = Account.objects.filter(did=caller.did)
    with stage.upstream.holding(), caller.stream(body, path=SPEECH, key="same") as answer:
        account.update(suspended_at=timezone.now())
        with pytest.raises(httpx.RemoteProtocolError, match="incomplete"):
            b"".join(answer.iter_bytes())
    eventually(lambda: caller.only_call.state == "settled")
    account.update(suspended_at=None)
    assert_gone(caller, body)


@pytest.mark.parametrize(
    ("behaviour", "status", "code", "state"),
    [
        ("overloaded", 503, "upstream_overloaded", "released"),
        ("reject-parameter", 400, "invalid_request", "released"),
        ("unauthorized", 503, "model_unavailable", "released"),
        ("bad-gateway", 502, "upstream_error", "released"),
        ("wrong-type", 502, "upstream_invalid", "review"),
        ("empty-body", 502, "upstream_invalid", "review"),
        ("cut-before-headers", 502, "upstream_error", "review"),
    ],
)
def test_what_an_upstream_does_wrong(stage: Stage, behaviour: str, status: int, code: str, state: str) -> None:
    caller = stage.caller()
    answer = caller.post(speech(model_of(stage, behaviour)), path=SPEECH)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert caller.only_call.state == state
    assert caller.wallet == {"balance": 1_000_000, "held": HOLD if state == "review" else 0, "debt": 0}


@pytest.mark.parametrize("content_type", ["application/json", "text/event-stream", "audio/wav", "audio/mpeg\\x", ""])
def test_another_type_than_was_requested_is_not_given(stage: Stage, content_type: str) -> None:
    caller, alias = stage.caller(), model_of(stage)
    stage.upstream.script(content_type=content_type or " ")
    answer = caller.post(speech(alias), path=SPEECH)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert caller.only_call.state == "review"


@pytest.mark.parametrize(
    ("sent", "given"),
    [
        ("audio/L16; rate=24000; channels=1", "audio/L16; rate=24000; channels=1"),
        ('audio/pcm; x="inference-7.upstream.internal"', "audio/pcm"),
    ],
)
def test_parameters_of_the_type_pass_where_they_are_plain(stage: Stage, sent: str, given: str) -> None:
    caller, alias = stage.caller(), model_of(stage)
    stage.upstream.script(content_type=sent)
    answer = caller.post(speech(alias, response_format="pcm"), path=SPEECH)
    assert (answer.content, answer.headers["content-type"]) == (AUDIO, given)


def test_bytes_of_no_stated_type_are_of_the_requested_one(stage: Stage) -> None:
    caller, alias = stage.caller(), model_of(stage)
    stage.upstream.script(content_type="application/octet-stream")
    answer = caller.post(speech(alias), path=SPEECH)
    assert (answer.content, answer.headers["content-type"]) == (AUDIO, "application/octet-stream")


class _Unframed(BaseHTTPRequestHandler):
    """Answers as HTTP/1.0 servers do: the end of the connection is the end of the body."""

    def do_POST(self) -> None:
        """Answer."""
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "audio/mpeg")
        self.end_headers()
        self.wfile.write(AUDIO)

    def log_message(self, *args: Any) -> None:
        """Log nothing."""


def test_a_body_without_a_length_ends_with_its_connection(stage: Stage) -> None:
    caller = stage.caller()
    with http_server(ThreadingHTTPServer(("127.0.0.1", 0), _Unframed)) as origin:
        alias = model_of(stage, upstream=stage.upstream_row(base_url=origin))
        answer = caller.post(speech(alias), path=SPEECH)
    assert (answer.status_code, answer.content) == (200, AUDIO)
    assert caller.wallet == {"balance": 1_000_000 - HOLD, "held": 0, "debt": 0}


class _Reset(_Unframed):
    """Begins such an answer, and resets the connection."""

    def do_POST(self) -> None:
        """Answer, and have the kernel send a reset instead of an end."""
        super().do_POST()
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        os.close(self.connection.detach())


def test_a_body_without_a_length_whose_connection_is_reset_does_not_look_whole(stage: Stage) -> None:
    caller = stage.caller()
    with http_server(ThreadingHTTPServer(("127.0.0.1", 0), _Reset)) as origin:
        alias = model_of(stage, upstream=stage.upstream_row(base_url=origin))
        with contextlib.suppress(httpx.RemoteProtocolError):  # cut, or an error if nothing had been forwarded yet
            assert caller.post(speech(alias), path=SPEECH).status_code == 502
    eventually(lambda: caller.only_call.state == "review")


def assert_nothing_happened(stage: Stage, caller: Caller) -> None:
    assert caller.calls == []
    assert len(stage.upstream.ledger) == 0
    assert caller.wallet["held"] == 0


@pytest.mark.parametrize(
    ("members", "param"),
    [
        ({"input": None}, "input"),
        ({"input": ""}, "input"),
        ({"input": ["a"]}, "input"),
        ({"input": "x" * 4097}, "input"),
        ({"instructions": "x" * 4097}, "instructions"),
        ({"instructions": 1}, "instructions"),
        ({"voice": None}, "voice"),
        ({"voice": {"id": "voice_1"}}, "voice.id"),
        ({"voice": "voice_1"}, "voice"),
        ({"voice": "../etc"}, "voice"),
        ({"voice": "https://a.example/v.wav"}, "voice"),
        ({"response_format": "ogg"}, "response_format"),
        ({"response_format": 1}, "response_format"),
        ({"stream_format": "events"}, "stream_format"),
        ({"speed": 0}, "speed"),
        ({"speed": 4.1}, "speed"),
        ({"speed": True}, "speed"),
        ({"speed": "1"}, "speed"),
        ({"ref_audio": "data:"}, "ref_audio"),
        ({"extra_body": {}}, "extra_body"),
        ({"service_tier": "flex"}, "service_tier"),
    ],
)
def test_a_member_that_must_not_pass_is_named(stage: Stage, members: dict[str, Any], param: str) -> None:
    caller = stage.caller()
    answer = caller.post(speech(model_of(stage), **members), path=SPEECH)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert_nothing_happened(stage, caller)


def test_a_maximum_that_is_too_low_says_what_it_takes(stage: Stage) -> None:
    caller = stage.caller()
    answer = caller.post(speech(model_of(stage)), path=SPEECH, max_cost=HOLD - 1)
    assert answer.json()["error"]["details"] == {"requiredMicrousd": HOLD}
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("price", [{"input_token": "1", "output_token": "1"}, {"audio_second": "100"}])
def test_without_a_price_for_a_character_it_is_not_served(stage: Stage, price: Any) -> None:
    caller = stage.caller()
    answer = caller.post(speech(model_of(stage, price=price)), path=SPEECH)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
    assert_nothing_happened(stage, caller)


def test_nothing_of_the_upstreams_machinery_goes_out(stage: Stage) -> None:
    answer = stage.caller().post(speech(model_of(stage)), path=SPEECH)
    assert not {
        name for name in answer.headers if name.startswith(("openai-", "x-ratelimit", "x-served", "set-cookie"))
    }
