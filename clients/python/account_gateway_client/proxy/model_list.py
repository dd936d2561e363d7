"""The list of models in the shape of messages: the gateway's own list is in OpenAI's."""

import json
from datetime import datetime, timezone
from typing import Any

from account_gateway_client.proxy.paths import MODELS


def is_list(path: str) -> bool:
    """Return whether a path's answer lists models; any other names one."""
    return path == MODELS


def in_messages_shape(path: str, body: bytes) -> bytes:
    """Rewrite an answer of `/v1/models`, with those models alone that serve messages and may be called. Raises ValueError and
    LookupError for a body that is none."""
    answer = json.loads(body)
    if not is_list(path):
        return json.dumps(_model(answer)).encode()
    models = [_model(each) for each in answer["data"] if "messages" in each["routes"] and each.get("authorized", True)]
    ids = [each["id"] for each in models]
    ends = {"first_id": ids[0] if ids else None, "last_id": ids[-1] if ids else None}
    return json.dumps({"data": models, "has_more": False, **ends}).encode()


def _model(model: dict[str, Any]) -> dict[str, Any]:
    created_at = datetime.fromtimestamp(model.get("created", 0), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {"type": "model", "id": model["id"], "display_name": model["id"], "created_at": created_at}
