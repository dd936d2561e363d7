"""What readies `.venv` before anything is installed."""

import contextlib
import hashlib
import io
import shutil
import zipfile
from pathlib import Path

import pytest

from gateway.run import bootstrap


@pytest.fixture(autouse=True)
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Try again at once."""
    monkeypatch.setattr(bootstrap, "PAUSES_SECONDS", (0,))


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Make an environment from a file without packages, which takes seconds; return it and what was printed."""
    folder = tmp_path_factory.mktemp("bootstrap")
    (folder / "requirements.txt").write_text("# nothing\n")
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        assert bootstrap.main([str(folder / "requirements.txt"), str(folder / "venv")]) == 0
    return folder / "venv", printed.getvalue()


@pytest.fixture
def environment(made: tuple[Path, str], tmp_path: Path) -> Path:
    """Copy it for a test."""
    return Path(shutil.copytree(made[0], tmp_path / "venv", symlinks=True))


def test_it_installs_once_and_again_when_the_file_changes(
    made: tuple[Path, str], environment: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    requirements = tmp_path / "requirements.txt"
    requirements.write_text("# nothing\n")
    arguments = [str(requirements), str(environment)]
    making, installing, ready = made[1].splitlines()
    assert making.startswith("creating the environment venv with Python 3.")
    assert installing == "installing requirements.txt into venv (only once; takes about a minute) ..."
    assert ready == "venv is ready."
    assert bootstrap.main(arguments) == 0
    assert capfd.readouterr().out == ""
    (tmp_path / "local").mkdir()
    requirements.write_text(f"local @ file://{tmp_path}/local\n")
    assert bootstrap.main(arguments) == 1, "a file without a recorded hash must not be installed"
    assert "gateway: Installing requirements.txt failed; see above.\n" in capfd.readouterr().err


def test_it_tries_again_when_the_network_was_away(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "requirements.txt").write_text("# nothing else\n")
    answers = iter([False, True])
    monkeypatch.setattr(bootstrap, "install", lambda *arguments: next(answers))
    assert bootstrap.main([str(tmp_path / "requirements.txt"), str(environment)]) == 0
    assert capfd.readouterr().out.splitlines()[1:] == [
        "installing requirements.txt failed; trying again in 0 s ...",
        "venv is ready.",
    ]


def test_it_names_each_package_as_pip_turns_to_it(
    environment: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    wheel = tmp_path / "little_thing-1.0-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("little_thing.py", "")
        archive.writestr(
            "little_thing-1.0.dist-info/METADATA", "Metadata-Version: 2.1\nName: little-thing\nVersion: 1.0\n"
        )
        archive.writestr("little_thing-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        archive.writestr("little_thing-1.0.dist-info/RECORD", "")
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    requirements = tmp_path / "requirements.txt"
    requirements.write_text(
        f"--no-index\n--find-links {tmp_path}\nlittle-thing==1.0 \\\n    --hash=sha256:{digest}\n    # via nobody\n"
    )
    assert bootstrap.main([str(requirements), str(environment)]) == 0
    assert capfd.readouterr().out.splitlines() == [
        "installing requirements.txt into venv (only once; takes about a minute) ...",
        "  1 of 1: little_thing",
        "  unpacking them ...",
        "venv is ready.",
    ]


def test_it_counts_what_this_platform_needs_once() -> None:
    printed = (
        "Ignoring pywin32: markers 'sys_platform == \"win32\"' don't match your environment",
        "Collecting django-allauth==65.1 (from -r requirements.txt (line 1))",
        "  Downloading django_allauth-65.1-py3-none-any.whl (1 kB)",
        "Requirement already satisfied: attrs==25.1 in ./.venv/lib (from -r requirements.txt (line 2)) (25.1)",
        "Requirement already satisfied: attrs in ./.venv/lib (from aiohttp==3.1)",
        "Installing collected packages: django-allauth",
        "Successfully installed django-allauth-65.1",
    )
    assert list(bootstrap.progress(printed, 3)) == [
        "  1 of 2: django-allauth",
        "  2 of 2: attrs",
        "  unpacking them ...",
    ]


def test_it_mends_an_environment_that_was_half_made(tmp_path: Path) -> None:
    requirements, environment = tmp_path / "requirements.txt", tmp_path / "venv"
    requirements.write_text("# nothing\n")
    (environment / "bin").mkdir(parents=True)
    (environment / "bin" / "python").symlink_to("/nonexistent/python")
    assert bootstrap.main([str(requirements), str(environment)]) == 0
    assert bootstrap.runs(environment / "bin" / "python", "-m", "pip", "--version")


def test_it_says_which_python_is_needed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(bootstrap.sys, "version_info", (3, 10, 4))
    assert bootstrap.main(["requirements.txt"]) == 1
    assert capsys.readouterr().err == "gateway: Python 3.11 or later is needed, but this is 3.10; set PYTHON=...\n"
