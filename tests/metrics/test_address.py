"""METRICS_ADDRESS: what it can be, and what is said where it cannot be used."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gateway.run.addresses import read_address
from gateway.run.errors import StartError
from gateway.run.launch import Launch
from gateway.run.options import PROJECT_DIR, Options
from gateway.run.ports import free_port
from gateway.run.settings import settings_problems

WRONG = "METRICS_ADDRESS must be a host and a port such as 127.0.0.1:9100 or [::1]:9100, not {!r}."


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("127.0.0.1:9100", ("127.0.0.1", 9100)),
        ("[::1]:9100", ("::1", 9100)),
        ("[fe80::1%eth0]:1", ("fe80::1%eth0", 1)),
        ("localhost:65535", ("localhost", 65535)),
        (" metrics.internal:9100 ", ("metrics.internal", 9100)),
    ],
)
def test_an_address_is_read(text: str, address: tuple[str, int]) -> None:
    assert read_address("METRICS_ADDRESS", text) == address


@pytest.mark.parametrize(
    "text",
    ["9100", ":9100", "host", "host:", "host:0", "host:65536", "::1:9100", "[::1]", "a b:1", "http://h:1", "h:٣"],
)
def test_another_text_is_refused_in_one_line(text: str) -> None:
    with pytest.raises(StartError) as refused:
        Options.read({"METRICS_ADDRESS": text})
    assert str(refused.value) == WRONG.format(text)


def test_a_server_that_is_started_by_itself_refuses_it_too() -> None:
    assert settings_problems({**os.environ, "METRICS_ADDRESS": "9100"}, besides=[]) == [WRONG.format("9100")]


@pytest.fixture
def taken() -> Iterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        yield int(listener.getsockname()[1])


def test_a_port_that_is_taken(taken: int, tmp_path: Path) -> None:
    expected = f"Cannot listen on 127.0.0.1:{taken}: Address already in use; set another METRICS_ADDRESS."
    settings = {"METRICS_ADDRESS": f"127.0.0.1:{taken}", "PORT": str(free_port()), "DATA_DIR": str(tmp_path / "data")}
    with pytest.raises(StartError) as refused:
        Launch(Options.read(settings)).run()
    assert str(refused.value) == expected
    assert not (tmp_path / "data").exists(), "nothing was started"
    assert alone(settings) == (1, f"gateway: {expected}\n")


def test_without_an_address_there_is_nothing_to_serve() -> None:
    assert alone({}) == (1, "gateway: Set METRICS_ADDRESS to a host and a port such as 127.0.0.1:9100.\n")


def alone(settings: dict[str, str]) -> tuple[int, str]:
    """Start the process that serves metrics by itself; return its exit code and what it said."""
    environment = {**os.environ, "METRICS_ADDRESS": "", **settings}
    command = [sys.executable, "-m", "gateway.metrics"]
    done = subprocess.run(command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout + done.stderr
