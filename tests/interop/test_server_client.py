"""The JavaScript client on a product's server, against a gateway that asks for nonces."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.interop.node_script import run_script
from tests.support.demo_gateway import DemoGateway

EDWARDS = """
integrations:
  - product: studio
    issuer: https://edwards.example
    did_prefix: "did:web:edwards.example:"
    capabilities: [wallet:read]
    jwks: {jwks}
"""
PRINT_JWKS = """
import {{ ProductKey }} from "{client}/src/index.js";
import {{ readFileSync }} from "node:fs";
console.log(JSON.stringify((await ProductKey.from(readFileSync("{pem}", "utf8"))).publicJwks()));
"""
CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"
EXCHANGE, WALLET = "/v1/auth/token/exchange", "/v1/wallet"


@pytest.fixture(scope="module")
def edwards(demo: DemoGateway, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Configure an integration whose key signs by EdDSA, and return the key's file."""
    folder = tmp_path_factory.mktemp("edwards")
    pem = folder / "edwards.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", str(pem)], check=True, timeout=60)
    code = PRINT_JWKS.format(client=CLIENT, pem=pem)
    jwks = subprocess.run(
        ["node", "--input-type=module", "-e", code], check=True, capture_output=True, text=True, timeout=60
    ).stdout
    (folder / "edwards.yaml").write_text(EDWARDS.format(jwks=jwks))
    applied = demo.manage("apply", str(folder / "edwards.yaml"))
    assert applied.returncode == 0, applied.stderr
    return pem


@pytest.fixture(scope="module")
def found(demo: DemoGateway, edwards: Path) -> dict[str, Any]:
    """Have a script make calls of every kind, and return their results."""
    return run_script("our_server.js", demo.base_url, str(demo.data_dir / "demo-product.pem"), str(edwards))


def test_parallel_callers_share_one_exchange(found: dict[str, Any]) -> None:
    assert (found["wallets"], found["exchanges"]) == (50, 1)


def test_answers_have_their_receipts(found: dict[str, Any]) -> None:
    whole = found["whole"]
    assert found["text"] == whole["data"]["choices"][0]["message"]["content"]
    assert found["receipt"]["chargeMicrousd"] == whole["receipt"]["chargeMicrousd"] > 0
    assert found["claims"]["charge_microusd"] == whole["receipt"]["chargeMicrousd"]


def test_refusals_are_the_gateways(found: dict[str, Any]) -> None:
    assert found["refused"] == ["GatewayError", 403, "insufficient_scope"]
    assert found["beyond"] == ["GatewayError", 403, "insufficient_scope"]
    assert found["stranger"] == ["GatewayError", "invalid_grant"]


def test_an_assertion_serves_once_and_its_key_alone(found: dict[str, Any]) -> None:
    assert found["abused"] == {"stolen": "invalid_grant", "first": "string", "replayed": "invalid_grant"}


@pytest.mark.parametrize("clock", ["fast", "slow"])
def test_a_clock_that_is_five_minutes_off(found: dict[str, Any], clock: str) -> None:
    exchanges = [[EXCHANGE, 400], [EXCHANGE, 200]]
    assert found[clock]["requests"] == [*exchanges, [WALLET, 401], [WALLET, 200]], "the proof lacked a nonce alone"


def test_a_key_that_signs_by_eddsa(found: dict[str, Any]) -> None:
    assert found["account"]["did"] == "did:web:edwards.example:eve"


def charges_of(part: dict[str, Any]) -> list[Any]:
    """Return the charges of a part's receipts."""
    return [receipt["chargeMicrousd"] for receipt in part["receipts"]]


@pytest.mark.usefixtures("npm_packages")
def test_the_ai_sdk_with_each_of_its_providers(demo: DemoGateway) -> None:
    answers = run_script("ai_sdk.js", demo.base_url, str(demo.data_dir / "demo-product.pem"))
    assert answers["embedded"] == [True, 1]
    assert answers["refused"] == [403, "insufficient_scope"]
    assert set(answers["found"]) == {"responses", "chat", "compatible", "messages"}
    for name, one in answers["found"].items():
        assert one["streamed"]["text"] == one["whole"]
        assert one["streamed"]["tokens"] > 0
        assert one["called"]["city"] == "string"
        assert "The tool answered" in one["called"]["text"]
        assert (one["structured"]["name"], one["structured"]["age"]) == ("string", "number")
        charges = [charges_of(part) for part in (one, one["streamed"], one["called"], one["structured"])]
        assert [len(paid) for paid in charges] == [1, 1, 2, 1]
        assert min(charge for paid in charges for charge in paid) > 0
        assert (one["left"]["isAborted"], charges_of(one["left"])) == (True, [None])
        repeated = one["repeated"]
        assert f"Hello, {name}" in repeated["text"]
        [receipt] = repeated["receipts"]
        assert (receipt["replayed"], repeated["keys"]) == (True, 1)
        assert receipt["chargeMicrousd"] == repeated["spent"]


def test_a_program_that_is_called_back_signs_a_person_in(demo: DemoGateway) -> None:
    answers = run_script("called_back.js", demo.base_url)
    assert answers == {
        "signedIn": {"scope": "infer:fast wallet:read"},
        "clientId": "http://127.0.0.1:7777",
        "currency": "USD",
        "device": "My tool",
        "after": "SignedOut",
    }
