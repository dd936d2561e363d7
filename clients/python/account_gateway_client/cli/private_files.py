"""Files that only their owner reads or writes, replaced in one step."""

import json
import os
import secrets
from contextlib import suppress
from pathlib import Path
from typing import Any

from account_gateway_client.cli.errors import CommandError

DIRECTORY_MODE, FILE_MODE = 0o700, 0o600
_OTHERS_MAY_WRITE, _OTHERS_MAY_USE = 0o022, 0o077


def make_directory(path: Path) -> None:
    """Create a folder of our own, or raise CommandError where there is one that others could put files into. Folders above
    it that are missing become our own as well."""
    try:
        for missing in [each for each in reversed(path.parents) if not each.exists()]:
            missing.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
        path.mkdir(mode=DIRECTORY_MODE, exist_ok=True)
        found = path.stat()
    except OSError as error:
        raise CommandError(
            f"The folder {path} cannot be used ({error.strerror}); name another in AGW_CONFIG_DIR."
        ) from None
    if _is_foreign(found):
        raise CommandError(f"The folder {path} belongs to another user; name your own in AGW_CONFIG_DIR.")
    if os.name == "posix" and found.st_mode & _OTHERS_MAY_WRITE:
        raise CommandError(
            f"Other users can write to {path}: run `chmod 700` on it, or name another in AGW_CONFIG_DIR."
        )


def read_json(path: Path) -> dict[str, Any] | None:
    """Return the object in a file, or None where there is no file. Raises CommandError for one that is damaged, or that
    others could have written or read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except FileNotFoundError:
        return None
    except OSError as error:
        raise CommandError(f"{path} cannot be read ({error.strerror}).") from None
    with os.fdopen(descriptor, "rb") as file:
        found = os.fstat(descriptor)
        if _is_foreign(found):
            raise CommandError(f"{path} belongs to another user: name a folder of your own in AGW_CONFIG_DIR.")
        if os.name == "posix" and found.st_mode & _OTHERS_MAY_USE:
            raise CommandError(f"Other users can use {path}: delete it, and run `agw login`.")
        with suppress(ValueError):
            value = json.loads(file.read())
            if isinstance(value, dict):
                return value
    raise CommandError(f"{path} is damaged: delete it and run `agw login`.")


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace a file in one step, so that a reader sees the old or the new one. It is never another's to read."""
    draft = path.with_name(f".{path.name}.{secrets.token_hex(8)}")
    try:
        descriptor = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        try:
            with os.fdopen(descriptor, "w", encoding="utf-8") as file:
                json.dump(value, file, indent=1)
                file.flush()
                os.fsync(descriptor)
            draft.replace(path)
        except BaseException:
            draft.unlink(missing_ok=True)
            raise
    except OSError as error:
        raise CommandError(f"{path} cannot be written ({error.strerror}).") from None


def _is_foreign(found: os.stat_result) -> bool:
    return os.name == "posix" and found.st_uid != os.getuid()
