"""Every major version of the official SDKs works through the client: those on httpx, and those on httpx2."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR

SDKS = Path(__file__).parent / "sdks"
INSTALL_SECONDS = TEST_SECONDS = 300


@pytest.fixture
def sdk(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """Install one version beside the packages that it shares with the newest, and return its folder."""
    requirements = SDKS / f"{request.param}.txt"
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile", "--require-hashes"]
    place = ["--disable-pip-version-check", "--root-user-action=ignore", "--target", str(tmp_path)]
    subprocess.run([*command, *place, "--requirement", str(requirements)], check=True, timeout=INSTALL_SECONDS)
    return tmp_path


@pytest.mark.parametrize(
    ("sdk", "tests"),
    [
        ("anthropic-0", "test_anthropic_sdk.py"),
        ("anthropic-1", "test_anthropic_sdk.py"),
        ("openai-1", "test_openai_sdk.py"),
        ("openai-2", "test_openai_sdk.py"),
    ],
    indirect=["sdk"],
)
def test_an_older_sdk_passes_the_tests_of_the_newest(sdk: Path, tests: str) -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"tests/clients/{tests}"]
    environment = {**os.environ, "PYTHONPATH": str(sdk)}
    completed = subprocess.run(
        command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True, timeout=TEST_SECONDS
    )
    assert completed.returncode == 0, completed.stdout + completed.stderr
    assert " passed" in completed.stdout
