"""The examples of the integrations' pages do what the pages say, one page after the other, against a real gateway."""

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
TOLD = {
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


SHELL = [(page, number) for page in PAGES for number, block in enumerate(blocks_of(page, "sh")) if CALL.search(block)]


@pytest.mark.parametrize(("name", "number"), SHELL)
def test_a_shell_example(
    name: str, number: int, integrations_gateway: DemoGateway, alice: Gateway, ids: dict[str, str]
) -> None:
    block = blocks_of(name, "sh")[number]
    method, path = CALL.findall(block)[0]
    for variable, value in ids.items():
        path = path.replace(f"${variable}", value)
    environment = {
        **ids,
        **SECRETS,
        "GATEWAY_BASE_URL": integrations_gateway.base_url,
        "PATH": "/usr/local/bin:/usr/bin:/bin",
    }
    environment |= _signed(alice, method, integrations_gateway.base_url + path)
    script = block.replace("curl -X", "curl --silent --show-error --write-out '\\n%{http_code}' -X")
    told = subprocess.run(["bash", "-euc", script], env=environment, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr
    body, _, status = told.stdout.rpartition("\n")
    assert status in ("200", "201", "202"), body


def _signed(gateway: Gateway, method: str, url: str) -> dict[str, str]:
    token = gateway.signer.tokens.token()
    return {"ACCESS_TOKEN": token, "PROOF": gateway.signer.headers(method, url, token)["DPoP"]}


@pytest.mark.parametrize("name", TOLD)
def test_the_python_example(name: str, integrations_gateway: DemoGateway, tmp_path: Path) -> None:
    [example] = blocks_of(name, "python")
    assert ALICE in example
    script = tmp_path / "example.py"
    local = example.replace("http://127.0.0.1:8000", integrations_gateway.base_url)
    script.write_text(local.replace(".data", str(integrations_gateway.data_dir)))
    told = integrations_gateway.run(str(script), PYTHONPATH=str(CLIENT))
    assert told.returncode == 0, told.stderr
    assert re.search(TOLD[name], told.stdout), told.stdout
