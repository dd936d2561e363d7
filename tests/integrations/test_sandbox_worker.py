"""When `make run` starts a worker for sandbox runs, and what that worker logs about its machine."""

import logging
from pathlib import Path
from typing import Any

import pytest

from gateway.run.environment import SANDBOX_MARK
from integrations import tasks
from integrations.adapters import confinement
from integrations.models import IntegrationSwitch
from integrations.operations import sandbox_worker
from tests.integrations.sandbox import configure

pytestmark = pytest.mark.django_db


@pytest.fixture
def mark(tmp_path: Path, settings: Any) -> Path:
    settings.DATA_DIR = tmp_path
    return tmp_path / SANDBOX_MARK


def warnings(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    """Return what the worker logged; gateways that earlier tests left running in this process may log as well."""
    return [record for record in caplog.records if record.name == "integrations.sandbox"]


def test_a_worker_is_wanted_while_there_is_work_for_one(mark: Path) -> None:
    sandbox_worker.mark_whether_wanted()
    assert not mark.exists()
    stored = configure()
    tasks.tend_executions()
    assert mark.exists()
    stored.delete()
    sandbox_worker.mark_whether_wanted()
    assert not mark.exists()
    IntegrationSwitch.objects.create(name="evolution", enabled=True)
    sandbox_worker.mark_whether_wanted()
    assert mark.exists()


def test_without_a_data_directory_nothing_is_marked(mark: Path, settings: Any) -> None:
    settings.DATA_DIR = mark / "nothing"
    configure()
    assert tasks.tend_executions() == 0


def test_the_limits_of_programs_are_logged(caplog: pytest.LogCaptureFixture) -> None:
    configure()
    with caplog.at_level(logging.INFO, "integrations.sandbox"):
        sandbox_worker.log_readiness()
    [record] = warnings(caplog)
    assert record.levelname == "INFO"
    assert record.getMessage().startswith("Sandbox: bubblewrap ")


def test_missing_requirements_are_logged(caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    configure()
    monkeypatch.setattr(confinement.shutil, "which", lambda name, path: None)
    sandbox_worker.log_readiness()
    [record] = warnings(caplog)
    assert (record.levelname, record.getMessage()) == (
        "WARNING",
        "Sandbox: programs cannot be executed on this machine. "
        "The worker's machine lacks bwrap; on Debian: apt install bubblewrap",
    )


def test_a_remote_runner_needs_nothing_of_this_machine(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure().__class__.objects.update(runner="http")
    monkeypatch.setattr(confinement.shutil, "which", lambda name, path: None)
    sandbox_worker.log_readiness()
    assert warnings(caplog) == []
