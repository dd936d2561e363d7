"""The browser client's package has the TypeScript types of its JSDoc, and an app that uses them strictly compiles."""

import json
import shutil
from pathlib import Path

import pytest

from tests.interop.generated_clients import NODE_MODULES, run

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"


@pytest.fixture(scope="module")
def app(npm_packages: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An app that has installed the client's package."""
    folder = tmp_path_factory.mktemp("app")
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    package = _pack(tmp_path_factory.mktemp("package") / "client")
    run(["npm", "install", "--offline", "--no-audit", "--no-fund", str(package)], folder)
    return folder


def test_are_packed_for_each_source(app: Path) -> None:
    client = app / "node_modules" / "account-gateway-client"
    sources = {path.stem for path in (client / "src").iterdir()}
    assert {path.name for path in (client / "types").iterdir()} == {f"{source}.d.ts" for source in sources}
    assert "index" in sources


def test_say_what_calls_take_and_return(app: Path) -> None:
    strictly = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--noEmit"]
    settings = [*strictly, "--target", "es2022", "--module", "nodenext"]
    shutil.copy(CLIENT / "test" / "usage.ts", app)
    assert run([str(NODE_MODULES / ".bin" / "tsc"), *settings, "usage.ts"], app) == ""


def _pack(folder: Path) -> Path:
    """Pack a copy of the client in which nothing has been generated."""
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "types"))
    (folder / "node_modules").symlink_to(NODE_MODULES)
    run(["npm", "pack"], folder)
    [package] = folder.glob("*.tgz")
    return package
