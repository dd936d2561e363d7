"""What a build, a key or an installation's own files leave in the checkout is neither checked nor committed."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from mypy.main import process_options

from gateway.run.options import PROJECT_DIR

PACKAGE = "clients/python/account_gateway_client/__init__.py"
# What `pip install ./clients/python` leaves there.
BUILT = "clients/python/build/lib/account_gateway_client/__init__.py"
OWN = (
    BUILT,
    "clients/python/account_gateway_client.egg-info/PKG-INFO",
    "gateway.yaml",
    "product.pem",
    "tls/server.key",
)


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an imitation of a checkout with this project's rules, in which the Python client has been built."""
    for rules in ("pyproject.toml", ".gitignore"):
        shutil.copy(PROJECT_DIR / rules, tmp_path)
    for path in (PACKAGE, *OWN):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text('"""A module."""\n')
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_types_are_checked_once(checkout: Path) -> None:
    sources, _ = process_options(["clients"])
    assert [source.path for source in sources] == [PACKAGE]


def test_lint_passes_over_a_built_copy(checkout: Path) -> None:
    command = [sys.executable, "-m", "ruff", "check", "--no-cache", "--show-files"]
    outcome = subprocess.run(command, capture_output=True, text=True, check=True)
    listed = [Path(line).relative_to(checkout) for line in outcome.stdout.splitlines()]
    assert [str(path) for path in listed if path.suffix == ".py"] == [PACKAGE]


def test_git_ignores_them(checkout: Path) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True)
    outcome = subprocess.run(["git", "check-ignore", PACKAGE, *OWN], capture_output=True, text=True)
    assert outcome.stdout.split() == list(OWN)
