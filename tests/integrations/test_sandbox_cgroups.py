"""Runs' cgroups in the machine's real tree: entering, killing and cleaning up."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest

from gateway.run.options import PROJECT_DIR
from integrations.adapters import bubblewrap, cgroups, confinement, delegation, launcher
from integrations.adapters.programs import Ending, Outcome, Output, Program
from tests.integrations import cgroup_tree
from tests.support.concurrency import PATIENCE_SECONDS, at_once, eventually

LEAVES = "(setsid sh -c 'sleep 16180 & sleep 16180' &); sleep 16180"
"""Leaves orphaned processes in their own session."""
DIES = (
    "import sys; from pathlib import Path; from integrations.adapters import cgroups\n"
    "group = cgroups.create(Path(sys.argv[1])); group.path.joinpath('cgroup.procs').write_text(sys.argv[2])\n"
    "print(group.path, flush=True); sys.stdin.read()"
)
"""Creates a cgroup as a worker does, moves a process into it, and waits."""


@pytest.fixture(params=cgroup_tree.machines_own(), ids=lambda place: "cgroup2")
def base(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A parent for cgroups. Removing one waits for the end of its processes however long a busy machine takes."""
    monkeypatch.setattr(cgroups, "REMOVE_SECONDS", PATIENCE_SECONDS)
    with cgroup_tree.child(request.param) as path:
        yield path


@pytest.fixture
def group(base: Path) -> Iterator[cgroups.Cgroup]:
    group = cgroups.create(base)
    yield group
    with suppress(OSError):  # a test may have removed it
        group.remove()


@pytest.fixture
def started() -> Iterator[ExitStack]:
    with ExitStack() as stack:
        yield stack


def launch(stack: ExitStack, group: cgroups.Cgroup, script: str) -> subprocess.Popen[bytes]:
    """Execute a shell script in the cgroup."""
    procs_fd = group.open_procs_file()
    process = subprocess.Popen(
        [
            *(sys.executable, "-I", "-S", str(launcher.__file__), str(os.getpid()), str(confinement.OUTER_USER_ID)),
            *(str(procs_fd), "/bin/sh", "-c", script),
        ],
        pass_fds=[procs_fd],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    os.close(procs_fd)
    stack.enter_context(process)
    stack.callback(process.kill)
    return process


def processes(group: cgroups.Cgroup) -> list[str]:
    """List the cgroup's processes."""
    return (group.path / "cgroup.procs").read_text().split()


def test_the_program_is_in_its_cgroup_from_its_first_instruction_on(group: cgroups.Cgroup, started: ExitStack) -> None:
    out, err = launch(started, group, "cat /proc/self/cgroup; ls /proc/self/fd").communicate()
    assert group.path.name in out.decode(), err
    assert out.decode().split()[-4:] == ["0", "1", "2", "3"], "the way into the cgroup is closed"


def test_without_a_way_in_the_program_is_not_started(group: cgroups.Cgroup, started: ExitStack) -> None:
    open_procs_file = group.open_procs_file
    group.remove()
    with pytest.raises(FileNotFoundError):
        open_procs_file()
    reader, writer = os.pipe()
    command = [sys.executable, "-I", "-S", str(launcher.__file__), str(os.getpid()), "1", str(reader), "/bin/true"]
    result = subprocess.run(command, pass_fds=[reader], capture_output=True, text=True, check=False)
    for fd in (reader, writer):
        os.close(fd)
    assert (result.returncode, result.stderr) == (1, "the run's cgroup cannot be entered: Bad file descriptor\n")


def test_a_kill_reaches_processes_that_left_their_parent_and_session(group: cgroups.Cgroup, started: ExitStack) -> None:
    process = launch(started, group, LEAVES)
    eventually(lambda: len(processes(group)) >= 3)
    group.kill()
    assert process.wait() == -signal.SIGKILL
    eventually(lambda: not processes(group))
    group.remove()
    assert not group.path.exists()


def test_a_removal_kills_first(group: cgroups.Cgroup, started: ExitStack) -> None:
    process = launch(started, group, LEAVES)
    eventually(lambda: len(processes(group)) >= 3)
    group.remove()
    assert not group.path.exists()
    assert process.wait() == -signal.SIGKILL


def test_a_busy_cgroup_is_removed_by_the_next_worker(
    group: cgroups.Cgroup, base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cgroups, "REMOVE_SECONDS", 0.1)
    (group.path / "within").mkdir()
    group.remove()
    assert group.path.exists()
    (group.path / "within").rmdir()
    cgroups.sweep(base)
    assert not group.path.exists()


def test_cgroups_of_a_killed_worker_are_killed_and_removed(base: Path, started: ExitStack) -> None:
    left = started.enter_context(subprocess.Popen(["sleep", "600"]))
    worker = started.enter_context(
        subprocess.Popen(
            [sys.executable, "-c", DIES, str(base), str(left.pid)],
            cwd=PROJECT_DIR,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
    )
    assert worker.stdout is not None
    path = Path(worker.stdout.readline().decode().strip())
    cgroups.sweep(base)
    assert (left.poll(), path.exists()) == (None, True), "its worker lives"
    worker.kill()
    worker.wait()
    cgroups.sweep(base)
    assert not path.exists()
    assert left.wait() == -signal.SIGKILL


def test_a_sweep_leaves_this_workers_own_alone(group: cgroups.Cgroup, base: Path) -> None:
    cgroups.sweep(base)
    assert group.path.exists()


def test_a_sweep_leaves_other_cgroups_alone(base: Path) -> None:
    (base / "gateway").mkdir()
    cgroups.sweep(base)
    assert (base / "gateway").exists()


def test_a_cgroup_that_is_swept_before_it_is_locked_is_made_again(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    lock = fcntl.flock
    swept: list[Path] = []

    def lock_late(fd: int, how: int) -> None:
        if not swept:
            swept.extend(base.glob("run-*"))
            swept[0].rmdir()
        lock(fd, how)

    monkeypatch.setattr(fcntl, "flock", lock_late)
    group = cgroups.create(base)
    assert (len(swept), group.path.exists(), group.path in swept) == (1, True, False)
    group.remove()


def test_many_workers_make_and_sweep_at_once(base: Path) -> None:
    def work() -> int:
        for _ in range(20):
            cgroups.sweep(base)
            group = cgroups.create(base)
            assert group.path.exists()
            group.remove()
        return 20

    assert at_once(*([work] * 6)) == [20] * 6
    assert list(base.glob("run-*")) == []


@pytest.fixture
def in_force(base: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make runs use the machine's cgroups, even without controllers and thus without limits."""
    settings.SANDBOX_CGROUP = str(base)
    monkeypatch.setattr(delegation, "CONTROLLERS", frozenset())
    monkeypatch.setattr(confinement, "cgroup_limits", lambda program: {})
    return base


def test_a_run_has_a_cgroup_that_it_does_not_see(in_force: Path) -> None:
    within: list[list[str]] = []

    def look(output: Output) -> bool:
        within.extend((path / "cgroup.procs").read_text().split() for path in in_force.glob("run-*"))
        return not (b"begun" in output.stdout and within)

    script = "grep ^0:: /proc/self/cgroup; ulimit -v; ls -d /sys /proc/1/root/sys; echo begun; sleep 600"
    outcome, output = bubblewrap.run(Program(("sh", "-c", script), timeout_seconds=120), look)
    assert outcome == Outcome(Ending.STOPPED)
    assert output.stdout.decode().split() == ["0::/", "unlimited", "begun"]
    assert len(within[-1]) >= 3, "bubblewrap, its first process within, and the program"
    assert list(in_force.glob("run-*")) == []


def test_a_run_that_cannot_have_a_cgroup_is_not_started(in_force: Path) -> None:
    (in_force / "cgroup.max.descendants").write_text("0")
    outcome, _ = bubblewrap.run(Program(("true",)), lambda _: True)
    assert (outcome.ending, outcome.exit_code) == (Ending.NOT_STARTED, None)
    assert outcome.reason.startswith("The program could not be started: ")


def test_each_of_several_runs_has_its_own(in_force: Path) -> None:
    outcomes = at_once(*([lambda: bubblewrap.run(Program(("true",)), lambda _: True)[0]] * 4))
    assert outcomes == [Outcome(Ending.EXITED, 0)] * 4
    assert list(in_force.glob("run-*")) == []
