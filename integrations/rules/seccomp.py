"""Builds the seccomp filter (seccomp(2), classic BPF) that refuses some system calls to runs.

Namespaces do not isolate kernel keyrings, sockets to the hypervisor (AF_VSOCK), and parts of the kernel that ordinary
programs do not need and that sandbox escapes have used. Refused calls fail with EPERM.
"""

import struct
from collections.abc import Iterator
from dataclasses import dataclass

_ALLOW, _KILL, _EPERM = 0x7FFF0000, 0x80000000, 0x00050000 | 1
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_NUMBER_AT, _MACHINE_AT, _ARGUMENT_AT = 0, 4, 16
_X32_BIT = 0x40000000

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK = 1, 2, 10, 16


@dataclass(frozen=True, slots=True)
class Machine:
    """A processor architecture: its audit number, and the numbers of the refused system calls."""

    audit: int
    socket: int
    denied: tuple[int, ...]


# io_uring_setup, open_tree, move_mount, fsopen, fsconfig, fsmount, fspick, pidfd_getfd, mount_setattr, memfd_secret: the
# same everywhere.
_COMMON = (425, 428, 429, 430, 431, 432, 433, 438, 442, 447)

MACHINES = {
    "x86_64": Machine(
        0xC000003E,
        41,
        (
            *(101, 103, 155, 161, 163, 165, 166, 167, 168, 169),  # ptrace, syslog, pivot_root, chroot, acct, mount…
            *(175, 176, 179, 246, 248, 249, 250, 272, 298, 303),  # modules, quotactl, kexec, keys, unshare, perf…
            *(304, 308, 310, 311, 313, 320, 321, 323),  # handles, setns, process_vm, finit_module, bpf, userfaultfd
            *(29, 64, 68, 319),  # shmget, semget, msgget, memfd_create: memory that per-process limits do not count
            *_COMMON,
        ),
    ),
    "aarch64": Machine(
        0xC00000B7,
        198,
        (
            *(39, 40, 41, 51, 60, 89, 97, 104, 105, 106),
            *(116, 117, 142, 217, 218, 219, 224, 225, 241, 264),
            *(265, 268, 270, 271, 273, 280, 282, 294),
            *(194, 190, 186, 279),
            *_COMMON,
        ),
    ),
}


def program(machine: Machine, *, egress: bool) -> bytes:
    """Return the filter. A run that shares the machine's network must not create AF_UNIX sockets, because abstract ones
    would reach the machine's services.
    """
    families = (AF_INET, AF_INET6, AF_NETLINK) if egress else (AF_UNIX, AF_INET, AF_INET6, AF_NETLINK)
    return b"".join(struct.pack("HBBI", *instruction) for instruction in _instructions(machine, families))


def _instructions(machine: Machine, families: tuple[int, ...]) -> Iterator[tuple[int, int, int, int]]:
    yield _LOAD, 0, 0, _MACHINE_AT
    yield _EQUAL, 1, 0, machine.audit
    yield _RETURN, 0, 0, _KILL
    yield _LOAD, 0, 0, _NUMBER_AT
    yield _AT_LEAST, 0, 1, _X32_BIT
    yield _RETURN, 0, 0, _KILL
    for number in machine.denied:
        yield _EQUAL, 0, 1, number
        yield _RETURN, 0, 0, _EPERM
    yield _EQUAL, 1, 0, machine.socket
    yield _RETURN, 0, 0, _ALLOW
    yield _LOAD, 0, 0, _ARGUMENT_AT
    for family in families:
        yield _EQUAL, 0, 1, family
        yield _RETURN, 0, 0, _ALLOW
    yield _RETURN, 0, 0, _EPERM
