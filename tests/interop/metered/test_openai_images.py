"""Images with the vendor's package for Node.js: whole, streamed, refused."""

import base64
import json
import uuid
from typing import Any

import pytest

from tests.interop.node_script import run_script
from tests.support.stage import Caller, Stage
from tests.support.upstream import Behaviour
from tests.support.upstream.images import data_of

pytestmark = pytest.mark.usefixtures("npm_packages")

PATH = "/v1/images/generations"
PRICE = {"image": {"1024x1024/low": "100", "1024x1024/medium": "400"}}


def request_for(caller: Caller, alias: str, **members: Any) -> dict[str, Any]:
    """Build one request with the headers that prove, key and limit it."""
    headers = {**caller.headers(PATH), "Idempotency-Key": uuid.uuid4().hex, "x-service-max-cost-microusd": "100000"}
    return {"body": {"model": alias, "prompt": "a badger", **members}, "headers": headers}


def test_images_whole_streamed_and_refused(stage: Stage) -> None:
    caller, alias = stage.caller(), stage.model(price=PRICE, options={"routes": ["images.generations"]})
    broken = stage.model("small-1?error_event=yes", price=PRICE, options={"routes": ["images.generations"]})
    requests = {
        "whole": request_for(caller, alias, n=2, size="1024x1024", quality="low"),
        "streamed": request_for(caller, alias, stream=True, partial_images=2),
        "broken": request_for(caller, broken, stream=True, partial_images=1),
        "refused": request_for(caller, alias, size="512x512"),
    }
    found = run_script("openai_images.js", f"{stage.origin}/v1", json.dumps(requests))
    made = found["whole"]["made"]
    assert [base64.b64decode(image["b64_json"]) for image in made["data"]] == [
        data_of(Behaviour(), at) for at in (0, 1)
    ]
    partial = "image_generation.partial_image"
    events = found["streamed"]["events"]
    assert [event["type"] for event in events] == [partial, partial, "image_generation.completed"]
    assert base64.b64decode(events[-1]["b64_json"]) == data_of(Behaviour())
    assert [event["type"] for event in found["broken"]["events"]] == [partial]
    assert found["broken"]["error"]["code"] == "upstream_error"
    assert found["refused"]["error"] == {
        "kind": "InternalServerError",
        "code": "model_unavailable",
        "param": "size",
        "status": 503,
    }
    settled = [call.charge_microusd for call in caller.calls if call.state == "settled"]
    assert settled == [200, 400]
