"""What product servers get of an event."""

import json
from datetime import datetime
from typing import Any

from gateway.core.api.times import rfc3339


def render(*, public_id: str, type_: str, created_at: datetime, sequence: int, data: dict[str, Any]) -> str:
    """Render the body of an event. It is stored, so that each attempt sends the same bytes."""
    members = {
        "id": public_id,
        "type": type_,
        "createdAt": rfc3339(created_at),
        "sequence": sequence,
        "data": data,
    }
    return json.dumps(members, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
