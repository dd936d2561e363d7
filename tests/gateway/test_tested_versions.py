"""A library in a version that the tests have not seen is reported at the start and by `manage.py check`."""

import logging
from importlib.metadata import version
from pathlib import Path
from typing import Any

import pytest
from django.core.checks import run_checks

from gateway.core.runtime import tested_versions
from gateway.server.lifespan import Lifespan
from tests.support.serving import RunningGateway

INSTALLED = {name: version(name) for name in tested_versions.LIBRARIES}


def reported() -> list[str]:
    """Return what `manage.py check` says of versions."""
    return [message.msg for message in run_checks() if message.id == "gateway.W002"]


def lock(path: Path, **others: str) -> Path:
    """Write a `requirements.txt` of what is installed, with other versions of some. Return its folder."""
    pins = {**INSTALLED, **others}
    text = "".join(f"{name}=={pin} ; python_version > '3'\\\n    --hash=sha256:0\n" for name, pin in pins.items())
    (path / "requirements.txt").write_text(text)
    return path


def test_what_the_project_pins_is_what_is_installed_here() -> None:
    assert tested_versions.differences() == reported() == []


def test_each_library_has_a_pin(tmp_path: Path, settings: Any) -> None:
    """Without the lock file, nothing is known to be tested."""
    settings.BASE_DIR = tmp_path
    assert len(tested_versions.differences()) == len(tested_versions.LIBRARIES)


def test_another_version_is_reported_by_check(tmp_path: Path, settings: Any) -> None:
    settings.BASE_DIR = lock(tmp_path, aiohttp="3.99.0")
    expected = f"aiohttp {INSTALLED['aiohttp']} is installed, but this gateway was tested with 3.99.0."
    assert tested_versions.differences() == reported() == [expected]


@pytest.mark.django_db(transaction=True)
def test_another_version_is_a_warning_in_the_log_of_a_server(
    tmp_path: Path, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.BASE_DIR = lock(tmp_path, uvicorn="0.99.0")
    with RunningGateway(Lifespan()):
        pass
    logged = [record for record in caplog.records if "is installed, but" in record.getMessage()]
    assert [(record.name, record.levelno) for record in logged] == [("gateway.lifespan", logging.WARNING)]
    assert (
        f"uvicorn {INSTALLED['uvicorn']} is installed, but this gateway was tested with 0.99.0."
        in logged[0].getMessage()
    )
