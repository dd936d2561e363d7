"""Each module that a command line names can be imported first, in a process of its own.

uvicorn imports `--http` and `--ws` before the application in each of several workers, when Django is not set up.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR, Options
from gateway.run.services import sandbox, services
from tests.support.gateways import OURS

OPTIONS = ("-m", "--http", "--ws", "--app")
DOCUMENTED = re.compile(r"(?:(?:-m|--http|--ws|--app)[ =]|\buvicorn )`?\s*([a-z_]+(?:\.[a-z_]+)*(?::[A-Za-z]+)?)")
PACKAGES = {path.parent.name for path in PROJECT_DIR.glob("*/__init__.py")}
WRITTEN = ("Makefile", "*.md", "docs/**/*.md", "deploy/**/*", "clients/**/*.md")
IMPORT = "import importlib, sys; importlib.import_module(sys.argv[1])"


def started() -> Iterator[str]:
    """Yield what the command lines of `make run` name."""
    options = Options.read({})
    for service in (*services(options, [0], {}), sandbox({})):
        words = [part for word in service.command for part in word.split("=", 1)]
        yield from (after for word, after in pairwise(words) if word in OPTIONS)
        yield from (word for word in words if word.endswith(":application"))


def written() -> Iterator[str]:
    """Yield what the command lines in documents, the Makefile and the files of `deploy` name."""
    for pattern in WRITTEN:
        for path in PROJECT_DIR.glob(pattern):
            if path.is_file() and "node_modules" not in path.parts:
                yield from DOCUMENTED.findall(path.read_text(encoding="utf-8"))


def ours(names: Iterable[str]) -> set[str]:
    """Return the modules of this project among names such as `gateway.asgi:application`."""
    return {name.partition(":")[0] for name in names if name.partition(".")[0].partition(":")[0] in PACKAGES}


def importable(module: str) -> str:
    """Return what `python -m` imports for a package: its `__main__`."""
    folder = PROJECT_DIR / Path(*module.split("."))
    return f"{module}.__main__" if (folder / "__main__.py").exists() else module


def test_names_are_found_in_command_lines_and_documents() -> None:
    served = {"gateway.asgi", "gateway.server.protocol", "gateway.server.sockets"}
    assert ours(started()) == {"gateway.server", "gateway.celery"}
    assert served | {"gateway.celery", "gateway.run", "gateway.run.temporary", "bench", "tests.chaos"} <= ours(
        written()
    )


@pytest.mark.parametrize("module", sorted(ours((*started(), *written()))))
def test_a_module_can_be_imported_first(module: str, tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name not in OURS}
    outcome = subprocess.run(
        [sys.executable, "-c", IMPORT, importable(module)],
        cwd=PROJECT_DIR,
        env={
            **environment,
            "DATA_DIR": str(tmp_path),
            "STATIC_ROOT": str(tmp_path),
            "DATABASE_URL": "postgresql://host/none",
        },
        capture_output=True,
        text=True,
    )
    assert (outcome.returncode, outcome.stderr) == (0, "")
