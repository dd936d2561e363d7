"""Fixtures of metrics: a folder in which this process counts."""

from pathlib import Path

import pytest

from gateway.metrics.numbers import Number
from gateway.metrics.prometheus_internals import FOLDER, write_to
from tests.support.stage_fixtures import gateway, stage, upstream  # noqa: F401


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have what this process counts from now on kept in an own folder, as a server does at its start."""
    monkeypatch.setenv(FOLDER, "")
    folder = tmp_path / "metrics"
    write_to(folder, Number(folder))
    return folder
