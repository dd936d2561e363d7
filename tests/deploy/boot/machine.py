"""A machine: systemd as process 1 over a folder, in namespaces of its own."""

import secrets
import subprocess
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Self

from tests.support.concurrency import eventually

START_SECONDS = 600.0
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
ENTER = """
set -eu
echo 0 > "$1/cgroup.procs"
shift
exec unshare --cgroup sh -c "$@"
"""
"""Enters the machine's cgroup, before that becomes the root of all that the machine sees."""
BOOT = """
set -eu
mount -t overlay -o "lowerdir=$2,upperdir=$1/upper,workdir=$1/work" machine "$1/root"
cd "$1/root"
mount -t proc proc proc
mount -t sysfs -o ro sysfs sys
mount -t cgroup2 cgroup2 sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
mknod -m 666 dev/null c 1 3; mknod -m 666 dev/zero c 1 5; mknod -m 666 dev/full c 1 7
mknod -m 666 dev/random c 1 8; mknod -m 666 dev/urandom c 1 9; mknod -m 666 dev/tty c 5 0
mkdir dev/pts dev/shm
mount -t devpts -o newinstance,ptmxmode=0666,mode=620,gid=5 devpts dev/pts
mount -t tmpfs -o mode=1777 tmpfs dev/shm
ln -s pts/ptmx dev/ptmx; ln -s null dev/console
ln -s /proc/self/fd dev/fd; ln -s fd/0 dev/stdin; ln -s fd/1 dev/stdout; ln -s fd/2 dev/stderr
shift 2
while [ $# -gt 0 ]; do mkdir -p "./$2"; mount --bind "$1" "./$2"; shift 2; done
pivot_root . mnt
umount -l /mnt
exec env -i container=namespaces PATH=/usr/sbin:/usr/bin /lib/systemd/systemd --log-target=console --show-status=no
"""
NOT_OURS = (
    *(
        "systemd-sysctl.service",
        "systemd-modules-load.service",
        "systemd-udevd.service",
        "systemd-udev-trigger.service",
    ),
    *("systemd-binfmt.service", "proc-sys-fs-binfmt_misc.automount", "systemd-random-seed.service"),
    *("sys-kernel-debug.mount", "sys-kernel-tracing.mount", "sys-kernel-config.mount", "sys-fs-fuse-connections.mount"),
    *("dev-hugepages.mount", "console-getty.service", "getty.target", "nginx.service", "redis-server.service"),
)
"""What would change the kernel that the machine shares with others, and what it has no use for."""


class Machine:
    """A machine over a base, which it does not change, as a context manager; it is not booted yet.

    `mounts` are folders of this machine, and where they are on that one.
    """

    def __init__(self, base: Path, home: Path, mounts: Mapping[Path, str] | None = None) -> None:
        self._base, self.home, self._mounts = base, home, mounts or {}
        self._cgroup = _cgroups() / f"gateway-{secrets.token_hex(4)}"
        self._outside: subprocess.Popen[bytes] | None = None

    def __enter__(self) -> Self:
        for name in ("upper", "work", "root"):
            (self.home / name).mkdir(parents=True)
        self._cgroup.mkdir()
        masks = self.home / "upper/etc/systemd/system"
        masks.mkdir(parents=True)
        for name in NOT_OURS:
            (masks / name).symlink_to("/dev/null")
        (self.home / "upper/etc/machine-id").write_text(f"{secrets.token_hex(16)}\n")
        (self.home / "upper/etc/hostname").write_text("gateway\n")
        return self

    def __exit__(self, *exc: object) -> None:
        if self._outside is not None and self._outside.poll() is None:
            self._outside.kill()  # and with it process 1, which ends all others
            self._outside.wait()
        for folder in sorted(self._cgroup.rglob("*/"), reverse=True):
            _remove(folder)
        _remove(self._cgroup)

    def boot(self) -> float:
        """Boot, wait until all that is enabled was started, and return the seconds that it took."""
        began = time.monotonic()
        namespaces = ("--mount", "--pid", "--fork", "--kill-child", "--uts", "--ipc")
        inside = ("sh", "-c", ENTER, "sh", str(self._cgroup), BOOT, "sh", str(self.home), str(self._base))
        mounts = [str(word) for mount in self._mounts.items() for word in mount]
        with (self.home / "console.log").open("ab") as log:
            self._outside = subprocess.Popen(
                ["unshare", *namespaces, *inside, *mounts], stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )
        eventually(self._is_up, START_SECONDS)
        return time.monotonic() - began

    def power_off(self) -> float:
        """Shut down in order, and return the seconds that it took."""
        began = time.monotonic()
        assert self._outside is not None
        self.run("systemctl --no-block poweroff")
        self._outside.wait(180)
        return time.monotonic() - began

    def run(self, commands: str, *, given: str = "", check: bool = True, **environment: str) -> str:
        """Run commands of a root shell on the machine; return what they print. Raises RuntimeError with it if they fail."""
        entered = (
            "nsenter",
            "--target",
            str(self._init()),
            *("--mount", "--pid", "--uts", "--ipc", "--cgroup", "--root"),
        )
        variables = [f"{name}={value}" for name, value in {"PATH": PATH, "LC_ALL": "C.UTF-8", **environment}.items()]
        shell = ("bash", "-euo", "pipefail", "-c", f"cd /srv/account-gateway\n{commands}")
        done = subprocess.run(
            [*entered, "env", "-i", *variables, "setsid", "--wait", *shell],
            input=given,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )
        if check and done.returncode:
            raise RuntimeError(f"{commands}\nended with {done.returncode}:\n{done.stdout[-4000:]}")
        return done.stdout.strip()

    def path(self, name: str) -> Path:
        """Return where a file of the machine is from outside."""
        return Path(f"/proc/{self._init()}/root{name}")

    def show(self, unit: str, setting: str) -> str:
        """Return one property of a unit."""
        return self.run(f"systemctl show --property={setting} --value {unit}")

    def journal(self, unit: str = "", since: str = "") -> str:
        """Return the journal, of one unit if it is named."""
        narrowed = " ".join((f"--unit={unit}" if unit else "", f"--since='{since}'" if since else ""))
        return self.run(f"journalctl --no-pager --output=cat {narrowed}")

    def _init(self) -> int:
        """Return the process id of the machine's process 1, which is 0 before it has begun."""
        assert self._outside is not None
        pid = self._outside.pid
        return int(Path(f"/proc/{pid}/task/{pid}/children").read_text() or 0)

    def _is_up(self) -> bool:
        """Return whether process 1 is systemd and has nothing to start any more."""
        assert self._outside is not None
        assert self._outside.poll() is None, (self.home / "console.log").read_text()[-4000:]
        init = self._init()
        if not init or Path(f"/proc/{init}/comm").read_text() != "systemd\n":
            return False
        return self.run("systemctl is-system-running", check=False) in ("running", "degraded")


def _cgroups() -> Path:
    """Return where cgroups of version 2 are mounted, beside those of version 1 or alone."""
    for line in Path("/proc/mounts").read_text().splitlines():
        _, folder, kind, *_ = line.split()
        if kind == "cgroup2":
            return Path(folder)
    raise RuntimeError("no cgroups of version 2 are mounted, which systemd needs")


def _remove(cgroup: Path) -> None:
    """Remove a cgroup, once the kernel has forgotten its processes."""
    eventually(lambda: _is_removed(cgroup), 30)


def _is_removed(cgroup: Path) -> bool:
    try:
        cgroup.rmdir()
    except OSError:
        return not cgroup.exists()
    return True
