"""Tries to escape from a sandbox, as a program within it: `python3 escapes.py`, with targets on the machine as JSON on
its standard input. Writes the result of each attempt as JSON; null if it failed. Uses only the standard library.
"""

import ctypes
import fcntl
import json
import os
import resource
import signal
import socket
import stat
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

NEW_USER_NAMESPACE = 0x10000000
TIOCSTI = 0x5412
_libc = ctypes.CDLL(None, use_errno=True)


def call(name: str, *arguments: Any) -> int:
    """Call a function of libc. Raises OSError."""
    result: int = getattr(_libc, name)(*arguments)
    if result < 0:
        raise OSError(ctypes.get_errno(), name)
    return result or 1


def of_ipc(kind: str, *arguments: int) -> str:
    """Make an object of System V IPC and remove it, because it would outlive this process."""
    made: int = getattr(_libc, f"{kind}get")(0, *arguments)
    if made < 0:
        raise OSError(ctypes.get_errno(), kind)
    getattr(_libc, f"{kind}ctl")(made, 0, 0)  # IPC_RMID
    return kind


def connected(family: int, address: Any, kind: int = socket.SOCK_STREAM) -> str:
    """Connect to a socket."""
    with socket.socket(family, kind) as reached:
        reached.settimeout(2)
        reached.connect(address)
        reached.send(b"x")
    return str(address)


def written(path: str, text: str) -> str:
    """Write to an existing file."""
    with Path(path).open("r+b", buffering=0) as file:
        file.write(text.encode())
    return path


def linked(make: Callable[[str, str], None], path: str) -> str:
    """Read a file through a link."""
    make(path, "link")
    try:
        return Path("link").read_text()
    finally:
        Path("link").unlink()


def device(kind: int, major: int, minor: int) -> bytes:
    """Read a device through a device file created here."""
    os.mknod("device", kind | 0o600, os.makedev(major, minor))
    return Path("device").read_bytes()[:1] or b"there"


def in_namespace(number: int) -> str:
    """Become another user in a new user namespace, by clone (56) or clone3 (435) on x86-64."""
    sizes = (ctypes.c_uint64 * 11)(NEW_USER_NAMESPACE, 0, 0, 0, signal.SIGCHLD)
    plain = (NEW_USER_NAMESPACE | signal.SIGCHLD, 0, 0, 0, 0)
    child = call("syscall", number, *((sizes, 88) if number == 435 else plain))
    if Path("/proc/self/uid_map").read_text().split()[:1] == []:
        os._exit(0)
    return str(child)


def environments(word: str) -> str:
    """Find a word in the environments of processes."""
    found = []
    for file in Path("/proc").glob("[0-9]*/environ"):
        try:
            found += [str(file)] if word.encode() in file.read_bytes() else []
        except OSError:
            continue
    return " ".join(found)


def crashed() -> str:
    """Produce a core dump."""
    if os.fork() == 0:
        os.abort()
    os.wait()
    return " ".join(str(path) for folder in (".", "/tmp") for path in Path(folder).glob("core*"))


def done(action: Callable[..., None], *arguments: Any) -> str:
    """Call a function without a result."""
    action(*arguments)
    return "done"


def listed(folder: str) -> list[str]:
    """List a folder."""
    return [path.name for path in Path(folder).iterdir()]


def descriptors() -> list[str]:
    """List inherited file descriptors besides the standard streams. Listing itself uses one."""
    return [name for name in listed("/proc/self/fd") if int(name) > 3]


def pushed() -> str:
    """Inject input into a terminal."""
    for each in (0, 1, 2, "/dev/tty", "/dev/console", "/dev/ptmx", "/dev/pts/ptmx"):
        try:
            fd = each if isinstance(each, int) else os.open(each, os.O_RDWR)
            fcntl.ioctl(fd, TIOCSTI, b"x")
        except OSError:
            continue
        return str(each)
    return ""


def ways(given: dict[str, Any]) -> dict[str, Callable[[], Any]]:
    """Return all attempts by name."""
    secret, process = given["secret"], given["process"]
    unix = socket.AF_UNIX
    return {
        "a file": lambda: Path(secret).read_text(),
        "a file by the first process's root": lambda: Path(f"/proc/1/root{secret}").read_text(),
        "a file by a process's root": lambda: Path(f"/proc/{process}/root{secret}").read_text(),
        "a file by its own root": lambda: Path(f"/proc/self/root{secret}").read_text(),
        "a file above the root": lambda: Path(f"/../../../..{secret}").read_text(),
        "a file by a symbolic link": lambda: linked(os.symlink, secret),
        "a file by a hard link": lambda: linked(os.link, secret),
        "the gateway's folder": lambda: listed(given["project"]),
        "the gateway's data": lambda: listed(given["data"]),
        "the users": lambda: Path("/etc/shadow").read_text(),
        "a block device": lambda: device(stat.S_IFBLK, 254, 0),
        "the memory device": lambda: device(stat.S_IFCHR, 1, 1),
        "the kernel's memory": lambda: Path("/proc/kcore").open("rb").read(1),
        "the kernel's messages": lambda: os.open("/dev/kmsg", os.O_RDONLY) or os.open("/proc/kmsg", os.O_RDONLY),
        "the first process's memory": lambda: os.open("/proc/1/mem", os.O_RDWR),
        "the first process's files": lambda: listed("/proc/1/fd"),
        "the system request": lambda: written("/proc/sysrq-trigger", "h"),
        "the core pattern": lambda: written("/proc/sys/kernel/core_pattern", "core"),
        "the host's name": lambda: call("sethostname", b"other", 5),
        "the memory killer": lambda: written("/proc/self/oom_score_adj", "-1000"),
        "a socket in a file": lambda: connected(unix, given["socket"]),
        "an abstract socket": lambda: connected(unix, "\0" + given["abstract"]),
        "a port": lambda: connected(socket.AF_INET, ("127.0.0.1", given["port"])),
        "a port by the wildcard": lambda: connected(socket.AF_INET, ("0.0.0.0", given["port"])),
        "a port by IPv6": lambda: connected(socket.AF_INET6, ("::ffff:127.0.0.1", given["port"])),
        "the network": lambda: connected(socket.AF_INET, ("192.0.2.1", 53), socket.SOCK_DGRAM),
        "a raw socket": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
        "a packet socket": lambda: socket.socket(17, socket.SOCK_RAW),
        "a signal": lambda: done(os.kill, process, 0),
        "a process's descriptor": lambda: os.pidfd_open(process),
        "its input": lambda: done(os.ftruncate, 0, 2**20),
        "another's environment": lambda: environments(given["word"]),
        "inherited descriptors": descriptors,
        "a user namespace by clone": lambda: in_namespace(56),
        "a user namespace by clone3": lambda: in_namespace(435),
        "a user namespace by unshare": lambda: call("unshare", NEW_USER_NAMESPACE),
        "another's namespace": lambda: call("setns", os.open("/proc/1/ns/user", os.O_RDONLY), 0),
        "a mount": lambda: call("mount", b"none", b"/tmp", b"tmpfs", 0, None),
        "another root": lambda: call("chroot", b"/tmp"),
        "the superuser": lambda: call("setresuid", 0, 0, 0),
        "a group": lambda: call("setgroups", 1, (ctypes.c_uint32 * 1)(0)),
        "a capability of a file": lambda: done(os.setxattr, sys.argv[0], "security.capability", b"\0" * 20),
        "the clock": lambda: done(time.clock_settime, time.CLOCK_REALTIME, time.time()),
        "a terminal": pushed,
        "the control groups": lambda: listed("/sys/fs/cgroup"),
        "a higher limit": lambda: done(resource.setrlimit, resource.RLIMIT_NPROC, (4096, 4096)),
        "priority": lambda: os.nice(-1) or "set",
        "real time": lambda: done(os.sched_setscheduler, 0, os.SCHED_FIFO, os.sched_param(1)),
        "semaphores": lambda: of_ipc("sem", 32000, 0o600),
        "message queues": lambda: of_ipc("msg", 0o600),
        "shared memory": lambda: of_ipc("shm", 4096, 0o600),
        "memory files": lambda: os.memfd_create("x"),
        "a core dump": crashed,
    }


def main() -> None:
    """Run all attempts."""
    found = {}
    for name, way in ways(json.load(sys.stdin)).items():
        try:
            reached = way()
        except (OSError, ValueError):
            reached = None
        found[name] = repr(reached) if reached else None
    json.dump(found, sys.stdout)


if __name__ == "__main__":
    main()
