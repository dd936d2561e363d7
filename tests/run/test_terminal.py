"""What a gateway prints when nobody reads it any more: nothing, and it goes on."""

import os
import signal
import subprocess
import sys
from collections.abc import Callable

import pytest

from gateway.run.options import PROJECT_DIR
from tests.run.machine import processes_of
from tests.support.concurrency import PATIENCE_SECONDS
from tests.support.gateways import GatewayProcess
from tests.support.migrated import copy_cluster

PRINTS = """
import sys
from gateway.run.terminal import print_line
print_line("one", sys.stdout)
print_line("two", sys.stdout)
print_line("goes on", sys.stderr)
"""


def pipe_without_a_reader() -> int:
    reader, writer = os.pipe()
    os.close(reader)
    return writer


def closed_terminal() -> int:
    controller, terminal = os.openpty()
    os.close(controller)
    return terminal


@pytest.mark.parametrize("gone", [pipe_without_a_reader, closed_terminal])
def test_printing_to_nobody_ends_nothing(gone: Callable[[], int]) -> None:
    output = gone()
    try:
        completed = subprocess.run(
            [sys.executable, "-c", PRINTS], cwd=PROJECT_DIR, stdout=output, stderr=subprocess.PIPE, text=True
        )
    finally:
        os.close(output)
    assert (completed.returncode, completed.stderr) == (0, "goes on\n")


def test_a_gateway_whose_reader_has_gone_stops_in_order() -> None:
    settings = GatewayProcess()
    copy_cluster(settings.data_dir)
    command = [sys.executable, "-m", "gateway.run", "--only", "beat"]
    with subprocess.Popen(
        command, cwd=PROJECT_DIR, env=settings.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as gateway:
        assert gateway.stdout is not None
        assert gateway.stderr is not None
        try:
            assert any(line == b"ready: beat\n" for line in gateway.stdout)
            gateway.stdout.close()
            gateway.send_signal(signal.SIGINT)
            assert gateway.wait(PATIENCE_SECONDS) == 0
            assert gateway.stderr.read() == b""
        finally:
            gateway.kill()
    assert processes_of(settings.data_dir) == []
