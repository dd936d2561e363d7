"""The first-party browser client outside a browser: its pure parts by Node's own tests, its transport by a live gateway."""

import subprocess
from pathlib import Path

from tests.interop.node_script import run_script
from tests.support.demo_house import DemoHouse

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"


def test_its_own_tests_pass() -> None:
    files = sorted(str(path) for path in (CLIENT / "test").glob("*.test.js"))
    assert files
    told = subprocess.run(["node", "--test", *files], capture_output=True, text=True, timeout=120)
    assert told.returncode == 0, told.stdout + told.stderr


def test_speaks_to_a_gateway_that_asks_for_nonces(house: DemoHouse, assertion: str) -> None:
    found = run_script("ours.js", house.base_url, assertion)
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


def test_each_method_of_a_model_route_calls_it(house: DemoHouse, assertion: str) -> None:
    images = "/v1/images/generations"
    paths = {"embeddings": "/v1/embeddings", "images": images, "imageStream": images, "rerank": "/v1/rerank"}
    found = run_script("ours.js", house.base_url, assertion)["elsewhere"]
    assert found == {method: ["insufficient_scope", path] for method, path in paths.items()}


def test_errors_say_what_the_gateway_said(house: DemoHouse, assertion: str) -> None:
    refusals = run_script("ours.js", house.base_url, assertion)["refusals"]
    assert refusals["model"][:3] == ["GatewayError", 403, "insufficient_scope"]
    assert refusals["cost"][:3] == ["GatewayError", 402, "max_cost_exceeded"]
    assert refusals["limit"] == ["GatewayError", 400, "invalid_request", "limit"]
    assert refusals["organizations"][:3] == ["GatewayError", 403, "insufficient_scope"]
