"""What the demo shows of the sandbox, and what it says where there is none."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import psycopg
import pytest

from gateway.demo.sandbox import RIGHTS, show_sandbox
from gateway.run.environment import load
from tests.support.demo_gateway import DemoGateway

CANCELLED_WITHIN_SECONDS = 30.0
"""On a busy machine as well. The demo's program, which ignores signals, would end by itself after 50 s."""


def shown(demo: DemoGateway) -> list[str]:
    """Return what the step tells, without its heading."""
    lines: list[str] = []
    show_sandbox(demo.sign_in(*RIGHTS), lines.append, 1)
    return "".join(lines).strip().splitlines()[1:]


@contextmanager
def changed(demo: DemoGateway, statement: str) -> Iterator[None]:
    """Change the settings of the sandbox for a while."""
    with psycopg.connect(load(demo.data_dir)["DATABASE_URL"], autocommit=True) as database:
        copy = "CREATE TEMPORARY TABLE kept AS SELECT * FROM integrations_sandboxsettings"
        database.execute(copy)
        try:
            database.execute(statement)
            yield
        finally:
            database.execute("DELETE FROM integrations_sandboxsettings")
            database.execute("INSERT INTO integrations_sandboxsettings SELECT * FROM kept")


def test_a_run_is_shown_while_it_runs_and_another_is_cancelled(demo_gateway: DemoGateway) -> None:
    lines = demo_gateway.tour.partition("is executed in the sandbox")[2].splitlines()[1:]
    parts = [re.fullmatch(r" +[0-9.]+ s  (running|succeeded) +part (one|two|three)", line) for line in lines[:3]]
    assert [part and part[2] for part in parts] == ["one", "two", "three"]
    assert parts[0] is not None
    assert parts[0][1] == "running"
    assert re.fullmatch(r" +[0-9.]+ s  succeeded, exit code 0", lines[3])
    end = re.fullmatch(r" +([0-9.]+) s  cancelled, and all of its processes are gone", lines[5])
    assert end is not None
    assert float(end[1]) < CANCELLED_WITHIN_SECONDS


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("DELETE FROM integrations_sandboxsettings", "No sandbox is configured on this gateway."),
        (
            "UPDATE integrations_sandboxsettings SET runner = 'http', base_url = 'http://127.0.0.1:9'",
            "The runner could not be reached.",
        ),
    ],
)
def test_what_is_missing_is_reported_in_one_line(demo_gateway: DemoGateway, statement: str, words: str) -> None:
    with changed(demo_gateway, statement):
        assert shown(demo_gateway) == [f"   Not here: {words}"]


def test_the_sandboxs_worker_tells_what_bounds_its_programs(demo_gateway: DemoGateway) -> None:
    lines = re.findall(r"Sandbox: bubblewrap [0-9.]+; .+", demo_gateway.stderr)
    assert len(lines) == 1
