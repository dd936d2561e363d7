"""Finds the cgroup (cgroups(7), version 2) that is delegated to the worker, and prepares it for the runs' cgroups."""

import contextlib
import errno
import os
from pathlib import Path

from django.conf import settings

from integrations.adapters.programs import RunnerMissing

CONTROLLERS = frozenset({"cpu", "memory", "pids"})
LEAF = "gateway"
"""The child cgroup for the gateway's own processes, because a cgroup with controllers for its children must not have
processes.
"""
NEVER = "none"
MOVES_MAX = 20

_MARKS = ("trusted.delegate", "user.delegate")


class NotDelegated(Exception):
    """No cgroup is available for runs. The text gives the reason."""


def base() -> Path:
    """Return the parent of the runs' cgroups. Raises NotDelegated, or RunnerMissing if SANDBOX_CGROUP names one that
    cannot be used.
    """
    if not settings.SANDBOX_CGROUP:
        return _ready(_delegated())
    if settings.SANDBOX_CGROUP == NEVER:
        raise NotDelegated("SANDBOX_CGROUP is none")
    try:
        return _ready(Path(settings.SANDBOX_CGROUP))
    except NotDelegated as error:
        raise RunnerMissing(f"SANDBOX_CGROUP cannot be used: {error}.") from None


def _delegated() -> Path:
    """Return the delegated cgroup: this process's own, or its parent if this process is in the leaf."""
    group = own()
    found = group.parent if group.name == LEAF else group
    if not is_delegated(found):
        raise NotDelegated(f"{found} is not delegated")
    return found


def is_delegated(group: Path) -> bool:
    """Return whether a cgroup is delegated to this user: systemd marked it (Delegate=yes), or this user owns it but not
    its parent. Write permission is not enough, because root can write everywhere.
    """
    return _is_marked(group) or _is_boundary(group)


def own() -> Path:
    """Return this process's cgroup (cgroups(7), proc_pid_mountinfo(5)). Raises NotDelegated if version 2 is not
    available.
    """
    mounts = [line.split() for line in Path("/proc/self/mountinfo").read_text().splitlines() if " - cgroup2 " in line]
    lines = Path("/proc/self/cgroup").read_text().splitlines()
    paths = [line.removeprefix("0::") for line in lines if line.startswith("0::")]
    if not mounts or not paths:
        raise NotDelegated("cgroups of version 2 are not mounted")
    root, mount_point = mounts[0][3:5]
    return Path(os.path.normpath(f"{mount_point}/{os.path.relpath(paths[0], root)}"))


def _is_marked(group: Path) -> bool:
    for name in _MARKS:
        with contextlib.suppress(OSError):
            if os.getxattr(group, name) == b"1":
                return True
    return False


def _is_boundary(group: Path) -> bool:
    try:
        return group.stat().st_uid == os.geteuid() != group.parent.stat().st_uid
    except OSError:
        return False


def _ready(group: Path) -> Path:
    """Enable the controllers for the cgroup's children. Raises NotDelegated if that is not possible."""
    try:
        _check(group)
        if not _words(group / "cgroup.subtree_control") >= CONTROLLERS:
            _enable(group)
    except OSError as error:
        raise NotDelegated(f"{group}: {error.strerror}") from None
    return group


def _check(group: Path) -> None:
    """Raise NotDelegated if a cgroup lacks features that runs need."""
    if missing := CONTROLLERS - _words(group / "cgroup.controllers"):
        raise NotDelegated(f"{group} lacks the controllers {', '.join(sorted(missing))}")
    if not (group / "cgroup.kill").exists():  # Linux 5.14; the root cgroup has none either
        raise NotDelegated(f"{group} has no cgroup.kill")


def _enable(group: Path) -> None:
    """Enable the controllers. Processes that start meanwhile are moved, too."""
    wanted = " ".join(f"+{name}" for name in sorted(CONTROLLERS))
    for _ in range(MOVES_MAX):
        try:
            (group / "cgroup.subtree_control").write_text(wanted)
        except OSError as error:
            if error.errno != errno.EBUSY:
                raise
            _move_processes(group)
        else:
            return
    raise NotDelegated(f"{group} has processes that cannot be moved")


def _move_processes(group: Path) -> None:
    """Move the cgroup's own processes into its leaf. Processes of other namespaces have id 0."""
    leaf = group / LEAF
    leaf.mkdir(exist_ok=True)
    for process in _words(group / "cgroup.procs") - {"0"}:
        with contextlib.suppress(ProcessLookupError):
            (leaf / "cgroup.procs").write_text(process)


def _words(file: Path) -> set[str]:
    return set(file.read_text(encoding="ascii").split())
