"""The JavaScript client as npm packs and installs it."""

import json
import shutil
from pathlib import Path

from tests.interop.generated_clients import NODE_MODULES, run

CLIENT = Path(__file__).resolve().parents[2] / "clients" / "js"
NAME = "account-gateway-client"


def pack(folder: Path) -> Path:
    """Pack a copy of the client in which nothing has been generated, and return the tarball."""
    shutil.copytree(CLIENT, folder, ignore=shutil.ignore_patterns("node_modules", "types"))
    (folder / "node_modules").symlink_to(NODE_MODULES)
    run(["npm", "pack"], folder)
    [package] = folder.glob("*.tgz")
    return package


def install(package: Path, folder: Path) -> Path:
    """Install the tarball, and nothing else, into an app."""
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    run(["npm", "install", "--offline", "--no-audit", "--no-fund", str(package)], folder)
    return folder


def share_packages(app: Path, folder: Path) -> None:
    """Let another folder use the installed client, and the packages that the tests have installed."""
    modules = folder / "node_modules"
    modules.mkdir()
    for package in NODE_MODULES.iterdir():
        if not package.name.startswith("."):
            (modules / package.name).symlink_to(package)
    (modules / NAME).symlink_to(app / "node_modules" / NAME)
