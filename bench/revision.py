"""Checks out another commit of the gateway for the duration of a run."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from bench.processes import ROOT

ENVIRONMENT = ".venv-against"
"""The environment of a commit with different requirements. It is reused, because creating it takes a minute."""
BOOTSTRAP = ROOT / "gateway" / "run" / "bootstrap.py"


class Source(NamedTuple):
    """The code of one version, and a Python with its requirements."""

    directory: Path
    python: Path


WORKING_TREE = Source(ROOT, Path(sys.executable))


def resolve(revision: str, root: Path = ROOT) -> str:
    """Return the short name of a commit. Ends the program in one line if git or the commit is missing."""
    command = ["git", "rev-parse", "--verify", "--quiet", "--short", "--end-of-options", f"{revision}^{{commit}}"]
    try:
        found = subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)
    except OSError as error:
        raise SystemExit("bench: --against needs git.") from error
    if found.returncode:
        raise SystemExit(f"bench: {revision!r} names no commit of this checkout.")
    return found.stdout.strip()


@contextmanager
def checked_out(revision: str, directory: Path, root: Path = ROOT) -> Iterator[Source]:
    """Check a commit out into a worktree at `directory`, which is removed afterwards, with a Python that has its requirements."""
    with worktree(revision, directory, root):
        yield Source(directory, _python(directory, root))


@contextmanager
def worktree(revision: str, directory: Path, root: Path = ROOT) -> Iterator[None]:
    """Check a commit out at `directory`, which is removed afterwards."""
    _git(root, "worktree", "add", "--quiet", "--detach", str(directory), revision)
    try:
        yield
    finally:
        _git(root, "worktree", "remove", "--force", str(directory))


def _python(directory: Path, root: Path) -> Path:
    """Return a Python with the checkout's requirements: this one, or one of a separate environment."""
    theirs = directory / "requirements.txt"
    if theirs.read_bytes() == (root / "requirements.txt").read_bytes():
        return WORKING_TREE.python
    environment = root / ENVIRONMENT
    subprocess.run([sys.executable, str(BOOTSTRAP), str(theirs), str(environment)], check=True, stdout=sys.stderr)
    return environment / "bin" / "python"


def _git(root: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=root, check=True, stdout=sys.stderr)
