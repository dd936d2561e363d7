"""Representations with the vendor's package for Node.js: decoded from base64, as numbers, of an image, refused."""

import base64
import json
import uuid
from collections.abc import Iterator
from typing import Any

import pytest

from tests.factories.images import PNG
from tests.inference.routes.vectors import alias_options, manifest_id
from tests.interop.node_script import run_script
from tests.support.stage import EMBEDDINGS, Caller, Stage
from tests.support.vector_upstreams import RepresentationUpstream
from tests.support.vector_upstreams.ours import IMAGE_TOKENS
from tests.support.vector_upstreams.server import vector

pytestmark = pytest.mark.usefixtures("npm_packages")

DATA = base64.b64encode(PNG).decode()
IMAGE = {"type": "image_url", "image_url": {"url": f"data:image/png;base64,{DATA}"}}


@pytest.fixture
def vectors() -> Iterator[RepresentationUpstream]:
    with RepresentationUpstream() as upstream:
        yield upstream


def request_for(caller: Caller, alias: str, **members: Any) -> dict[str, Any]:
    """Build one request with the headers that prove, key and limit it."""
    headers = {**caller.headers(EMBEDDINGS), "Idempotency-Key": uuid.uuid4().hex}
    headers["x-service-max-cost-microusd"] = "100000"
    return {"body": {"model": alias, **members}, "headers": headers}


def test_representations_decoded_as_numbers_of_an_image_and_refused(
    stage: Stage, vectors: RepresentationUpstream
) -> None:
    row = stage.upstream_row(adapter="representation", base_url=vectors.base_url)
    options = alias_options(EMBEDDINGS)
    alias = stage.model("vectors-1", upstream=row, price={"input_token": "2"}, options=options, context_tokens=400)
    caller = stage.caller()
    requests = {
        "decoded": request_for(caller, alias, input=["one badger", "two"], input_type="document"),
        "numbers": request_for(caller, alias, input="one badger", input_type="query", encoding_format="float"),
        "image": request_for(caller, alias, input=[IMAGE], input_type="document"),
        "refused": request_for(caller, alias, input="x", manifest_id="of another model"),
    }
    found = run_script("openai_embeddings.js", f"{stage.origin}/v1", json.dumps(requests))
    decoded, numbers, image = (found[name]["made"] for name in ("decoded", "numbers", "image"))
    expected = [pytest.approx(vector(text, 8), abs=1e-7) for text in ("one badger", "two")]
    assert [item["embedding"] for item in decoded["data"]] == expected
    assert numbers["data"][0]["embedding"] == expected[0]
    assert image["data"][0]["embedding"] == pytest.approx(vector(DATA, 8), abs=1e-7)
    assert [made["manifest"]["input_type"] for made in (decoded, numbers, image)] == ["document", "query", "document"]
    assert {made["manifest_id"] for made in (decoded, numbers, image)} == {manifest_id(decoded["manifest"])}
    assert found["refused"]["error"] == {
        "kind": "ConflictError",
        "code": "manifest_mismatch",
        "param": "manifest_id",
        "status": 409,
    }
    assert [call.charge_microusd for call in caller.calls] == [6, 4, 2 * IMAGE_TOKENS]
