"""Who may import whom, as .importlinter says, and that its own contract notices what it should."""

import pkgutil
import re
import subprocess
import sys
from configparser import ConfigParser

import grimp
import pytest

from gateway.run.options import PROJECT_DIR
from tests.architecture.public_layers import PublicLayersContract
from tests.architecture.same_noun import SameNounContract

LINT = "from importlinter.cli import lint_imports_command; lint_imports_command()"
OPTIONS = {
    "apps": ["accounts", "billing"],
    "public_layers": ["operations", "models"],
    "also_public": ["accounts.authentication"],
    "assemblers": ["gateway.urls"],
}


def test_no_import_goes_upward_or_into_the_private_parts_of_an_app() -> None:
    command = [sys.executable, "-c", LINT, "--no-logo", "--no-cache"]
    outcome = subprocess.run(command, cwd=PROJECT_DIR, capture_output=True, text=True)
    assert outcome.returncode == 0, outcome.stdout + outcome.stderr


def test_every_module_of_the_project_itself_is_in_a_layer() -> None:
    contracts = ConfigParser()
    contracts.read(PROJECT_DIR / ".importlinter")
    layers = contracts["importlinter:contract:layers"]["layers"]
    for package in ("gateway", "gateway.core"):
        named = set(re.findall(rf"{re.escape(package)}\.(\w+)", layers))
        path = str(PROJECT_DIR / package.replace(".", "/"))
        assert named == {module.name for module in pkgutil.iter_modules([path])}


@pytest.mark.parametrize(
    ("importer", "imported", "is_allowed"),
    [
        ("billing.views.wallet", "accounts.operations.tokens", True),
        ("billing.views.wallet", "accounts.models", True),
        ("billing.views.wallet", "accounts.authentication", True),
        ("billing.views.wallet", "accounts.views.account", False),
        ("billing.operations.holds", "accounts.serializers", False),
        ("billing.admin", "accounts.admin", False),
        ("billing.apps", "accounts", False),
        ("gateway.core.checks", "accounts.tasks", False),
        ("gateway.urls", "accounts.urls", True),
        ("accounts.views.account", "accounts.serializers.account", True),
    ],
)
def test_an_app_shows_its_public_layers_only(importer: str, imported: str, is_allowed: bool) -> None:
    graph = grimp.ImportGraph()
    for module in {"accounts", "billing", importer, imported}:
        graph.add_module(module)
    graph.add_import(importer=importer, imported=imported)
    contract = PublicLayersContract("public layers", {}, OPTIONS)
    check = contract.check(graph, verbose=False)
    assert check.kept == is_allowed
    assert check.metadata["broken"] == ([] if is_allowed else [f"{importer} imports {imported}"])


@pytest.mark.parametrize(
    ("importer", "imported", "is_allowed"),
    [
        ("vendors.acme.chat", "routes.chat.bound", True),
        ("vendors.acme.chat.stream", "routes.chat.bound", True),
        ("vendors.acme.chat", "routes.speech.bound", False),
        ("vendors.acme.errors", "routes.chat.bound", False),
        ("vendors.acme", "routes.chat.bound", False),
        ("vendors.acme.errors", "adapters.errors", True),
        ("endpoints", "routes.chat.bound", True),
    ],
)
def test_a_vendor_sees_only_the_route_that_it_serves(importer: str, imported: str, is_allowed: bool) -> None:
    graph = grimp.ImportGraph()
    for module in {"vendors", "routes", importer, imported}:
        graph.add_module(module)
    graph.add_import(importer=importer, imported=imported)
    contract = SameNounContract("same noun", {}, {"importers": "vendors", "imported": "routes"})
    check = contract.check(graph, verbose=False)
    assert check.kept == is_allowed
    assert check.metadata["broken"] == ([] if is_allowed else [f"{importer} imports {imported}"])
