"""Selection of the parent for runs' cgroups, and the messages if there is none."""

import os
import tempfile
from pathlib import Path
from typing import Any

import pytest

from integrations.adapters import bubblewrap, cgroups, confinement, delegation, readiness
from integrations.adapters.programs import Ending, Outcome, Program, RunnerMissing

MB = 2**20


@pytest.fixture
def base(tmp_path: Path, settings: Any) -> Path:
    """Files that look like a delegated cgroup."""
    files = {"cgroup.controllers": "cpuset cpu io memory pids", "cgroup.subtree_control": "", "cgroup.kill": ""}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    settings.SANDBOX_CGROUP = str(tmp_path)
    return tmp_path


def test_the_controllers_are_enabled(base: Path) -> None:
    assert delegation.base() == base
    assert (base / "cgroup.subtree_control").read_text() == "+cpu +memory +pids"


def test_enabled_controllers_are_not_written_again(base: Path) -> None:
    (base / "cgroup.subtree_control").write_text("cpu memory pids")
    (base / "cgroup.subtree_control").chmod(0o400)
    assert delegation.base() == base
    assert (base / "cgroup.subtree_control").read_text() == "cpu memory pids"


def test_a_named_cgroup_that_cannot_be_used_starts_nothing(base: Path) -> None:
    (base / "cgroup.controllers").write_text("hugetlb pids")
    reason = f"SANDBOX_CGROUP cannot be used: {base} lacks the controllers cpu, memory."
    assert bubblewrap.run(Program(("true",)), lambda _: True)[0] == Outcome(Ending.NOT_STARTED, reason=reason)
    with pytest.raises(RunnerMissing, match="lacks the controllers cpu, memory"):
        readiness.check()


def test_a_kernel_that_cannot_kill_a_cgroup_is_refused(base: Path) -> None:
    (base / "cgroup.kill").unlink()
    with pytest.raises(RunnerMissing, match=r"has no cgroup\.kill"):
        delegation.base()


def test_a_cgroup_that_does_not_exist_is_refused(settings: Any, tmp_path: Path) -> None:
    settings.SANDBOX_CGROUP = str(tmp_path / "nothing")
    with pytest.raises(RunnerMissing, match="nothing: No such file or directory"):
        delegation.base()


def test_write_permission_is_not_enough_for_delegation(tmp_path: Path) -> None:
    assert not delegation.is_delegated(tmp_path)


def test_a_cgroup_that_systemd_marked_is_delegated() -> None:
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        within = Path(folder) / "within"
        within.mkdir()
        os.setxattr(within, "user.delegate", b"0")
        assert not delegation.is_delegated(within)
        os.setxattr(within, "user.delegate", b"1")
        assert delegation.is_delegated(within)


def test_a_cgroup_owned_by_this_user_is_delegated() -> None:
    given_by_another = Path("/var/tmp").stat().st_uid != os.geteuid()
    with tempfile.TemporaryDirectory(dir="/var/tmp") as folder:
        assert delegation.is_delegated(Path(folder)) is given_by_another


def test_resource_limits_are_reported_to_be_in_force(settings: Any) -> None:
    settings.SANDBOX_CGROUP = "none"
    ending = "; resource limits bound each process, and the worker bounds their sum, because SANDBOX_CGROUP is none"
    assert readiness.check().endswith(ending)


def test_a_cgroup_has_every_limit(base: Path) -> None:
    for name in ("memory.max", "memory.swap.max", "memory.oom.group", "pids.max", "cpu.max", "cpu.weight"):
        (base / name).write_text("")
    cgroups.Cgroup(base, -1).limit(confinement.cgroup_limits(Program(("true",), memory_mb=100)))
    limits = {name: (base / name).read_text() for name in ("memory.max", "memory.oom.group", "pids.max", "cpu.max")}
    assert limits == {
        "memory.max": str(100 * MB),
        "memory.oom.group": "1",
        "pids.max": "65",
        "cpu.max": "100000 100000",
    }
    assert (base / "memory.swap.max").read_text() == "0"


def test_a_kernel_without_swap_needs_no_limit_of_swap(base: Path) -> None:
    cgroups.Cgroup(base, -1).limit({"memory.swap.max": "0"})
    assert not (base / "memory.swap.max").exists()


@pytest.mark.parametrize(
    ("events", "is_own"),
    [
        ("low 0\nhigh 0\nmax 12\noom 1\noom_kill 3\noom_group_kill 1\n", True),
        ("low 0\nhigh 0\nmax 12\noom 0\noom_kill 0\n", False),
        ("low 0\nhigh 0\nmax 0\noom 0\noom_kill 3\n", False),  # the machine's memory, or the service's, was full
    ],
)
def test_only_its_own_limit_counts_against_a_run(base: Path, events: str, is_own: bool) -> None:
    (base / "memory.events").write_text(events)
    assert cgroups.Cgroup(base, -1).is_out_of_memory() is is_own
