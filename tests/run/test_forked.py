"""Programs that the tests' fork server runs are what a new interpreter would have run, and none of them is left."""

import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gateway.run.options import PROJECT_DIR
from tests.support import forked
from tests.support.concurrency import PATIENCE_SECONDS, eventually

PROGRAMS = {
    "ends": ["-c", "import sys; print(sys.argv, sys.path[0], __name__)", "one", "two"],
    "a module": ["-m", "gateway.run.temporary", "sh", "-c", "exit 7"],
    "a file": ["manage.py", "help", "prepare"],
    "says why": ["-c", "import sys; sys.exit('gone')"],
    "fails": ["-c", "1/0"],
    "is killed": ["-c", "import os; os.kill(os.getpid(), 9)"],
    "is interrupted": ["-c", "import os; os.kill(os.getpid(), 2)"],
    "its environment": ["-c", "import os; print(sorted(os.environ.items()), os.getcwd())"],
    "its files": ["-c", "import os; print(os.listdir('/proc/self/fd'))"],
    "its signals": ["-c", "import signal; print([(n, signal.getsignal(n)) for n in signal.valid_signals() if n < 32])"],
    "its group": ["-c", "import os; print(os.getpgrp() == os.getpid())"],
    "at the end": [
        "-c",
        "import atexit, threading; atexit.register(print, 'last'); threading.Timer(0.1, print, ['first']).start()",
    ],
    "spawns": [
        "-c",
        "import multiprocessing as m, os; os.environ['X'] = 'y'; s = m.get_context('spawn').Process(target=exec, args=("
        "'import multiprocessing as m, os, sys; print(os.environ[\"X\"], sys.argv); exit(m.parent_process().pid % 7)',));"
        "s.start(); s.join(); print(s.exitcode == os.getpid() % 7)",
    ],
    "warnings": ["-W", "ignore:of a", "-c", "import warnings; warnings.warn('of a kind'); warnings.warn('other')"],
}
INSTEAD_OF_POPEN = """
import subprocess, sys
from tests.support import forked
subprocess.Popen = forked.Forked
print(forked.run([sys.executable, "-c", "print('forked')"], env=forked._environment).stdout, end="")
"""
SLEEPS = "import time; print('begun', flush=True); time.sleep(1000)"
STARTS_ONE = f"""
import sys, time
from tests.support.forked import Forked
print(Forked([sys.executable, "-c", {SLEEPS!r}], stdout=-3).pid, flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_does_as_one_that_is_executed(name: str) -> None:
    command = [sys.executable, *PROGRAMS[name]]
    environment = {**os.environ, "ANOTHER": "one", "DATABASE_URL": "postgresql://127.0.0.1/nowhere"}
    executed = subprocess.run(command, cwd=PROJECT_DIR, env=environment, capture_output=True, text=True)
    completed = forked.run(command, cwd=PROJECT_DIR, env=environment, timeout=PATIENCE_SECONDS)
    assert (completed.returncode, completed.stdout, completed.stderr) == (
        executed.returncode,
        executed.stdout,
        executed.stderr,
    )


def test_it_reads_its_settings_from_its_own_environment() -> None:
    code = (
        "import sys; from django.conf import settings; print(settings.BODY_IDLE_SECONDS, 'gateway.urls' in sys.modules)"
    )
    assert printed(code, BODY_IDLE_SECONDS="0.25") == "0.25 True"


def test_what_an_import_made_of_a_setting_that_several_tests_set_is_made_of_its_own() -> None:
    code = "import sys; from inference.queries import catalogue; print(catalogue._snapshot.fresh_seconds, 'gateway.urls' in sys.modules)"
    assert printed(code, CATALOGUE_TTL_SECONDS="0.25") == "0.25 True"


def test_it_logs_as_its_own_settings_say() -> None:
    code = (
        "import django, logging, sys; django.setup(); print(logging.getLogger().level, 'gateway.urls' in sys.modules)"
    )
    assert printed(code, LOG_LEVEL="DEBUG") == f"{logging.DEBUG} True"


def test_what_it_spawns_is_forked_too() -> None:
    code = (
        "import multiprocessing; multiprocessing.get_context('spawn').Process(target=exec, args=("
        "'import sys; print(\"gateway.urls\" in sys.modules)',)).start()"
    )
    assert printed(code) == "True"


def test_it_is_executed_if_imports_have_used_a_setting_that_differs() -> None:
    code = (
        "import sys; from django.conf import settings; print(settings.SYNC_REQUESTS_MAX, 'gateway.urls' in sys.modules)"
    )
    assert printed(code, SYNC_REQUESTS_MAX="3") == "3 False"


def test_it_starts_though_it_stands_for_every_program_that_is_started() -> None:
    command = [sys.executable, "-c", INSTEAD_OF_POPEN]
    printed = subprocess.check_output(command, cwd=PROJECT_DIR, text=True, timeout=PATIENCE_SECONDS)
    assert printed == "forked\n"


def test_it_is_waited_for_and_killed_as_a_child_is() -> None:
    with forked.Forked([sys.executable, "-c", SLEEPS], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begun\n"
        assert process.poll() is None
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(0.01)
        process.send_signal(signal.SIGKILL)
        assert process.wait(PATIENCE_SECONDS) == process.poll() == process.returncode == -signal.SIGKILL
    assert not Path(f"/proc/{process.pid}").exists()


def test_it_ends_with_the_tests() -> None:
    command = [sys.executable, "-c", STARTS_ONE]
    with subprocess.Popen(command, cwd=PROJECT_DIR, stdout=subprocess.PIPE, text=True) as tests:
        assert tests.stdout is not None
        pid = int(tests.stdout.readline())
        assert Path(f"/proc/{pid}").exists()
        tests.kill()
    eventually(lambda: not Path(f"/proc/{pid}").exists())


def test_it_has_the_files_that_are_handed_on_under_their_numbers() -> None:
    pipes = [os.pipe() for _ in range(3)]
    writers = [writer for _, writer in pipes]
    code = f"import os; [os.write(number, str(number).encode()) for number in {writers}]"
    with forked.Forked([sys.executable, "-c", code], pass_fds=writers) as process:
        assert process.wait(PATIENCE_SECONDS) == 0
    for reader, writer in pipes:
        assert os.read(reader, 100) == str(writer).encode()
        os.close(reader)
        os.close(writer)


def printed(code: str, **settings: str) -> str:
    """Return what a program prints in an environment with these variables."""
    command = [sys.executable, "-c", code]
    completed = forked.run(command, cwd=PROJECT_DIR, env={**os.environ, **settings}, timeout=PATIENCE_SECONDS)
    assert completed.returncode == 0, completed.stderr
    return completed.stdout.strip()
