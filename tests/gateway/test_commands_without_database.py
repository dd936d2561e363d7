"""Commands where the database is away: one line that says so, and what needs no database is done."""

import os
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR
from gateway.run.ports import free_port
from tests.support.forked import run

GOOD = "products:\n  - {slug: studio, name: Studio}\n"
BAD = "products:\n  - {slug: studio, name: Studio, colour: red}\n  - {slug: courier}\n"
# Its upstream may be a stored row: only the database could tell.
REFERRING = "aliases:\n  - {name: fast, deployments: [{upstream: stored, model: small}], price: {input_token: '0.1'}}\n"


def manage(*arguments: str) -> tuple[int, str, str]:
    """Run a command against a database that is away; return its exit code and what it printed."""
    url = f"postgresql://me:secret-word@127.0.0.1:{free_port()}/gateway"
    done = run([sys.executable, "manage.py", *arguments], cwd=PROJECT_DIR, env={**os.environ, "DATABASE_URL": url})
    assert "secret-word" not in done.stdout + done.stderr
    return done.returncode, done.stdout, done.stderr


COMMANDS = (
    "audit_ledger",
    "rotate_receipt_keys",
    "rotate_signing_keys",
    "reencrypt",
    "migrate",
    "prepare",
    "apply",
    "export",
    "move_ledger_month 2025-10",
    "propose_prices",
)


@pytest.fixture(scope="module")
def answered() -> dict[str, tuple[int, str, str]]:
    """Run the commands, several at once: each waits seconds for the database."""
    with ThreadPoolExecutor(5) as pool:
        return dict(zip(COMMANDS, pool.map(lambda command: manage(*command.split()), COMMANDS), strict=True))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_says_in_one_line_that_the_database_is_away(
    command: str, answered: dict[str, tuple[int, str, str]]
) -> None:
    code, _, printed = answered[command]
    assert code == 1
    [line] = printed.splitlines()
    assert "The database at 127.0.0.1:" in line
    assert "does not answer: " in line


@pytest.mark.parametrize("text", [GOOD, REFERRING])
def test_a_check_of_the_file_itself_needs_no_database(tmp_path: Path, text: str) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(text)
    code, printed, complaints = manage("apply", str(file), "--check")
    assert (code, complaints) == (0, "")
    [line] = printed.splitlines()
    assert line.startswith(
        "gateway.yaml is valid as far as can be checked without the database. The database at 127.0.0.1:"
    )


def test_a_check_names_every_problem_without_a_database(tmp_path: Path) -> None:
    file = tmp_path / "gateway.yaml"
    file.write_text(BAD)
    code, _, complaints = manage("apply", str(file), "--check")
    assert code == 1
    assert "gateway.yaml:2 products[0].colour" in complaints
    assert "gateway.yaml:3 products[1].name" in complaints
    assert "Traceback" not in complaints
