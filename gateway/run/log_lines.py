"""The supervisor's lines on standard error: its own events and its children's output, as text or as JSON."""

import json
import os
import time
from typing import Any

from gateway.core.contract.log_lines import JSON, json_line

SUPERVISOR = "gateway.run"


def is_json() -> bool:
    """Return whether lines are objects (LOG_FORMAT=json)."""
    return os.environ.get("LOG_FORMAT") == JSON


def event(message: str) -> str:
    """Return the line about an event of the supervisor's own."""
    return _line("WARNING", message, SUPERVISOR) if is_json() else f"gateway: {message}"


def shown(name: str, line: str) -> str:
    """Return a child's line. A line that is not an object, such as the last words of a crash, becomes one."""
    if not is_json():
        return f"{name:>6} | {line}"
    return line if _object(line) else _line("WARNING", line, name)


def message_of(line: str) -> str:
    """Return the words of a line."""
    return str(_object(line).get("message", line)) if is_json() else line


def _line(level: str, message: str, logger: str) -> str:
    return json_line(time_seconds=time.time(), level=level, message=message, logger=logger)


def _object(line: str) -> dict[str, Any]:
    try:
        found = json.loads(line) if line.startswith("{") else {}
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}
