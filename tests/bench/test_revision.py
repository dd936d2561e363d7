"""Another commit stands beside the working tree for the time of a run."""

import subprocess
from pathlib import Path

import pytest

from bench.revision import WORKING_TREE, checked_out, resolve


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """Make a repository of two commits that differ in a word, and a third that differs in its requirements."""
    root = tmp_path / "root"
    root.mkdir()
    git(root, "init", "--quiet")
    for word, requirements in (("old", "# none\n"), ("new", "# none\n"), ("other", "# still none\n")):
        (root / "word").write_text(word)
        (root / "requirements.txt").write_text(requirements)
        git(root, "add", ".")
        git(root, "-c", "user.name=a", "-c", "user.email=a@example.com", "commit", "--quiet", "-m", word)
    git(root, "checkout", "--quiet", "HEAD~1")
    git(root, "tag", "third", "HEAD@{1}")
    return root


def git(root: Path, *arguments: str) -> str:
    return subprocess.run(["git", *arguments], cwd=root, check=True, capture_output=True, text=True).stdout


def test_a_commit_is_checked_out_and_taken_away_again(root: Path, tmp_path: Path) -> None:
    place = tmp_path / "checkout"
    with checked_out("HEAD~1", place, root) as source:
        assert (source.directory / "word").read_text() == "old"
        assert source.python == WORKING_TREE.python
        (place / "left-behind").touch()
    assert not place.exists()
    assert len(git(root, "worktree", "list").splitlines()) == 1
    assert (root / "word").read_text() == "new"


def test_a_commit_of_other_requirements_has_an_environment_of_its_own(root: Path, tmp_path: Path) -> None:
    with checked_out("third", tmp_path / "checkout", root) as source:
        assert source.python == root / ".venv-against" / "bin" / "python"
        assert subprocess.run([source.python, "-c", "import psycopg"], capture_output=True).returncode == 1


def test_it_is_taken_away_when_the_run_fails(root: Path, tmp_path: Path) -> None:
    with pytest.raises(RuntimeError), checked_out("HEAD", tmp_path / "checkout", root):
        raise RuntimeError
    assert not (tmp_path / "checkout").exists()


def test_a_commit_is_named_in_short_and_refused_in_one_line(root: Path, tmp_path: Path) -> None:
    assert git(root, "rev-parse", "HEAD~1").startswith(resolve("HEAD~1", root))
    for unknown in ("no-such-commit", "--all", ""):
        with pytest.raises(SystemExit, match="names no commit"):
            resolve(unknown, root)
    with pytest.raises(SystemExit, match="names no commit"):
        resolve("HEAD", tmp_path)
