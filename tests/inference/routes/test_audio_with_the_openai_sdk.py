"""Speech, transcriptions and translations with the vendor's SDK."""

import asyncio
import io
from typing import Any

import openai
import pytest

from tests.factories.audio import wav
from tests.inference.routes.sdk import async_sdk, sdk
from tests.support.stage import Stage
from tests.support.upstream.audio import TEXT, audio_of
from tests.support.upstream.behaviours import Behaviour

PRICE = {"input_character": "15", "audio_second": "100"}
ROUTES = {"routes": ["audio.speech", "audio.transcriptions", "audio.translations"]}
AUDIO = audio_of(Behaviour())


def model_of(stage: Stage, model: str = "small-1") -> str:
    return stage.model(model, price=PRICE, options=ROUTES)


def spoken(stage: Stage, model: str = "small-1", **members: Any) -> dict[str, Any]:
    return {"model": model_of(stage, model), "input": "Hello.", "voice": "alloy", **members}


def test_speech_is_read_at_once_or_written_to_a_file(stage: Stage, tmp_path: Any) -> None:
    with sdk(stage.caller()) as client:
        answer = client.audio.speech.create(**spoken(stage, response_format="wav"))
        assert (answer.content, answer.response.headers["content-type"]) == (AUDIO, "audio/wav")
        answer.write_to_file(tmp_path / "a.wav")
        assert (tmp_path / "a.wav").read_bytes() == AUDIO
        raw = client.audio.speech.with_raw_response.create(**spoken(stage))
        assert raw.headers["x-service-hold-microusd"] == "90"
        assert raw.parse().read() == AUDIO


def test_speech_is_streamed_as_bytes(stage: Stage) -> None:
    with (
        sdk(stage.caller()) as client,
        client.audio.speech.with_streaming_response.create(**spoken(stage)) as answer,
    ):
        assert b"".join(answer.iter_bytes(1024)) == AUDIO


def test_speech_is_streamed_as_bytes_to_the_asynchronous_client(stage: Stage) -> None:
    caller = stage.caller()
    body = spoken(stage)

    async def run() -> bytes:
        async with (
            async_sdk(caller) as client,
            client.audio.speech.with_streaming_response.create(**body) as answer,
        ):
            return b"".join([piece async for piece in answer.iter_bytes()])

    assert asyncio.run(run()) == AUDIO


def test_speech_that_breaks_off_is_an_error(stage: Stage) -> None:
    with sdk(stage.caller()) as client, pytest.raises(Exception, match=r"incomplete|Connection error") as raised:
        client.audio.speech.create(**spoken(stage, "cut-mid-stream")).read()
    assert type(raised.value).__name__ in {"APIConnectionError", "RemoteProtocolError"}


@pytest.mark.parametrize("route", ["transcriptions", "translations"])
@pytest.mark.parametrize("kind", ["bytes", "file", "tuple"])
def test_a_file_is_sent_in_any_way_that_the_sdk_has(stage: Stage, tmp_path: Any, route: str, kind: str) -> None:
    data, alias = wav(1.5), model_of(stage)
    (tmp_path / "a.wav").write_bytes(data)
    files: dict[str, Any] = {"bytes": io.BytesIO(data), "file": tmp_path / "a.wav", "tuple": ("a.wav", data)}
    caller = stage.caller()
    with sdk(caller) as client:
        answer = getattr(client.audio, route).create(model=alias, file=files[kind], prompt="p", temperature=0.2)
    assert answer.text == TEXT
    assert caller.only_call.charge_microusd == 200


def test_every_format_is_of_the_sdks_own_type(stage: Stage) -> None:
    alias = model_of(stage)

    def ask(layout: str, **fields: Any) -> Any:
        return client.audio.transcriptions.create(
            model=alias, file=("a.wav", wav(1.5)), response_format=layout, **fields
        )

    with sdk(stage.caller()) as client:
        assert (ask("json").text, ask("json").usage.seconds) == (TEXT, 2)
        verbose = ask("verbose_json", timestamp_granularities=["word", "segment"])
        assert (verbose.duration, verbose.segments[0].text) == (1.5, TEXT)
        assert ask("diarized_json", chunking_strategy="auto").segments[0].speaker == "A"
        assert ask("text") == f"{TEXT}\n"
        assert ask("srt").startswith("1\n00:00")
        assert ask("vtt").startswith("WEBVTT")
        raw = client.audio.transcriptions.with_raw_response.create(
            model=alias, file=("a.wav", wav(1.5)), chunking_strategy={"type": "server_vad", "threshold": 0.5}
        )
        assert (raw.headers["x-service-charge-microusd"], raw.parse().text) == ("200", TEXT)
    sent = stage.upstream.ledger.entries[2].body
    assert sent["timestamp_granularities[]"] == ["word", "segment"]
    assert stage.upstream.ledger.entries[-1].body["chunking_strategy[type]"] == "server_vad"


def test_a_transcription_is_streamed(stage: Stage) -> None:
    caller, alias = stage.caller(), model_of(stage)
    with (
        sdk(caller) as client,
        client.audio.transcriptions.create(model=alias, file=("a.wav", wav(1.5)), stream=True) as stream,
    ):
        *deltas, done = list(stream)
    assert "".join(event.delta for event in deltas) == done.text == TEXT
    assert caller.only_call.charge_microusd == 200


def test_a_stream_that_breaks_off_raises_the_sdks_error(stage: Stage) -> None:
    alias = model_of(stage, "cut-mid-stream")
    with (
        sdk(stage.caller()) as client,
        client.audio.transcriptions.create(model=alias, file=("a.wav", wav(1.5)), stream=True) as stream,
        pytest.raises(openai.APIError),
    ):
        list(stream)


def test_a_refusal_is_the_sdks_own(stage: Stage) -> None:
    alias = model_of(stage)
    with sdk(stage.caller()) as client:
        with pytest.raises(openai.BadRequestError) as refused:
            client.audio.transcriptions.create(model=alias, file=("a.txt", b"no sound"))
        assert refused.value.param == "file"
        with pytest.raises(openai.BadRequestError) as refused:
            client.audio.speech.create(**spoken(stage, speed=9))
        assert refused.value.param == "speed"
