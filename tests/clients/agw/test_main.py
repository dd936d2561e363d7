"""How `agw` ends: its exit status, one line, never a traceback."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import requests

from account_gateway_client import GatewayError, GatewayUnreachable, InvalidReceipt
from account_gateway_client.cli import exit_status, main
from account_gateway_client.cli.errors import CommandError, NotSignedIn, TimedOut, WrongUse
from account_gateway_client.cli.main import COMMANDS
from tests.clients.agw.command_line import CommandLine

CLIENT = Path(__file__).resolve().parents[3] / "clients" / "python"
STATUSES = {200: 0, 201: 0, 400: 1, 401: 3, 402: 7, 403: 3, 404: 4, 405: 1, 409: 5, 413: 1, 422: 1, 429: 1, 500: 1, 502: 1, 503: 1, 504: 6}  # fmt: skip
HEAVY = ("requests", "cryptography", "keyring", "urllib3", "asyncio")


@pytest.mark.parametrize(("status", "expected"), STATUSES.items())
def test_an_answers_status_becomes_the_exit_status(status: int, expected: int) -> None:
    assert exit_status.of_http(status) == expected
    if status >= 400:
        assert exit_status.of_error(GatewayError(status, "code")) == expected


def test_errors_of_this_side_have_theirs() -> None:
    errors = [CommandError(), WrongUse(), NotSignedIn(), TimedOut(), InvalidReceipt(), GatewayUnreachable()]
    assert [exit_status.of_error(error) for error in errors] == [1, 2, 3, 6, 1, 1]
    late = GatewayUnreachable()
    late.__cause__ = requests.ReadTimeout()
    assert exit_status.of_error(late) == 6
    assert exit_status.of_error(GatewayError(200, "unreadable")) == 1


@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_explains_itself(command: str, agw: CommandLine) -> None:
    shown = agw.run(command, "--help")
    assert shown.status == 0
    assert f"Usage: agw {command} " in shown.out
    assert "--gateway" in shown.out


def test_no_error_is_a_traceback(agw: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*arguments: object) -> None:
        raise RuntimeError("a secret")

    monkeypatch.setattr("account_gateway_client.cli.session.open_gateway", fail)
    ended = agw.run("wallet")
    assert ended.status == 1
    assert ended.complaint == "Something unexpected happened (RuntimeError): run `agw doctor`."


def test_an_interruption_is_no_failure_of_ours(agw: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*arguments: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("account_gateway_client.cli.session.open_gateway", interrupt)
    ended = agw.run("wallet")
    assert (ended.status, ended.err.strip()) == (130, "")


def test_nobody_reads_on(agw: CommandLine, monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "account_gateway_client.cli", "--help"]
    environment = os.environ | {"PYTHONPATH": str(CLIENT)}
    with os.fdopen(writer, "wb") as pipe:
        ended = subprocess.run(command, stdout=pipe, stderr=subprocess.PIPE, env=environment)
    assert (ended.returncode, ended.stderr) == (1, b"")


def test_help_imports_nothing_that_is_slow() -> None:
    script = f"""
import sys
from account_gateway_client.cli.main import run
assert run(["--help"]) == 0
print([name for name in {HEAVY} if name in sys.modules])
"""
    shown = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, env=os.environ | {"PYTHONPATH": str(CLIENT)}
    )
    assert shown.stdout.splitlines()[-1] == "[]", shown.stderr


def test_colours_are_for_terminals_alone(agw: CommandLine) -> None:
    for no_color in ("", "1"):
        agw.environment["NO_COLOR"] = no_color
        assert "\x1b" not in agw.run("wallet").err


def test_the_version_is_told(agw: CommandLine) -> None:
    assert agw.run("--version").out.strip()
    assert main.run(["--version"]) == 0
