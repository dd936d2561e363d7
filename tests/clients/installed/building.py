"""Builds the Python client's distributions, and installs the wheel for the interpreters that are there."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from gateway.run.options import PROJECT_DIR

CLIENT = PROJECT_DIR / "clients" / "python"
MINORS = range(10, 15)
UV_SECONDS = 300


def build(folder: Path) -> tuple[Path, Path]:
    """Build into a folder, with nothing from the network, and return the sdist and the wheel that is made of it."""
    _uv("build", str(CLIENT), "--no-build-isolation", "--python", sys.executable, "--out-dir", str(folder))
    [sdist], [wheel] = folder.glob("*.tar.gz"), folder.glob("*.whl")
    return sdist, wheel


def install(wheel: Path, extras: str, folder: Path, interpreter: Path) -> Path:
    """Install a wheel and what it depends on into a new virtual environment, and return its Python."""
    _uv("venv", "--python", str(interpreter), str(folder))
    python = folder / "bin" / "python"
    _uv("pip", "install", "--python", str(python), f"{wheel}[{extras}]")
    return python


def interpreters() -> dict[str, Path]:
    """Return the supported interpreters of this machine by version: the one that runs the tests, those on PATH, and pyenv's."""
    found = {f"3.{minor}": path for minor in MINORS if (path := _interpreter(minor))}
    return {**found, f"3.{sys.version_info.minor}": Path(sys.executable)}


def _interpreter(minor: int) -> Path | None:
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    folders = [*pyenv.glob(f"versions/3.{minor}.*/bin"), *map(Path, os.environ["PATH"].split(os.pathsep))]
    programs = (shutil.which(f"python3.{minor}", path=folder) for folder in folders if folder.name != "shims")
    return next((Path(program) for program in programs if program), None)


def _uv(*arguments: str) -> None:
    command = [sys.executable, "-m", "uv", *arguments, "--quiet"]
    completed = subprocess.run(command, capture_output=True, text=True, timeout=UV_SECONDS)
    assert completed.returncode == 0, completed.stdout + completed.stderr
