"""Transcriptions and translations: the file goes upstream from the disk, and its seconds are what is paid for."""

import hashlib
import json
from typing import Any

import httpx
import pytest

from inference.routes.transcriptions.bound import BoundedTranscription
from tests.factories import audio
from tests.factories.audio import wav
from tests.support.concurrency import eventually
from tests.support.forms import Form, form
from tests.support.spooled import open_uploads
from tests.support.stage import Caller, Stage

TRANSCRIPTIONS, TRANSLATIONS = "/v1/audio/transcriptions", "/v1/audio/translations"
PATHS = (TRANSCRIPTIONS, TRANSLATIONS)
PRICE = {"audio_second": "100.5"}
ROUTES = {"routes": ["audio.transcriptions", "audio.translations"]}
TEXT = "the quick brown fox"


@pytest.fixture(autouse=True)
def uploads(settings: Any, tmp_path: Any) -> Any:
    """Put uploads into a folder of the test's own, and check that it is empty in the end and has no open file."""
    settings.UPLOADS_DIR = str(tmp_path)
    yield tmp_path
    assert list(tmp_path.iterdir()) == []
    eventually(lambda: open_uploads() == [])


def model_of(stage: Stage, model: str = "small-1", price: Any = PRICE, **fields: Any) -> str:
    return stage.model(model, price=price, options=ROUTES, **fields)


def events_of(answer: httpx.Response) -> list[Any]:
    lines = answer.text.split("\n\n")
    return [json.loads(line.removeprefix("data: ")) for line in lines if line.startswith("data: ")]


def receipt_of(answer: httpx.Response) -> Any:
    [line] = [line for line in answer.text.split("\n\n") if line.startswith(": service ")]
    return json.loads(line.removeprefix(": service "))


@pytest.mark.parametrize("path", PATHS)
@pytest.mark.parametrize(
    ("container", "media_type"),
    [
        ("wav", "audio/wav"),
        ("mp3", "audio/mpeg"),
        ("m4a", "audio/mp4"),
        ("ogg", "audio/ogg"),
        ("flac", "audio/flac"),
        ("webm", "audio/webm"),
    ],
)
def test_the_hold_is_its_length_and_the_upstream_gets_the_very_bytes(
    stage: Stage, path: str, container: str, media_type: str
) -> None:
    make = audio.opus if container == "ogg" else getattr(audio, container)
    data, caller = make(2.4), stage.caller()
    answer = caller.post(form(data, [("model", model_of(stage)), ("prompt", "p")]), path=path)
    assert (answer.status_code, answer.json()["text"]) == (200, TEXT)
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["x-service-hold-microusd"] == answer.headers["x-service-charge-microusd"] == "302"
    [entry] = stage.upstream.ledger
    assert entry.path == path.removeprefix("/v1")
    sent = {name: entry.body["file"][name] for name in ("name", "type", "size", "sha256")}
    digest = hashlib.sha256(data).hexdigest()
    assert sent == {"name": f"audio.{container}", "type": media_type, "size": len(data), "sha256": digest}
    assert (entry.body["model"], entry.body["prompt"]) == ("small-1", "p")
    assert caller.wallet == {"balance": 999_698, "held": 0, "debt": 0}
    assert caller.only_call.usage_record.seconds == 3


@pytest.mark.parametrize(
    ("layout", "beginning"), [("text", f"{TEXT}\n"), ("srt", "1\n00:00:00,000"), ("vtt", "WEBVTT\n\n")]
)
@pytest.mark.parametrize("path", PATHS)
def test_an_answer_in_text_is_the_upstreams_own(stage: Stage, path: str, layout: str, beginning: str) -> None:
    caller = stage.caller()
    sent = form(wav(1.2), [("model", model_of(stage)), ("response_format", layout)])
    first, again = (caller.post(sent, path=path, key="same") for _ in range(2))
    assert (first.status_code, first.headers["content-type"]) == (200, "text/plain; charset=utf-8")
    assert first.text.startswith(beginning)
    assert (again.content, again.headers["idempotent-replayed"]) == (first.content, "true")
    assert again.headers["content-type"] == first.headers["content-type"]
    assert first.headers["x-service-charge-microusd"] == "201"


@pytest.mark.parametrize("layout", ["verbose_json", "diarized_json"])
def test_segments_come_as_they_are(stage: Stage, layout: str) -> None:
    caller = stage.caller()
    sent = form(wav(1.2), [("model", model_of(stage)), ("response_format", layout)])
    answer = caller.post(sent, path=TRANSCRIPTIONS).json()
    assert (answer["duration"], answer["segments"][0]["text"]) == (1.2, TEXT)
    assert answer["segments"][0]["id"] == 0


def test_fields_of_lists_pass_as_they_came(stage: Stage) -> None:
    fields = [
        ("timestamp_granularities[]", "word"),
        ("timestamp_granularities[]", "segment"),
        ("include[]", "logprobs"),
        ("chunking_strategy[type]", "server_vad"),
        ("language", "is"),
        ("temperature", "0.2"),
        ("novelty", "yes"),
        ("store", "false"),
    ]
    stage.caller().post(form(wav(1), [("model", model_of(stage)), *fields]), path=TRANSCRIPTIONS)
    [entry] = stage.upstream.ledger
    assert entry.body["timestamp_granularities[]"] == ["word", "segment"]
    assert {name: entry.body[name] for name, _ in fields[2:]} == dict(fields[2:])


@pytest.mark.parametrize("boundary", ["another", "a'b()+_,-./:=?c", "x" * 70])
def test_the_same_form_under_another_boundary_is_the_same_request(stage: Stage, boundary: str) -> None:
    caller, alias = stage.caller(), model_of(stage)
    fields = [("model", alias), ("language", "is")]
    first = caller.post(form(wav(1), fields), path=TRANSCRIPTIONS, key="same")
    again = form(wav(1), fields[::-1], boundary=boundary)
    again = Form(again.content, f'multipart/form-data; boundary="{boundary}"')
    replay = caller.post(again, path=TRANSCRIPTIONS, key="same")
    assert (replay.content, replay.headers["idempotent-replayed"]) == (first.content, "true")
    other = caller.post(form(wav(1.1), fields), path=TRANSCRIPTIONS, key="same")
    assert (other.status_code, other.json()["error"]["code"]) == (422, "idempotency_key_reused")
    assert len(stage.upstream.ledger) == 1


@pytest.mark.parametrize(
    ("behaviour", "seconds"),
    [
        ({"audio_seconds": 1.5}, 2),
        ({"audio_seconds": 7.0}, 7),
        ({"audio_tokens": 10**12}, 10),
        ({"usage": "missing"}, 10),
        ({"usage": "null"}, 10),
    ],
)
@pytest.mark.parametrize("stream", ["true", "false"])
def test_the_charge_is_the_upstreams_count_of_seconds_or_ours(
    stage: Stage, stream: str, behaviour: dict[str, Any], seconds: int
) -> None:
    caller, alias = stage.caller(), model_of(stage)
    stage.upstream.script(**behaviour)
    assert caller.post(form(wav(9.5), [("model", alias), ("stream", stream)]), path=TRANSCRIPTIONS).status_code == 200
    assert caller.only_call.usage_record.seconds == seconds
    assert caller.only_call.charge_microusd == -(-seconds * 1005 // 10)


def test_a_verbose_answer_without_usage_states_its_duration(stage: Stage) -> None:
    caller, alias = stage.caller(), model_of(stage, "usage-missing")
    caller.post(form(wav(9.5), [("model", alias), ("response_format", "verbose_json")]), path=TRANSCRIPTIONS)
    assert caller.only_call.usage_record.seconds == 10


@pytest.mark.parametrize("form_of_usage", ["negative", "boolean", "huge", "infinite", "partial"])
def test_a_usage_that_is_no_length_is_left_to_review(stage: Stage, form_of_usage: str) -> None:
    caller = stage.caller()
    answer = caller.post(form(wav(1.5), [("model", model_of(stage, f"usage-{form_of_usage}"))]), path=TRANSCRIPTIONS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (502, "upstream_invalid")
    assert (caller.only_call.state, caller.wallet["held"]) == ("review", 201)


def test_more_seconds_than_the_file_has_are_the_operators_loss(stage: Stage) -> None:
    caller = stage.caller()
    answer = caller.post(form(wav(1.5), [("model", model_of(stage, "usage-over-cap"))]), path=TRANSCRIPTIONS)
    assert answer.headers["x-service-charge-microusd"] == answer.headers["x-service-hold-microusd"] == "201"
    assert caller.wallet == {"balance": 999_799, "held": 0, "debt": 0}


@pytest.mark.parametrize(
    ("behaviour", "status", "code", "state"),
    [
        ("overloaded", 503, "upstream_overloaded", "released"),
        ("reject-parameter", 400, "invalid_request", "released"),
        ("reject-too-large", 413, "input_too_large", "released"),
        ("unauthorized", 503, "model_unavailable", "released"),
        ("bad-gateway", 502, "upstream_error", "released"),
        ("garbage-json", 502, "upstream_invalid", "review"),
        ("json-array", 502, "upstream_invalid", "review"),
        ("empty-body", 502, "upstream_invalid", "review"),
        ("wrong-type", 502, "upstream_invalid", "review"),
        ("cut-mid-body", 502, "upstream_error", "review"),
        ("cut-before-headers", 502, "upstream_error", "review"),
    ],
)
@pytest.mark.parametrize("path", PATHS)
def test_what_an_upstream_does_wrong(
    stage: Stage, path: str, behaviour: str, status: int, code: str, state: str
) -> None:
    caller = stage.caller()
    answer = caller.post(form(wav(1), [("model", model_of(stage, behaviour))]), path=path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert caller.only_call.state == state
    assert caller.wallet == {"balance": 1_000_000, "held": 101 if state == "review" else 0, "debt": 0}


def test_an_overloaded_upstream_gets_the_whole_file_again(stage: Stage) -> None:
    data, caller = wav(4), stage.caller()
    stage.upstream.script("overloaded")
    answer = caller.post(form(data, [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert answer.status_code == 200
    assert [entry.body["file"]["size"] for entry in stage.upstream.ledger] == [len(data)] * 2
    assert caller.only_call.charge_microusd == 402


@pytest.mark.parametrize("layout", ["text", "srt", "vtt"])
@pytest.mark.parametrize("behaviour", ["wrong-type", "cut-mid-body"])
def test_a_text_that_is_none_is_not_given(stage: Stage, layout: str, behaviour: str) -> None:
    caller = stage.caller()
    sent = form(wav(1), [("model", model_of(stage, behaviour)), ("response_format", layout)])
    assert caller.post(sent, path=TRANSCRIPTIONS).status_code == 502
    assert caller.only_call.state == "review"


@pytest.mark.parametrize(
    ("content_type", "status"),
    [
        ("text/plain", 200),
        ("text/srt; charset=utf-8", 200),
        ("text/vtt", 200),
        ("application/x-subrip", 200),
        ("text/event-stream", 502),
        ("text/html", 502),
        ("text/xml", 502),
        ("application/json", 502),
    ],
)
def test_text_is_known_by_its_type(stage: Stage, content_type: str, status: int) -> None:
    caller, alias = stage.caller(), model_of(stage)
    stage.upstream.script(content_type=content_type)
    answer = caller.post(form(wav(1), [("model", alias), ("response_format", "srt")]), path=TRANSCRIPTIONS)
    assert answer.status_code == status
    assert caller.only_call.state == ("settled" if status == 200 else "review")


def test_a_stream_ends_with_its_usage_and_its_receipt(stage: Stage) -> None:
    caller, alias = stage.caller(), model_of(stage)
    sent = form(wav(1.2), [("model", alias), ("stream", "true")])
    first, again = (caller.post(sent, path=TRANSCRIPTIONS, key="same") for _ in range(2))
    *deltas, done = events_of(first)
    assert first.headers["content-type"].startswith("text/event-stream")
    assert "".join(event["delta"] for event in deltas) == done["text"] == TEXT
    assert done["usage"] == {"type": "duration", "seconds": 2}
    assert receipt_of(first) == {"usage_id": caller.only_call.id, "charge_microusd": 201}
    assert first.text.rstrip().endswith("}")
    assert first.text.rstrip().rpartition("\n\n")[2].startswith(": service ")
    assert again.content == first.content
    assert stage.upstream.ledger.entries[0].body["stream"] == "true"


@pytest.mark.parametrize("behaviour", ["cut-first-event", "cut-mid-stream", "cut-mid-event", "error-event", "no-done"])
def test_a_stream_that_breaks_off_says_so_and_goes_to_review(stage: Stage, behaviour: str) -> None:
    caller = stage.caller()
    sent = form(wav(1.2), [("model", model_of(stage, behaviour)), ("stream", "true")])
    answer = caller.post(sent, path=TRANSCRIPTIONS)
    *_, last = events_of(answer)
    assert "error" in last
    assert receipt_of(answer)["charge_microusd"] is None
    assert "transcript.text.done" not in answer.text
    assert caller.only_call.state == "review"
    assert caller.only_call.evidence["charge_microusd"] == 201


def test_an_upstream_that_does_not_stream_is_shown_as_events(stage: Stage) -> None:
    caller = stage.caller()
    sent = form(wav(1.2), [("model", model_of(stage, "swapped")), ("stream", "true")])
    delta, done = events_of(caller.post(sent, path=TRANSCRIPTIONS))
    assert (delta["delta"], done["type"], done["text"]) == (TEXT, "transcript.text.done", TEXT)
    assert caller.only_call.charge_microusd == 201


def test_a_client_that_leaves_a_stream_pays_for_the_file(stage: Stage) -> None:
    caller = stage.caller()
    sent = form(wav(1.2), [("model", model_of(stage)), ("stream", "true")])
    headers = {
        **caller.headers(TRANSCRIPTIONS),
        "Content-Type": sent.content_type,
        "Idempotency-Key": "k",
        "x-service-max-cost-microusd": "100000",
    }
    with (
        stage.upstream.holding(),
        stage.client.stream("POST", caller.origin + TRANSCRIPTIONS, content=sent.content, headers=headers) as answer,
    ):
        pieces = answer.iter_bytes()  # dropping it would hang up
        next(pieces)
        assert len(open_uploads()) == 1
    eventually(lambda: caller.only_call.state == "settled")
    assert caller.wallet == {"balance": 999_799, "held": 0, "debt": 0}


def assert_nothing_happened(stage: Stage, caller: Caller) -> None:
    assert caller.calls == []
    assert len(stage.upstream.ledger) == 0
    assert caller.wallet["held"] == 0


@pytest.mark.parametrize(
    ("path", "fields", "param"),
    [
        (TRANSCRIPTIONS, [("response_format", "pdf")], "response_format"),
        (TRANSLATIONS, [("response_format", "diarized_json")], "response_format"),
        (TRANSCRIPTIONS, [("response_format", "json"), ("response_format", "text")], "response_format"),
        (TRANSCRIPTIONS, [("response_format", "json"), ("response_format[]", "text")], "response_format"),
        (TRANSCRIPTIONS, [("response_format[a]", "text")], "response_format"),
        (TRANSCRIPTIONS, [("stream", "perhaps")], "stream"),
        (TRANSCRIPTIONS, [("stream", "true"), ("stream[]", "true")], "stream"),
        (TRANSLATIONS, [("stream", "true")], "stream"),
        (TRANSCRIPTIONS, [("known_speaker_references[]", "data:audio/wav;base64,AA")], "known_speaker_references"),
        (TRANSCRIPTIONS, [("known_speaker_names[]", "a")], "known_speaker_names"),
        (TRANSCRIPTIONS, [("url", "https://a.example/a.wav")], "url"),
        (TRANSCRIPTIONS, [("file_id", "file-1")], "file_id"),
        (TRANSCRIPTIONS, [("file", "text")], "file"),
        (TRANSCRIPTIONS, [("file[]", "text")], "file"),
        (TRANSCRIPTIONS, [("service_tier", "flex")], "service_tier"),
        (TRANSCRIPTIONS, [("store", "true")], "store"),
        (TRANSCRIPTIONS, [("base_url", "https://a.example")], "base_url"),
        (TRANSCRIPTIONS, [("language", "a"), ("language", "b")], "language"),
        (TRANSCRIPTIONS, [("model", "second")], "model"),
    ],
)
def test_a_field_that_must_not_pass_is_named(stage: Stage, path: str, fields: Any, param: str) -> None:
    caller = stage.caller()
    answer = caller.post(form(wav(1), [("model", model_of(stage)), *fields]), path=path)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, param)
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("data", [b"", b"no sound", wav(0), b"fLaC" + bytes(500)])
def test_a_file_whose_length_cannot_be_read_is_refused(stage: Stage, data: bytes) -> None:
    caller = stage.caller()
    answer = caller.post(form(data, [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert (answer.status_code, answer.json()["error"]["param"]) == (400, "file")
    assert_nothing_happened(stage, caller)


def test_a_header_that_lies_buys_nothing(stage: Stage) -> None:
    caller = stage.caller()
    sent = form(wav(60, claims=2), [("model", model_of(stage))])
    answer = caller.post(sent, path=TRANSCRIPTIONS, max_cost=6029)
    assert answer.json()["error"]["details"] == {"requiredMicrousd": 6030}
    assert_nothing_happened(stage, caller)


@pytest.mark.parametrize("price", [{"input_token": "1", "output_token": "1"}, {"input_character": "15"}])
@pytest.mark.parametrize("path", PATHS)
def test_without_a_price_for_a_second_it_is_not_served(stage: Stage, path: str, price: Any) -> None:
    caller = stage.caller()
    answer = caller.post(form(wav(1), [("model", model_of(stage, price=price))]), path=path)
    assert (answer.status_code, answer.json()["error"]["code"]) == (503, "model_unavailable")
    assert_nothing_happened(stage, caller)


def test_an_empty_wallet_pays_for_no_second(stage: Stage) -> None:
    caller = stage.caller(balance=100)
    answer = caller.post(form(wav(1), [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (402, "insufficient_funds")
    assert caller.wallet == {"balance": 100, "held": 0, "debt": 0}


def test_a_call_that_fails_after_its_closing_is_answered_all_the_same(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    end = BoundedTranscription.end

    def end_and_fail(request: BoundedTranscription) -> None:
        end(request)
        raise OSError("no such device")

    monkeypatch.setattr(BoundedTranscription, "end", end_and_fail)
    caller = stage.caller()
    answer = caller.post(form(wav(1), [("model", model_of(stage))]), path=TRANSCRIPTIONS)
    assert (answer.status_code, answer.json()["error"]["code"]) == (500, "internal_error")
    assert caller.wallet["held"] == 0
