"""Small files of a data directory: written whole or not at all, and secret ones readable by their owner only."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

PRIVATE_MODE = 0o600


def write_private(path: Path, text: str) -> None:
    """Replace `path` by `text` in one step, with mode 0600 from its first moment on."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)


def read_text(path: Path) -> str | None:
    """Return the content of `path` without outer white space, or None when there is no such file."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`; an absent, unreadable or broken file counts as empty."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def read_or_create_secret(path: Path, length_bytes: int = 24) -> str:
    """Return the random text kept in `path`, made at the first call."""
    secret = read_text(path)
    if not secret:
        secret = secrets.token_urlsafe(length_bytes)
        write_private(path, secret)
    return secret


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace `path` by one JSON object, private and in one step."""
    write_private(path, json.dumps(value, indent=2) + "\n")
