"""Numbers of processes: distinct while they live, used again afterwards, so that files do not grow in number."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from gateway.metrics import exposition
from gateway.run.options import PROJECT_DIR
from tests.metrics.text import Scrape

PROGRAM = """
import os, sys
from pathlib import Path
from prometheus_client import Counter, Gauge
from gateway.metrics.numbers import Number
from gateway.metrics.prometheus_internals import write_to

folder = Path(sys.argv[1])
write_to(folder, Number(folder))
done = Counter("done_total", "Done.", registry=None)
doing = Gauge("doing", "Doing.", registry=None, multiprocess_mode="livesum")

def work():
    done.inc()
    doing.set(1)
    print("ready", flush=True)

work()
for line in sys.stdin:
    if line == "fork\\n" and os.fork() == 0:
        work()
        sys.stdin.read()
        os._exit(0)
"""


class Worker:
    """A process that counts one thing done and does one thing."""

    def __init__(self, folder: Path, stack: ExitStack) -> None:
        command = [sys.executable, "-c", PROGRAM, str(folder)]
        pipe = subprocess.PIPE
        popen = subprocess.Popen(command, cwd=PROJECT_DIR, stdin=pipe, stdout=pipe, text=True)
        self.process = stack.enter_context(popen)
        stack.callback(self.process.kill)
        self.read()

    def read(self) -> None:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"

    def fork(self) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write("fork\n")
        self.process.stdin.flush()
        self.read()

    def end(self, how: signal.Signals) -> None:
        self.process.send_signal(how)
        self.process.wait()


@pytest.fixture
def stack() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def scraped(folder: Path) -> tuple[float | None, float | None]:
    """Return what was done, and what is being done."""
    scrape = Scrape(exposition.render(folder, None).decode())
    return scrape.value("done_total"), scrape.value("doing")


def files(folder: Path) -> set[str]:
    return {path.name for path in folder.glob("*.db")}


def test_a_killed_process_keeps_its_counts_and_does_nothing_more(tmp_path: Path, stack: ExitStack) -> None:
    workers = [Worker(tmp_path, stack) for _ in range(3)]
    assert scraped(tmp_path) == (3, 3)
    workers[1].end(signal.SIGKILL)
    assert scraped(tmp_path) == (3, 2)
    Worker(tmp_path, stack)
    assert scraped(tmp_path) == (4, 3)
    assert files(tmp_path) == {f"{kind}_{number}.db" for kind in ("counter", "gauge_livesum") for number in (1, 2, 3)}


def test_restarts_make_no_more_files(tmp_path: Path, stack: ExitStack) -> None:
    Worker(tmp_path, stack)
    for _ in range(5):
        Worker(tmp_path, stack).end(signal.SIGKILL)
    assert scraped(tmp_path) == (6, 1)
    assert files(tmp_path) == {"counter_1.db", "counter_2.db", "gauge_livesum_1.db"}


def test_a_process_that_is_forked_off_has_its_own_files(tmp_path: Path, stack: ExitStack) -> None:
    parent = Worker(tmp_path, stack)
    parent.fork()
    assert scraped(tmp_path) == (2, 2)
    assert files(tmp_path) == {f"{kind}_{number}.db" for kind in ("counter", "gauge_livesum") for number in (1, 2)}


def test_the_first_process_removes_what_was_counted_before(tmp_path: Path, stack: ExitStack) -> None:
    for how in (signal.SIGKILL, signal.SIGTERM):
        Worker(tmp_path, stack).end(how)
        assert scraped(tmp_path) == (1, None)


def test_a_file_is_allocated_before_it_is_written(folder: Path) -> None:
    from prometheus_client import Counter

    counter = Counter("things_total", "Things.", ["name"], registry=None)
    for number in range(3000):
        counter.labels(f"thing-{number:0100}").inc()
    (path,) = folder.glob("counter_*.db")
    status = path.stat()
    assert status.st_size > 512 * 1024, "it has grown"
    assert status.st_blocks * 512 >= status.st_size, "it is not sparse: a full disk is an error, and not a SIGBUS"
    assert Scrape(exposition.render(folder, None).decode()).value("things_total") == 3000


def test_a_full_disk_is_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from prometheus_client import Counter

    def full(*_: object) -> None:
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(os, "posix_fallocate", full)
    with pytest.raises(OSError, match="No space left on device"):
        Counter("things_total", "Things.", registry=None)
