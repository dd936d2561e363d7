"""Builds bubblewrap's command line and a run's limits: what a program can see and use of the machine."""

import os
import platform
import shlex
import shutil
from collections.abc import Iterator
from pathlib import Path

from django.conf import settings

from integrations.adapters.programs import Program, RunnerMissing
from integrations.rules import seccomp

DISK_MAX_BYTES = 64 * 1024 * 1024
PROCESSES_MAX = 64
OUTER_PROCESSES = 1  # bubblewrap's own process, outside the sandbox
OPEN_FILES_MAX = 256
PROCESSORS = 1
CPU_PERIOD_MICROSECONDS = 100_000
CPU_WEIGHT = 33  # equivalent to niceness 5; a service has 100
WORK_DIR = "/tmp/run"  # noqa: S108 - within the sandbox
ENVIRONMENT_FILE = "/etc/run-environment"  # within the sandbox
USER_ID = 1000  # within the sandbox
OUTER_USER_ID = 60977
"""The user of a run's processes outside the sandbox if the worker is root. It has no name and owns no file: `nobody` may
be the user of the embedded database. systemd leaves the numbers 60706 to 61183 unused.
"""

_SYSTEM = ("/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
_DEVICES = ("null", "zero", "full", "random", "urandom")
_ETC = ("/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d", "/etc/localtime")
_ETC_OF_NETWORK = ("/etc/hosts", "/etc/nsswitch.conf", "/etc/resolv.conf", "/etc/services", "/etc/ssl/certs")
_SHELLS_OWN = frozenset({"BASHOPTS", "BASH_VERSINFO", "EUID", "OPTIND", "PPID", "SHELLOPTS", "UID"})
"""Variables that a shell ends at instead of setting them: dash OPTIND, bash the others."""
_PASSWD = f"sandbox:x:{USER_ID}:{USER_ID}::{WORK_DIR}:/bin/sh\n".encode()
_ENVIRONMENT = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": WORK_DIR, "LANG": "C.UTF-8", "TMPDIR": "/tmp"}  # noqa: S108


def machine() -> seccomp.Machine:
    """Return this machine's architecture. Raises RunnerMissing if it is not supported."""
    known = seccomp.MACHINES.get(platform.machine())
    if known is None or platform.system() != "Linux":
        raise RunnerMissing("The runner bubblewrap needs Linux on x86-64 or arm64.")
    return known


def program_path(name: str, package: str) -> str:
    """Return a program's path. Raises RunnerMissing."""
    found = shutil.which(name, path="/usr/local/bin:/usr/bin:/bin")
    if found is None:
        raise RunnerMissing(f"The worker's machine lacks {name}; on Debian: apt install {package}")
    return found


def arguments(program: Program, fd_of: dict[str, int]) -> list[str]:
    """Return the arguments for `bwrap --args`. `fd_of` has the file descriptors `status`, `filter`, `passwd` and
    `environment`, and those of the files by path with a leading slash.
    """
    return [
        *("--unshare-all", "--unshare-user", "--disable-userns", "--cap-drop", "ALL", "--new-session"),
        *("--die-with-parent", "--hostname", "sandbox", "--uid", str(USER_ID), "--gid", str(USER_ID)),
        *(("--share-net",) if program.egress else ()),
        *("--json-status-fd", str(fd_of["status"]), "--seccomp", str(fd_of["filter"])),
        *_system(program.egress),
        *("--ro-bind-data", str(fd_of["passwd"]), "/etc/passwd", "--proc", "/proc"),
        *("--ro-bind-data", str(fd_of["environment"]), ENVIRONMENT_FILE),
        # bubblewrap itself has no resource limits; a program that could write to its memory would have none either.
        *("--tmpfs", "/proc/1", "--remount-ro", "/proc/1"),
        *_devices(),
        *("--perms", "1777", "--size", str(DISK_MAX_BYTES), "--tmpfs", "/tmp"),  # noqa: S108
        *("--dir", WORK_DIR),
        *_files(fd_of),
        *("--remount-ro", "/", "--chdir", WORK_DIR, "--clearenv"),
        *_environment(),
    ]


def limited(program: Program, *, has_cgroup: bool) -> list[str]:
    """Return the command with resource limits. They are set inside the sandbox, where the kernel counts its processes
    separately. If a cgroup limits the memory used, more may be reserved.

    The program's own environment is set after them: the loader follows variables such as LD_PRELOAD, so the program that
    sets the limits would run an owner's code before it does.
    """
    limits = {
        **({} if has_cgroup else {"--as": program.memory_mb * 2**20}),
        "--cpu": program.timeout_seconds * (os.cpu_count() or 1) + 1,
        "--fsize": DISK_MAX_BYTES,
        "--nofile": OPEN_FILES_MAX,
        "--nproc": PROCESSES_MAX,
        "--core": 0,
        "--memlock": 0,
        "--msgqueue": 0,
        "--nice": 0,
        "--rtprio": 0,
    }
    options = [f"{name}={value}:{value}" for name, value in limits.items()]
    return [program_path("prlimit", "util-linux"), *options, "--", *_with_environment(program)]


def cgroup_limits(program: Program) -> dict[str, str]:
    """Return the limits of the run's cgroup by the names of their files (the kernel's cgroup-v2.rst)."""
    return {
        "memory.max": str(program.memory_mb * 2**20),
        "memory.swap.max": "0",
        "memory.oom.group": "1",
        "pids.max": str(PROCESSES_MAX + OUTER_PROCESSES),
        "cpu.max": f"{PROCESSORS * CPU_PERIOD_MICROSECONDS} {CPU_PERIOD_MICROSECONDS}",
        "cpu.weight": str(CPU_WEIGHT),
    }


def environment(program: Program) -> bytes:
    """Return the content of the file with a program's own variables, for a POSIX shell. Those that are the shell's own are
    set by a program between the shell and the command, on its command line: they are hardly secrets.
    """
    set_by = {name: f"{name}={shlex.quote(value)}" for name, value in program.environment.items()}
    lines = [f"export {text}\n" for name, text in set_by.items() if name not in _SHELLS_OWN]
    if others := [text for name, text in set_by.items() if name in _SHELLS_OWN]:
        lines.append(f'set -- /usr/bin/env {" ".join(others)} "$@"\n')
    return "".join(lines).encode()


def passwd() -> bytes:
    """Return the content of /etc/passwd."""
    return _PASSWD


def _system(egress: bool) -> Iterator[str]:
    yield from ("--ro-bind", "/usr", "/usr")
    for name in _SYSTEM:
        path = Path(name)
        if path.is_symlink():
            yield from ("--symlink", str(path.readlink()), name)
        elif path.is_dir():
            yield from ("--ro-bind", name, name)
    for name in (*_ETC, *(_ETC_OF_NETWORK if egress else ())):
        yield from ("--ro-bind-try", name, name)
    for own in (settings.BASE_DIR, settings.DATA_DIR):
        if Path(own).resolve().is_relative_to("/usr"):
            yield from ("--tmpfs", str(Path(own).resolve()), "--remount-ro", str(Path(own).resolve()))


def _devices() -> Iterator[str]:
    yield from ("--tmpfs", "/dev")
    for name in _DEVICES:
        yield from ("--dev-bind", f"/dev/{name}", f"/dev/{name}")
    yield from ("--symlink", "/proc/self/fd", "/dev/fd", "--symlink", "/tmp", "/dev/shm")  # noqa: S108
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        yield from ("--symlink", f"/proc/self/fd/{number}", f"/dev/{name}")
    yield from ("--remount-ro", "/dev")


def _files(fd_of: dict[str, int]) -> Iterator[str]:
    for path, fd in fd_of.items():
        if path.startswith("/"):
            yield from ("--perms", "0644", "--file", str(fd), WORK_DIR + path)


def _environment() -> Iterator[str]:
    for name, value in _ENVIRONMENT.items():
        yield from ("--setenv", name, value)


def _with_environment(program: Program) -> Iterator[str]:
    """Yield the command, after a shell that reads the program's own variables, if it has any. They are in a file, because
    everybody on the machine can read command lines."""
    if program.environment:
        yield from ("/bin/sh", "-c", '. "$0" && exec "$@"', ENVIRONMENT_FILE)
    yield from program.command
