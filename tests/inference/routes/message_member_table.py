"""Values that prove the table of members of a Messages request."""

from decimal import Decimal
from typing import Any

from inference.routes.messages.members import OLDER, VENDOR
from tests.inference.routes.member_table import LIMIT, OUTPUT, PRICE, MemberTable
from tests.support.stage import MESSAGES

PATH = "/v1/messages"


def message(model: str, **members: Any) -> dict[str, Any]:
    """Build a request's body."""
    return {"model": model, "max_tokens": LIMIT, "messages": MESSAGES, **members}


PASSED: dict[str, Any] = {
    "metadata": {"user_id": "a-person"},
    "stream": True,
    "temperature": 0.5,
    "tool_choice": {"type": "auto"},
    "top_k": 5,
    "top_p": 0.9,
}

REFUSED: dict[str, list[Any]] = {
    "container": ["container_1", {"skills": []}],
    "diagnostics": [{"previous_message_id": "msg_1"}],
    "inference_geo": ["us"],
    "mcp_servers": [[{"type": "url", "url": "https://tools.example", "name": "tools"}]],
    "speed": ["fast"],
    "user_profile_id": ["prof_1"],
    "workspace_id": ["wrkspc_1"],
}

ALLOWED: dict[str, list[Any]] = {"speed": ["standard", None], "container": [None], "inference_geo": [None]}

# Members beside the plain request, and the output tokens and the price of each that they make.
BOUNDED: dict[str, list[tuple[dict[str, Any], int, Decimal]]] = {
    "cache_control": [({"cache_control": {"type": "ephemeral"}}, LIMIT, OUTPUT)],
    "context_management": [
        ({"context_management": {"edits": [{"type": "clear_tool_uses_20250919"}]}}, LIMIT, OUTPUT),
        ({"context_management": {"edits": [{"type": "clear_thinking_20251015", "keep": "all"}]}}, LIMIT, OUTPUT),
    ],
    "max_tokens": [({"max_tokens": 11}, 11, OUTPUT)],
    "messages": [({"messages": [{"role": "user", "content": "naïve 🙂" * 50}]}, LIMIT, OUTPUT)],
    "output_config": [({"output_config": {"effort": "high"}}, LIMIT, OUTPUT)],
    "stop_sequences": [({"stop_sequences": ["badger"]}, LIMIT, OUTPUT)],
    "system": [({"system": [{"type": "text", "text": "Be brief. 🙂"}]}, LIMIT, OUTPUT)],
    "thinking": [({"thinking": {"type": "adaptive"}}, LIMIT, OUTPUT)],
}

MESSAGE_TABLE = MemberTable(
    path=PATH,
    body=message,
    vendor={**VENDOR, **OLDER},
    price=PRICE,
    passed=PASSED,
    refused=REFUSED,
    allowed=ALLOWED,
    bounded=BOUNDED,
    # In test_messages.py.
    elsewhere=frozenset({"model", "service_tier", "tools"}),
    adapter="anthropic",
)
