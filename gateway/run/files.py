"""Small files of a data directory, written atomically; secrets are readable only by their owner."""

import json
import os
import secrets
from pathlib import Path
from typing import Any

PRIVATE_MODE = 0o600


def write_private(path: Path, text: str) -> None:
    """Replace the content of `path` with `text` atomically, with mode 0600 from the start."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, PRIVATE_MODE)
    with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
        stream.write(text)
        stream.flush()
        os.fsync(stream.fileno())
    temporary.replace(path)


def read_text(path: Path) -> str | None:
    """Return the stripped content of `path`, or None if there is no such file."""
    try:
        return path.read_text(encoding="utf-8").strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def read_json(path: Path) -> dict[str, Any]:
    """Return the JSON object in `path`, or an empty one if the file is absent, unreadable or invalid."""
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}


def read_or_create_secret(path: Path, length_bytes: int = 24) -> str:
    """Return the random text stored in `path`, created at the first call."""
    secret = read_text(path)
    if not secret:
        secret = secrets.token_urlsafe(length_bytes)
        write_private(path, secret)
    return secret


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Replace the content of `path` with a JSON object, privately and atomically."""
    write_private(path, json.dumps(value, indent=2) + "\n")
