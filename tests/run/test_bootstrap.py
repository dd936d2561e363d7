"""What readies `.venv` before anything is installed."""

from pathlib import Path

import pytest

from gateway.run import bootstrap


def test_it_installs_once_and_again_when_the_file_changes(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    requirements, environment = tmp_path / "requirements.txt", tmp_path / "venv"
    requirements.write_text("# nothing\n")
    arguments = [str(requirements), str(environment)]
    assert bootstrap.main(arguments) == 0
    assert capfd.readouterr().out == "installing requirements.txt into venv (once, takes a minute) ...\n"
    assert bootstrap.main(arguments) == 0
    assert capfd.readouterr().out == ""
    (tmp_path / "local").mkdir()
    requirements.write_text(f"local @ file://{tmp_path}/local\n")
    assert bootstrap.main(arguments) == 1, "a file without a recorded hash must not be installed"
    assert "gateway: Installing requirements.txt failed, see above.\n" in capfd.readouterr().err


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
    assert capsys.readouterr().err == "gateway: Python 3.11 or later is needed, this is 3.10; set PYTHON=...\n"
