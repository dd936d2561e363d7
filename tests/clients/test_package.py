"""What is published as the Python client: the distributions are whole, and install and work on every supported Python."""

import json
import re
import subprocess
import tarfile
import zipfile
from pathlib import Path
from typing import Any

import pytest
from packaging.metadata import Metadata
from packaging.specifiers import SpecifierSet
from packaging.utils import parse_wheel_filename

from gateway.run.options import PROJECT_DIR
from tests.clients.installed.building import CLIENT, MINORS, build, install, interpreters
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.demo_gateway import DemoGateway

PACKAGE = "account_gateway_client"
SMOKE = Path(__file__).parent / "installed" / "smoke.py"
INTERPRETERS = interpreters()


@pytest.fixture(scope="module")
def distributions(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return build(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def wheel(distributions: tuple[Path, Path]) -> Path:
    return distributions[1]


@pytest.fixture(scope="module")
def metadata(wheel: Path) -> Metadata:
    """Read the wheel's metadata; whatever a package index would refuse is an error."""
    with zipfile.ZipFile(wheel) as archive:
        [name] = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        return Metadata.from_email(archive.read(name), validate=True)


def sources() -> dict[str, bytes]:
    """Return what the package consists of, by path."""
    files = [path for path in (CLIENT / PACKAGE).rglob("*") if path.suffix == ".py" or path.name == "py.typed"]
    return {str(path.relative_to(CLIENT)): path.read_bytes() for path in files}


def test_the_wheel_has_every_module_and_the_license(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        contents = {name: archive.read(name) for name in archive.namelist()}
    kept = {name: data for name, data in contents.items() if ".dist-info/" not in name}
    assert kept == sources()
    assert f"{PACKAGE}/py.typed" in kept
    [license_file] = [data for name, data in contents.items() if name.endswith(".dist-info/licenses/LICENSE")]
    assert license_file == (PROJECT_DIR / "LICENSE").read_bytes()


def test_the_sdist_has_what_the_wheel_is_built_of(distributions: tuple[Path, Path]) -> None:
    with tarfile.open(distributions[0]) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert names >= {*sources(), "pyproject.toml", "README.md", "CHANGELOG.md", "LICENSE", "PKG-INFO"}
    assert not any("__pycache__" in name or name.startswith("tests") for name in names)


def test_the_metadata(wheel: Path, metadata: Metadata) -> None:
    name, version, _, _ = parse_wheel_filename(wheel.name)
    assert (metadata.name, metadata.version) == (name, version)
    assert (metadata.license_expression, metadata.license_files) == ("Apache-2.0", ["LICENSE"])
    assert metadata.description_content_type == "text/markdown"
    assert metadata.description == (CLIENT / "README.md").read_text()


def test_a_user_gets_two_libraries_and_what_they_ask_for(metadata: Metadata) -> None:
    requirements = metadata.requires_dist or []
    assert {one.name for one in requirements if one.marker is None} == {"cryptography", "requests"}
    assert {"anthropic", "httpx", "openai"} <= set(metadata.provides_extra or [])


def test_the_supported_pythons_are_those_that_are_named(metadata: Metadata) -> None:
    named = [kind for kind in metadata.classifiers or [] if re.search(r":: 3\.\d+$", kind)]
    assert named == [f"Programming Language :: Python :: 3.{minor}" for minor in MINORS]
    assert metadata.requires_python == SpecifierSet(f">=3.{MINORS[0]}")


def test_the_changelog_tells_of_the_version(metadata: Metadata) -> None:
    headings = re.findall(r"^## \[([^]]+)]", (CLIENT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert "Unreleased" in headings or str(metadata.version) in headings


@pytest.mark.parametrize("version", INTERPRETERS)
def test_the_wheel_works(version: str, wheel: Path, demo_gateway: DemoGateway, tmp_path: Path) -> None:
    python = install(wheel, "cli", tmp_path / "venv", INTERPRETERS[version])
    done = run_smoke(python, demo_gateway, tmp_path)
    assert done["python"] == [int(part) for part in version.split(".")]
    assert done["installed_in"].startswith(str(tmp_path / "venv"))
    assert f"{PACKAGE}.gateway" in done["modules"]
    assert "the gateway's demo backend" in done["text"]
    assert done["events"] > 2
    assert done["charges"] == done["signed"]
    assert len(done["charges"]) == 3
    assert all([*done["charges"], done["proxied"]])
    assert python.with_name("agw").exists()


def run_smoke(python: Path, gateway: DemoGateway, folder: Path) -> dict[str, Any]:
    """Run the smoke test as a person's own script, with nothing but what is installed."""
    command = [str(python), "-W", "error", str(SMOKE), gateway.base_url, str(gateway.data_dir / "demo-product.pem")]
    completed = subprocess.run(
        command, cwd=folder, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=PATIENCE_SECONDS
    )
    assert completed.returncode == 0, completed.stderr
    found: dict[str, Any] = json.loads(completed.stdout)
    return found
