"""The example of the README does what the README says, against a gateway that was just started."""

import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from gateway.core.contract.errors import CATALOGUE
from tests.support.concurrency import eventually
from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page
from tests.support.upstream import FakeUpstream

ROOT = Path(__file__).resolve().parents[2]
MAIN, CLIENT = Page("README.md"), Page("clients/python/README.md")
FIRST, MODEL = Page("docs/index.md"), Page("docs/guides/model.md")
EXAMPLE_LINES_MAX = 15
RECEIPT = r"Receipt\(usage_id='use_[0-9a-z]{26}', hold_microusd=\d+, charge_microusd=\d+, replayed=False\)"


def messages_example_of(readme: Page) -> str:
    """Return the Python block that uses the Anthropic SDK."""
    [found] = [block.code for block in readme.blocks("python") if block.code.startswith("from anthropic import ")]
    return found


def with_lines(script: str, lines: str) -> str:
    """Replace the assignments of a script by those of the same names."""
    for line in lines.splitlines():
        name = line.partition(" = ")[0]
        script, count = re.subn(rf"^{name} = .*$", line, script, flags=re.MULTILINE)
        assert count == 1, line
    return script


def amounts_of(label: str, text: str) -> list[int]:
    """Return the micro-USD that the receipts of a text have under a label."""
    found = re.findall(rf"{label} +\$[\d.]+ +([\d,]+) micro-USD", text)
    return [int(amount.replace(",", "")) for amount in found]


@pytest.mark.parametrize("readme", [MAIN, CLIENT, FIRST], ids=["main", "client", "first"])
def test_the_example_is_short_and_runs(demo_gateway: DemoGateway, readme: Page, tmp_path: Path) -> None:
    example = readme.code("python")
    assert len([line for line in example.splitlines() if line.strip()]) < EXAMPLE_LINES_MAX
    assert "http://localhost:8000" in example
    assert ".data/demo-product.pem" in example
    completed = run_example(example, demo_gateway, tmp_path)
    assert completed.returncode == 0, completed.stderr
    assert "the gateway's demo backend" in completed.stdout
    assert len(re.findall(RECEIPT, completed.stdout)) == 1


def test_the_other_sdk_takes_the_same_http_client(demo_gateway: DemoGateway, tmp_path: Path) -> None:
    completed = run_example(f"{CLIENT.code('python')}\n{messages_example_of(CLIENT)}", demo_gateway, tmp_path)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.count("the gateway's demo backend") == 2
    assert len(re.findall(RECEIPT, completed.stdout)) == 2


def run_example(example: str, gateway: DemoGateway, folder: Path) -> subprocess.CompletedProcess[str]:
    """Run an example against this gateway instead of the one that it names."""
    script = folder / "example.py"
    script.write_text(
        example.replace("http://localhost:8000", gateway.base_url).replace(".data", str(gateway.data_dir))
    )
    return gateway.run(str(script), PYTHONPATH=str(ROOT / "clients" / "python"))


def test_the_clients_table_of_errors_is_of_the_catalogue() -> None:
    table = CLIENT.text.partition("## Errors\n")[2].partition("\n## ")[0]
    rows = re.findall(r"^\| (\d\d\d) \| `\w+` \| (.+?) \|", table, re.MULTILINE)
    named = {(code, int(status)) for status, codes in rows for code in re.findall(r"`(\w+)`", codes)}
    assert len(named) > 10
    assert named <= {(error.code, error.default_status) for error in CATALOGUE.values()}


@pytest.fixture
def demo_restored(demo_gateway: DemoGateway) -> Iterator[None]:
    """Bring the demo's rows back for the tests that share its gateway."""
    yield
    assert demo_gateway.manage("apply", "gateway/demo.yaml").returncode == 0
    await_price(demo_gateway, "0.15")


def await_price(demo_gateway: DemoGateway, per_token: str) -> None:
    """Wait until the gateway serves `fast` at the price of the applied file, which it sees within 15 s."""
    gateway = demo_gateway.sign_in("infer:fast")
    eventually(lambda: gateway.model("fast")["pricing"]["input_token"] == per_token)


@pytest.mark.usefixtures("demo_restored")
def test_a_real_model_is_connected_and_called_as_the_guide_says(demo_gateway: DemoGateway, tmp_path: Path) -> None:
    shell = shlex.split(MODEL.code("sh").splitlines()[-1])
    jwks = subprocess.run([sys.executable, *shell[1:]], **from_here(tmp_path)).stdout
    file = tmp_path / "gateway.yaml"
    with FakeUpstream() as upstream:
        text = MODEL.code("yaml").replace("https://api.openai.com/v1", upstream.base_url)
        text, count = re.subn(r"jwks: .*", f"jwks: {jwks.strip()}", text)
        file.write_text(text)
        applied = demo_gateway.run("manage.py", "apply", str(file), PRIMARY_API_KEY="sk-primary")
        assert (applied.returncode, count) == (0, 1), applied.stderr
        await_price(demo_gateway, "0.25")
        script = with_lines(FIRST.code("python"), MODEL.code("python"))
        (tmp_path / "hello.py").write_text(script.replace("http://localhost:8000", demo_gateway.base_url))
        completed = subprocess.run([sys.executable, "hello.py"], **from_here(tmp_path))
    assert completed.returncode == 0, completed.stderr
    assert len(upstream.ledger.entries) == 1
    assert re.search(r"Receipt\(usage_id='use_[0-9a-z]{26}', hold_microusd=\d+, charge_microusd=\d+", completed.stdout)


def from_here(folder: Path) -> dict[str, Any]:
    """Return how a person's own script is run: in its folder, with the client installed."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "clients" / "python")}
    return {"cwd": folder, "env": environment, "capture_output": True, "text": True, "timeout": 60}


def test_the_demo_tells_each_step_and_what_it_cost(demo_gateway: DemoGateway) -> None:
    completed = demo_gateway.run("manage.py", "demo")
    assert completed.returncode == 0, completed.stderr
    steps = (
        "1. Sign in",
        "2. Ask",
        "3. Receipt use_",
        "4. Ask again",
        "5. Respond",
        "6. Write a message",
        "10. Rerank",
        "11. Draw",
        "12. Audio",
    )
    for step in (*steps, "13. Judge: judgement-backend-a/demo-word", "14. Talk: a live session"):
        assert step in completed.stdout
    receipts = [amounts_of(label, completed.stdout) for label in ("wallet before", "hold", "charge", "wallet after")]
    assert [len(column) for column in receipts] == [13] * 4
    for before, hold, charge, after in zip(*receipts, strict=True):
        assert before - charge == after
        assert 0 < charge <= hold
    assert re.search(r"Rerank: .*\n.*\n +0\.\d\d  Most badgers eat earthworms\.\n", completed.stdout)
    assert "I heard 1.0 seconds of sound." in completed.stdout
    assert "replayed: yes, charged $0.000000" in completed.stdout


def test_the_demo_without_a_gateway_says_what_to_do(demo_gateway: DemoGateway, tmp_path: Path) -> None:
    completed = demo_gateway.run("manage.py", "demo", DATA_DIR=str(tmp_path), PORT="1")
    assert (completed.returncode, completed.stdout) == (1, "")
    assert completed.stderr == "No gateway answers at http://localhost:1; start one with `make run` first.\n"
