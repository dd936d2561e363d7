"""The version is written in one place, and everything that shows it shows the same."""

import os
import re
import subprocess
import sys
import tomllib

import pytest

from gateway.run.options import PROJECT_DIR
from gateway.version import VERSION

NUMBER = re.compile(r"(\d+\.\d+\.\d+)(-dev)?")


def text(name: str) -> str:
    return (PROJECT_DIR / name).read_text(encoding="utf-8")


def test_it_is_a_number_or_what_will_become_one() -> None:
    assert NUMBER.fullmatch(VERSION)


def test_the_changelogs_newest_heading_is_of_this_version() -> None:
    """What is not released stands under "Unreleased", and a release has a date."""
    newest = re.findall(r"^## (.+)$", text("CHANGELOG.md"), re.MULTILINE)[0]
    number, dev = NUMBER.fullmatch(VERSION).groups()  # type: ignore[union-attr]
    assert re.fullmatch(r"\[Unreleased\]" if dev else rf"\[{re.escape(number)}\] - \d{{4}}-\d\d-\d\d", newest)


def test_the_project_and_the_image_have_it() -> None:
    project = tomllib.loads(text("pyproject.toml"))
    assert project["project"]["dynamic"] == ["version"]
    assert project["tool"]["setuptools"]["dynamic"]["version"] == {"attr": "gateway.version.VERSION"}
    assert re.findall(r'org\.opencontainers\.image\.version="([^"]*)"', text("deploy/Dockerfile")) == [VERSION]


@pytest.mark.parametrize("command", ["manage.py version", "manage.py --version", "-m gateway.run --version"])
def test_a_command_prints_it_without_any_setting(command: str) -> None:
    environment = {"PATH": os.environ["PATH"], "GATEWAY_ENV": "production"}
    printed = subprocess.check_output([sys.executable, *command.split()], cwd=PROJECT_DIR, env=environment, text=True)
    assert printed == f"{VERSION}\n"
