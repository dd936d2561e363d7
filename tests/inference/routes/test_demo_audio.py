"""The audio routes with the demo backend, which neither speaks nor hears, and says so."""

import io
import math
import wave
from typing import Any

import openai
import pytest

from inference.rules.audio.length import read_length
from tests.factories.audio import wav
from tests.inference.audio.test_lengths import Stored, stopped
from tests.inference.routes.sdk import sdk
from tests.support.stage import Caller, Stage

PRICE = {"input_character": "15", "audio_second": "100"}
TEXT = "Badgers sleep through the winter, or nearly so."  # 47 characters, a little over three seconds


def demo(stage: Stage) -> str:
    routes = {"routes": ["audio.speech", "audio.transcriptions", "audio.translations"]}
    return stage.model(
        "demo-audio", upstream=stage.upstream_row(adapter="demo", base_url=""), price=PRICE, options=routes
    )


@pytest.fixture
def world(stage: Stage) -> tuple[str, Caller]:
    return demo(stage), stage.caller()


def test_speech_is_a_tone_that_plays_as_long_as_the_words_would(world: Any) -> None:
    alias, caller = world
    with sdk(caller) as client:
        audio = client.audio.speech.create(model=alias, input=TEXT, voice="alloy", response_format="wav").content
    with wave.open(io.BytesIO(audio)) as file:
        assert (file.getframerate(), file.getnchannels(), file.getsampwidth()) == (24_000, 1, 2)
        assert file.getnframes() / file.getframerate() == pytest.approx(len(TEXT) / 15, abs=0.05)
        assert max(file.readframes(1000)) > 0
    assert caller.only_call.charge_microusd == 705


@pytest.mark.parametrize("layout", ["mp3", "pcm"])
def test_other_formats_that_need_no_encoder(world: Any, layout: str) -> None:
    alias, caller = world
    with sdk(caller) as client:
        audio = client.audio.speech.create(model=alias, input=TEXT, voice="alloy", response_format=layout).content
    if layout == "mp3":
        assert read_length(Stored(audio), stopped).seconds == math.ceil(len(TEXT) / 15)
    else:
        assert len(audio) == pytest.approx(48_000 * len(TEXT) / 15, rel=0.02)


@pytest.mark.parametrize("layout", ["opus", "aac", "flac"])
def test_a_format_that_needs_an_encoder_is_refused_and_costs_nothing(world: Any, layout: str) -> None:
    alias, caller = world
    with sdk(caller) as client, pytest.raises(openai.BadRequestError) as refused:
        client.audio.speech.create(model=alias, input=TEXT, voice="alloy", response_format=layout)
    assert refused.value.param == "response_format"
    assert caller.wallet == {"balance": 1_000_000, "held": 0, "debt": 0}


@pytest.mark.parametrize("route", ["transcriptions", "translations"])
@pytest.mark.parametrize("layout", ["json", "verbose_json", "text", "srt", "vtt"])
def test_what_it_hears_is_that_it_cannot(world: Any, route: str, layout: str) -> None:
    alias, caller = world
    with sdk(caller) as client:
        transcription = getattr(client.audio, route).create(
            model=alias, file=("a.wav", wav(1.5)), response_format=layout
        )
    text = transcription if isinstance(transcription, str) else transcription.text
    assert "This is the demo backend, which cannot hear. It got 2 seconds of wav." in text
    assert caller.only_call.charge_microusd == 200


def test_it_streams_what_it_tells(world: Any) -> None:
    alias, caller = world
    with (
        sdk(caller) as client,
        client.audio.transcriptions.create(model=alias, file=("a.wav", wav(1.5)), stream=True) as stream,
    ):
        *deltas, done = list(stream)
    assert "".join(event.delta for event in deltas) == done.text
    assert done.usage.seconds == 2
    assert caller.only_call.charge_microusd == 200
