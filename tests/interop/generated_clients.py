"""Makes clients of a gateway's OpenAPI document with public generators. A generator's complaint fails the test."""

import importlib
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx

HERE = Path(__file__).parent
NODE_MODULES = HERE / "node_modules"
PACKAGE = "generated_gateway_client"
GENERATION_SECONDS = 300


def document_of(base_url: str, folder: Path) -> Path:
    """Write the document of a running gateway into a file."""
    answer = httpx.get(f"{base_url}/openapi.json", timeout=60)
    assert answer.status_code == 200, answer.text
    path = folder / "openapi.json"
    path.write_bytes(answer.content)
    return path


def typescript_client(document: Path, folder: Path) -> Path:
    """Generate types, check `generated/client.ts` against them (`tsc`, strict), and return it as JavaScript."""
    shutil.copytree(HERE / "generated", folder, dirs_exist_ok=True)
    (folder / "node_modules").symlink_to(NODE_MODULES)
    (folder / "package.json").write_text(json.dumps({"type": "module"}))
    binaries = NODE_MODULES / ".bin"
    printed = run(
        [str(binaries / "openapi-typescript"), str(document), "--output", str(folder / "schema.d.ts")], folder
    )
    assert "warn" not in printed.lower(), printed
    assert run([str(binaries / "tsc"), "--project", str(folder)], folder) == ""
    return folder / "built" / "client.js"


def python_client(document: Path, folder: Path) -> Path:
    """Generate a package, and return the folder to import it from."""
    settings = folder / "generator.json"
    settings.write_text(json.dumps({"post_hooks": []}))
    command = [sys.executable, "-m", "openapi_python_client", "generate", "--meta", "none", "--fail-on-warning"]
    run([*command, "--path", str(document), "--output-path", str(folder / PACKAGE), "--config", str(settings)], folder)
    return folder


def part(name: str) -> Any:
    """Import a module of the generated package: `models`, `api.organizations.list_members`."""
    return importlib.import_module(f"{PACKAGE}.{name}")


def run(command: list[str], folder: Path) -> str:
    """Run a generator or compiler to its end, and return all that it said."""
    completed = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=GENERATION_SECONDS)
    assert completed.returncode == 0, completed.stdout + completed.stderr
    return completed.stdout + completed.stderr
