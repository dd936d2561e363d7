"""The example of the README does what the README says, against a gateway that was just started."""

import re
from pathlib import Path

import pytest

from tests.support.demo_gateway import DemoGateway

ROOT = Path(__file__).resolve().parents[2]
MAIN, CLIENT = ROOT / "README.md", ROOT / "clients" / "python" / "README.md"
EXAMPLE_LINES_MAX = 15


def example_of(readme: Path) -> str:
    """Return the first Python block."""
    found = re.search(r"```python\n(.*?)```", readme.read_text(), re.DOTALL)
    assert found is not None
    return found.group(1)


def amounts_of(label: str, text: str) -> list[int]:
    """Return the micro-USD that the receipts of a text have under a label."""
    found = re.findall(rf"{label} +\$[\d.]+ +([\d,]+) micro-USD", text)
    return [int(amount.replace(",", "")) for amount in found]


@pytest.mark.parametrize("readme", [MAIN, CLIENT], ids=["main", "client"])
def test_the_example_is_short_and_runs(demo_gateway: DemoGateway, readme: Path, tmp_path: Path) -> None:
    example = example_of(readme)
    assert len([line for line in example.splitlines() if line.strip()]) < EXAMPLE_LINES_MAX
    assert "http://127.0.0.1:8000" in example
    assert ".data/demo-product.pem" in example
    script = tmp_path / "example.py"
    script.write_text(
        example.replace("http://127.0.0.1:8000", demo_gateway.base_url).replace(".data", str(demo_gateway.data_dir))
    )
    told = demo_gateway.run(str(script), PYTHONPATH=str(ROOT / "clients" / "python"))
    assert told.returncode == 0, told.stderr
    assert "the gateway's demo backend" in told.stdout
    assert re.search(
        r"Receipt\(usage_id='use_[0-9a-z]{26}', hold_microusd=\d+, charge_microusd=\d+, replayed=False\)", told.stdout
    )


def test_the_demo_tells_each_step_and_what_it_cost(demo_gateway: DemoGateway) -> None:
    told = demo_gateway.run("manage.py", "demo")
    assert told.returncode == 0, told.stderr
    steps = (
        "1. Sign in",
        "2. Ask",
        "3. Receipt use_",
        "4. Ask again",
        "5. Respond",
        "9. Rerank",
        "10. Draw",
        "11. Audio",
    )
    for step in (*steps, "12. Judge: judgement-backend-a/demo-word", "13. Talk: a live session"):
        assert step in told.stdout
    receipts = [amounts_of(label, told.stdout) for label in ("wallet before", "hold", "charge", "wallet after")]
    assert [len(column) for column in receipts] == [12] * 4
    for before, hold, charge, after in zip(*receipts, strict=True):
        assert before - charge == after
        assert 0 < charge <= hold
    assert re.search(r"Rerank: .*\n.*\n +0\.\d\d  Most badgers eat earthworms\.\n", told.stdout)
    assert "I heard 1.0 seconds of sound." in told.stdout
    assert "replayed: yes, charged $0.000000" in told.stdout


def test_the_demo_without_a_gateway_says_what_to_do(demo_gateway: DemoGateway, tmp_path: Path) -> None:
    told = demo_gateway.run("manage.py", "demo", DATA_DIR=str(tmp_path), PORT="1")
    assert (told.returncode, told.stdout) == (1, "")
    assert told.stderr == "No gateway answers at http://127.0.0.1:1; start one with `make run` first.\n"
