"""The official packages of both vendors through the browser client's `fetch`, against a gateway that asks for nonces."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.interop.conftest import signed_assertion
from tests.interop.generated_clients import NODE_MODULES
from tests.interop.node_script import SCRIPTS, run_script
from tests.support.demo_gateway import DemoGateway
from tests.support.pages import Page

pytestmark = pytest.mark.usefixtures("npm_packages")

README = Page("clients/js/README.md")
SCOPES = ("wallet:read", "usage:read", "infer:fast")


@pytest.fixture(scope="module")
def found(demo: DemoGateway) -> Any:
    """Have a script make calls of every kind, and return their results."""
    return run_script("official_sdks.js", demo.base_url, signed_assertion(demo, *SCOPES))


def test_each_call_tells_its_receipt(found: Any) -> None:
    assert "the gateway's demo backend" in found["message"]
    assert found["message"] == found["streamed"]
    assert "the gateway's demo backend" in found["completion"] == found["chatted"]
    receipts = found["receipts"]
    assert len({receipt["usageId"] for receipt in receipts}) == len(receipts) == 4
    assert sum(receipt["chargeMicrousd"] for receipt in receipts) == found["spent"] > 0
    assert not any(receipt["replayed"] for receipt in receipts)


@pytest.mark.parametrize("repeated_by", ["lost", "repeating"], ids=["the client", "the SDK"])
def test_a_lost_answer_is_paid_once(found: Any, repeated_by: str) -> None:
    lost = found[repeated_by]
    assert lost["text"] == found["message"]
    assert [receipt["replayed"] for receipt in lost["receipts"]] == [True]
    assert lost["receipts"][0]["chargeMicrousd"] == lost["spent"]


def test_errors_are_the_sdks_own(found: Any) -> None:
    assert found["refusals"] == {
        "anthropic": ["PermissionDeniedError", 403, "insufficient_scope"],
        "openai": ["PermissionDeniedError", 403, "insufficient_scope"],
        "cost": ["PaymentRequiredError", 402, "max_cost_exceeded"],
    }


def test_a_stream_that_is_left_has_a_receipt_without_a_charge(found: Any) -> None:
    assert [receipt["chargeMicrousd"] for receipt in found["left"]] == [None, None]


def test_tools_and_structured_output(found: Any) -> None:
    shaped = found["shaped"]
    assert (shaped["people"], shaped["cities"]) == (["demo", "demo"], ["demo", "demo"])
    assert [receipt["chargeMicrousd"] > 0 for receipt in shaped["receipts"]] == [True] * 4


def test_the_example_of_the_readme(demo: DemoGateway, tmp_path: Path) -> None:
    example = README.code("js", after="## The official SDKs")
    sign_in = f"""
        import {{ signIn }} from "{SCRIPTS / "account.js"}";
        const {{ account: gateway }} = await signIn("{demo.base_url}", "{signed_assertion(demo, *SCOPES)}");
    """
    (tmp_path / "node_modules").symlink_to(NODE_MODULES)
    script = tmp_path / "example.mjs"
    script.write_text(sign_in + example)
    node = shutil.which("node")
    assert node is not None
    completed = subprocess.run([node, str(script)], capture_output=True, text=True, timeout=120)
    assert completed.returncode == 0, completed.stderr
    assert completed.stdout.count("the gateway's demo backend") == 2
    assert (
        len(re.findall(r"usageId: 'use_[0-9a-z]{26}',\s+holdMicrousd: \d+,\s+chargeMicrousd: \d+", completed.stdout))
        == 2
    )
