"""The JavaScript client's package: what is in it, how large it makes an app, and that apps which use its types compile."""

import json
import shutil
from pathlib import Path

import pytest

from tests.interop.client_package import CLIENT, NAME
from tests.interop.generated_clients import NODE_MODULES, run

STRICTLY = (
    "--strict",
    "--exactOptionalPropertyTypes",
    "--noUncheckedIndexedAccess",
    "--noEmit",
    "--skipDefaultLibCheck",
)
TSC = (str(NODE_MODULES / ".bin" / "tsc"), *STRICTLY, "--target", "es2022", "--module", "nodenext")


@pytest.fixture
def installed(app: Path) -> Path:
    """Return the folder of the installed package."""
    return app / "node_modules" / NAME


def test_types_are_packed_for_each_source(installed: Path) -> None:
    sources = {path.stem for path in (installed / "src").iterdir()}
    assert {path.name for path in (installed / "types").iterdir()} == {f"{source}.d.ts" for source in sources}
    assert "index" in sources


def test_it_has_what_a_published_package_needs_and_no_more(installed: Path) -> None:
    names = {path.name for path in installed.iterdir()}
    assert names == {"src", "types", "package.json", "README.md", "CHANGELOG.md", "LICENSE"}
    assert (installed / "LICENSE").read_bytes() == (CLIENT.parents[1] / "LICENSE").read_bytes()
    package = json.loads((installed / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(package)
    assert package["sideEffects"] is False


@pytest.mark.parametrize(
    ("app_code", "settings"),
    [("usage.ts", ()), ("server_usage.ts", ("--lib", "es2022", "--types", "node"))],
    ids=["an app in a browser", "a server without a browser's types"],
)
def test_types_say_what_calls_take_and_return(app: Path, app_code: str, settings: tuple[str, ...]) -> None:
    for package in ("@types", "undici-types"):
        if not (app / "node_modules" / package).exists():
            (app / "node_modules" / package).symlink_to(NODE_MODULES / package)
    shutil.copy(CLIENT / "test" / app_code, app)
    assert run([*TSC, *settings, app_code], app) == ""


def test_an_app_that_was_bundled_stays_small(app: Path, tmp_path: Path) -> None:
    shutil.copytree(CLIENT, tmp_path / "client", ignore=shutil.ignore_patterns("node_modules", "types"))
    (tmp_path / "client" / "node_modules").symlink_to(NODE_MODULES)
    print(run(["node", "test/sizes.js"], tmp_path / "client"))  # noqa: T201
