"""The guide's commands restore dumps made before and after a move of old calls, or change nothing."""

import os
import re
import shlex
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from gateway.run import binaries
from tests.billing.months.conftest import dropped_tables, furnish  # noqa: F401
from tests.factories import months
from tests.factories.months import TABLES
from tests.support.database import connect, database_url

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("dropped_tables")]

PAGE = Path(__file__).parents[2] / "docs" / "guides" / "backup.md"
NAME = "gateway_restored"


@pytest.fixture
def copy() -> Iterator[str]:
    """Return the URL of a new, empty database."""
    with connect(autocommit=True) as server:
        server.execute(f"CREATE DATABASE {NAME}".encode())
        yield f"{database_url().rpartition('/')[0]}/{NAME}"
        server.execute(f"DROP DATABASE {NAME} WITH (FORCE)".encode())


def run_of_page(program: str, url: str, dump: Path) -> subprocess.CompletedProcess[str]:
    """Run the guide's command of a PostgreSQL program."""
    [line] = re.findall(rf'^{program} .*"\$DATABASE_URL".*$', PAGE.read_text(), re.MULTILINE)
    _, *arguments = shlex.split(line.replace("$DATABASE_URL", url).replace("gateway.dump", str(dump)))
    command = [binaries.find(None, os.environ).program(program), *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def rows_in(url: str) -> dict[str, list[Any]]:
    with psycopg.connect(url) as session:
        return {
            hot: session.execute(f"SELECT t.tableoid::regclass, t FROM {hot} t ORDER BY 2".encode()).fetchall()
            for hot in TABLES
        }


def test_a_dump_is_restored_whole_or_not_at_all(copy: str, tmp_path: Path) -> None:
    furnish()
    before, after = tmp_path / "before", tmp_path / "after"
    hot = rows_in(database_url())
    assert run_of_page("pg_dump", database_url(), before).returncode == 0
    months.move()
    moved = rows_in(database_url())
    assert run_of_page("pg_dump", database_url(), after).returncode == 0

    for dump, restored, holds in ((before, True, hot), (after, True, moved), (before, False, moved)):
        done = run_of_page("pg_restore", copy, dump)
        assert (done.returncode == 0) is restored, done.stderr
        assert rows_in(copy) == holds
