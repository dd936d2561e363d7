"""Speech, transcriptions and translations with the vendor's package for Node.js."""

import base64
import hashlib
import json
import uuid
from typing import Any

import pytest

from tests.factories.audio import wav
from tests.interop.node_script import run_script
from tests.support.stage import Stage
from tests.support.upstream.audio import TEXT, audio_of
from tests.support.upstream.behaviours import Behaviour

pytestmark = pytest.mark.usefixtures("npm_packages")

PRICE = {"input_character": "15", "audio_second": "100"}
ROUTES = {"routes": ["audio.speech", "audio.transcriptions", "audio.translations"]}
PATHS = {
    "speech": "/v1/audio/speech",
    "pieces": "/v1/audio/speech",
    "transcription": "/v1/audio/transcriptions",
    "stream": "/v1/audio/transcriptions",
    "translation": "/v1/audio/translations",
}


def test_every_route_in_every_way(stage: Stage) -> None:
    caller = stage.caller()
    file = base64.b64encode(wav(1.5, rate=1_000)).decode()
    spoken = {"input": "Hello.", "voice": "alloy", "response_format": "wav"}

    def request(way: str, model: str = "small-1", **body: Any) -> dict[str, Any]:
        terms = {"Idempotency-Key": uuid.uuid4().hex, "x-service-max-cost-microusd": "100000"}
        alias = stage.model(model, price=PRICE, options=ROUTES)
        return {
            "way": way,
            "file": file,
            "headers": {**caller.headers(PATHS[way]), **terms},
            "body": {"model": alias, **body},
        }

    requests = {
        "speech": request("speech", **spoken),
        "pieces": request("pieces", **spoken),
        "broken": request("pieces", "cut-mid-stream", **spoken),
        "refused": request("speech", input="", voice="alloy"),
        "json": request("transcription", timestamp_granularities=["word"], response_format="verbose_json"),
        "text": request("transcription", response_format="text"),
        "translation": request("translation", prompt="p"),
        "stream": request("stream"),
        "cut": request("stream", "cut-mid-stream"),
    }
    found = run_script("openai_audio.js", f"{stage.origin}/v1", json.dumps(requests))
    audio = audio_of(Behaviour())
    assert found["speech"] == {"sha256": hashlib.sha256(audio).hexdigest(), "type": "audio/wav", "hold": "90"}
    assert found["pieces"] == {"size": len(audio)}
    assert found["broken"]["error"]
    assert found["refused"]["error"] == {"kind": "BadRequestError", "param": "input", "isOpenAI": True}
    assert (found["json"]["answer"]["text"], found["json"]["answer"]["duration"]) == (TEXT, 1.5)
    assert found["text"]["answer"] == f"{TEXT}\n"
    assert found["translation"]["answer"]["text"] == TEXT
    *deltas, done = found["stream"]["events"]
    assert "".join(event["delta"] for event in deltas) == done["text"] == TEXT
    assert found["cut"]["error"]["isOpenAI"]
    states = sorted(call.state for call in caller.calls)
    assert states == ["review"] * 2 + ["settled"] * 6
