"""The examples of the integrations' pages do what the pages say, each page by itself, against a real gateway."""

import re
import subprocess
from pathlib import Path

import pytest

from account_gateway_client import Gateway
from gateway.core.contract.capabilities import Capability
from tests.support.demo_gateway import ALICE, DemoGateway
from tests.support.integrations import PAGES, SECRETS, blocks_of

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "python"
CALL = re.compile(r'curl -X (\w+) "\$GATEWAY_BASE_URL(/[^"]*)"')
PRINTED = {
    "projects.md": r"True 256\nrevision_conflict \{'version': \d+\}\n",
    "ci.md": r"builds build-9 running\n    test running\n",
    "evolution.md": r"succeeded b'Answer in one sentence\.\\n'\n",
    "account-key.md": r"key_[0-9a-z]{26} 32\n",
}


@pytest.fixture(scope="module")
def alice(integrations_gateway: DemoGateway) -> Gateway:
    return integrations_gateway.sign_in(*Capability)


@pytest.fixture(scope="module")
def ids(alice: Gateway) -> dict[str, str]:
    """What the shell examples take from their environment."""
    docs = next(project for project in alice.projects.list() if project["name"] == "Docs")
    artifact = alice.evolution.keep_artifact("prompt", "Answer in one sentence.")
    return {"PROJECT_ID": docs["projectId"], "ARTIFACT_ID": artifact["artifactId"]}


@pytest.mark.parametrize("name", PAGES)
def test_the_examples_of_a_page(
    name: str, integrations_gateway: DemoGateway, alice: Gateway, ids: dict[str, str], tmp_path: Path
) -> None:
    """The shell's examples run first: the one in Python may read what they wrote."""
    shell = [block for block in blocks_of(name, "sh") if CALL.search(block)]
    python = blocks_of(name, "python")
    assert len(python) == (name in PRINTED)
    assert shell or python
    for block in shell:
        _run_in_shell(block, integrations_gateway, alice, ids)
    for example in python:
        printed = _run_in_python(example, integrations_gateway, tmp_path)
        assert re.search(PRINTED[name], printed), printed


def _run_in_shell(block: str, gateway: DemoGateway, alice: Gateway, ids: dict[str, str]) -> None:
    method, path = CALL.findall(block)[0]
    for variable, value in ids.items():
        path = path.replace(f"${variable}", value)
    environment = {**ids, **SECRETS, "GATEWAY_BASE_URL": gateway.base_url, "PATH": "/usr/local/bin:/usr/bin:/bin"}
    environment |= _signed(alice, method, gateway.base_url + path)
    script = block.replace("curl -X", "curl --silent --show-error --write-out '\\n%{http_code}' -X")
    completed = subprocess.run(["bash", "-euc", script], env=environment, capture_output=True, text=True, timeout=60)
    assert completed.returncode == 0, completed.stderr
    body, _, status = completed.stdout.rpartition("\n")
    assert status in ("200", "201", "202"), body


def _signed(gateway: Gateway, method: str, url: str) -> dict[str, str]:
    token = gateway.signer.tokens.token()
    return {"ACCESS_TOKEN": token, "PROOF": gateway.signer.headers(method, url, token)["DPoP"]}


def _run_in_python(example: str, gateway: DemoGateway, directory: Path) -> str:
    assert ALICE in example
    script = directory / "example.py"
    local = example.replace("http://localhost:8000", gateway.base_url)
    script.write_text(local.replace(".data", str(gateway.data_dir)))
    completed = gateway.run(str(script), PYTHONPATH=str(CLIENT))
    assert completed.returncode == 0, completed.stderr
    return completed.stdout
