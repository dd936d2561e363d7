"""The first-party browser client outside a browser: its pure parts by Node's own tests, its transport by a live gateway."""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.interop.conftest import signed_assertion
from tests.interop.node_script import run_script
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.demo_gateway import DemoGateway

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"


def test_its_own_tests_pass() -> None:
    files = sorted(str(path) for path in (CLIENT / "test").glob("*.test.js"))
    assert files
    # In one process: `node --test` starts one for each file, which takes as long as its tests.
    script = "\n".join(f"await import({json.dumps(file)});" for file in files)
    command = ["node", "--input-type=module", "--eval", script]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE_SECONDS)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    [passed] = re.findall(r"^# pass (\d+)$", completed.stdout, re.MULTILINE)
    assert int(passed) >= len(files)


@pytest.fixture(scope="module")
def found(demo: DemoGateway) -> dict[str, Any]:
    """Have a script make calls of every kind, and return their results."""
    return run_script("ours.js", demo.base_url, signed_assertion(demo, "wallet:read", "usage:read", "infer:fast"))


def test_speaks_to_a_gateway_that_asks_for_nonces(found: dict[str, Any]) -> None:
    assert found["sent"][:2] == [["/v1/auth/token/exchange", 400], ["/v1/auth/token/exchange", 200]]
    assert 401 not in [status for _, status in found["sent"]], "the nonce is kept"
    charge = found["whole"]["receipt"]["chargeMicrousd"]
    first, second = found["receipts"]
    assert first["chargeMicrousd"] == charge > 0
    assert (first["replayed"], second["replayed"]) == (False, True)
    assert found["text"] == found["again"] != ""
    assert found["text"] == found["whole"]["data"]["choices"][0]["message"]["content"]
    assert found["before"]["availableMicrousd"] - found["after"]["availableMicrousd"] == 2 * charge
    assert found["model"] == next(model for model in found["models"] if model["id"] == "fast")
    assert found["usage"][0]["usageId"] == first["usageId"]


def test_each_method_of_a_model_route_calls_it(found: dict[str, Any]) -> None:
    images = "/v1/images/generations"
    paths = {
        "embeddings": "/v1/embeddings",
        "contextualEmbeddings": "/v1/embeddings/contextual",
        "lateInteraction": "/v1/late-interaction/score",
        "images": images,
        "imageStream": images,
        "rerank": "/v1/rerank",
    }
    assert found["elsewhere"] == {method: ["insufficient_scope", path] for method, path in paths.items()}


def test_representations_come_with_their_receipts(demo: DemoGateway) -> None:
    scopes = ("wallet:read", "infer:embedding-contextual", "infer:late-interaction")
    found = run_script("our_representations.js", demo.base_url, signed_assertion(demo, *scopes))
    contextual, scored = found["contextual"]["data"], found["scored"]["data"]
    chunks = [[len(chunk["embedding"]) for chunk in document["data"]] for document in contextual["data"]]
    assert chunks == [[1024, 1024], [1024]]
    assert len(contextual["manifest_id"]) == len(scored["manifest_id"]) == 64
    best = scored["data"][0]
    [span] = best["spans"]
    assert (best["id"], span["start"], span["end"]) == ("dig", 3, 10), "UTF-16: the badger is two units"
    charges = [found[name]["receipt"]["chargeMicrousd"] for name in ("contextual", "scored")]
    assert min(charges) > 0
    assert found["spent"] == sum(charges)


def test_errors_have_the_gateways_message(found: dict[str, Any]) -> None:
    refusals = found["refusals"]
    assert refusals["model"][:3] == ["GatewayError", 403, "insufficient_scope"]
    assert refusals["cost"][:3] == ["GatewayError", 402, "max_cost_exceeded"]
    assert refusals["limit"] == ["GatewayError", 400, "invalid_request", "limit"]
    assert refusals["organizations"][:3] == ["GatewayError", 403, "insufficient_scope"]
