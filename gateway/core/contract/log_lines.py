"""The form of a log line with LOG_FORMAT=json: one object."""

import json
from datetime import UTC, datetime
from typing import Any

TEXT, JSON = "text", "json"
FORMATS = (TEXT, JSON)


def json_line(
    *, time_seconds: float, level: str, message: str, logger: str, request_id: str | None = None, **known: Any
) -> str:
    """Return the line, without its end. `known` are further members; those that are None are left out.

    It is ASCII, so that no reader takes a character for the end of a line or for half of a surrogate pair.
    """
    time = datetime.fromtimestamp(time_seconds, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
    record = {"time": time, "level": level, "message": message, "logger": logger, "request_id": request_id}
    record |= {name: value for name, value in known.items() if value is not None}
    return json.dumps(record, separators=(",", ":"), default=str)
