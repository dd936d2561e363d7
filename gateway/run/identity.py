"""Chooses the user that PostgreSQL runs as, because it refuses to run as root."""

import os
import pwd
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gateway.run.errors import StartError

UNPRIVILEGED = ("nobody", "postgres", "daemon")


@dataclass(frozen=True, slots=True)
class Identity:
    """A user that child processes run as, and that owns their files."""

    name: str
    uid: int
    gid: int

    def spawn_arguments(self) -> dict[str, Any]:
        """Return the arguments with which `subprocess` starts a child as this user."""
        return {"user": self.uid, "group": self.gid, "extra_groups": []}

    def own(self, path: Path) -> None:
        """Change the owner of one file or directory to this user."""
        os.chown(path, self.uid, self.gid)

    def can_enter(self, path: Path) -> bool:
        """Return whether this user may enter `path` and every directory above it, as written and after following
        links."""
        written, resolved = path.absolute(), path.resolve()
        return all(self._enters(part) for part in {written, *written.parents, resolved, *resolved.parents})

    def _enters(self, path: Path) -> bool:
        """Return whether this user may enter (a directory) or run (a program) one path."""
        status = path.stat()
        if status.st_uid == self.uid:
            return bool(status.st_mode & stat.S_IXUSR)
        if status.st_gid == self.gid:
            return bool(status.st_mode & stat.S_IXGRP)
        return bool(status.st_mode & stat.S_IXOTH)


def database_identity() -> Identity | None:
    """Return the user to run PostgreSQL as: None for the current user, an unprivileged user if that is root.

    Raises StartError in one line if PostgreSQL would refuse every user there is.
    """
    if os.geteuid() != 0:
        _check_is_known(os.geteuid())
        return None
    for name in UNPRIVILEGED:
        try:
            entry = pwd.getpwnam(name)
        except KeyError:
            continue
        return Identity(name, entry.pw_uid, entry.pw_gid)
    raise StartError(
        "PostgreSQL does not run as root, and there is no user 'nobody'; run the gateway as an ordinary user."
    )


def _check_is_known(uid: int) -> None:
    """Refuse a user without a name, as containers may have, because PostgreSQL does."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        raise StartError(
            f"PostgreSQL does not run as user {uid}, who has no entry in /etc/passwd; use one who has, or set DATABASE_URL."
        ) from None
