"""Values that prove the table of members of a request for a response."""

from decimal import Decimal
from typing import Any

from inference.routes.responses.members import VENDOR
from tests.inference.routes.member_table import LIMIT, OUTPUT, PRICE, MemberTable
from tests.support.stage import RESPONSES, ask

FUNCTION = {"type": "function", "name": "weather", "parameters": {"type": "object"}, "strict": False}

PASSED: dict[str, Any] = {
    "image": {"context_compression": "enabled"},
    "include": ["message.output_text.logprobs", "reasoning.encrypted_content", "message.input_image.image_url"],
    "max_tool_calls": 3,
    "metadata": {"order": "7"},
    "parallel_tool_calls": False,
    "prompt_cache_key": "a-key",
    "safety_identifier": "hash-of-a-person",
    "stream": True,
    "stream_options": {"include_obfuscation": False},
    "temperature": 0.5,
    "tool_choice": {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "weather"}]},
    "top_logprobs": 3,
    "top_p": 0.9,
    "user": "a-person",
}

REFUSED: dict[str, list[Any]] = {
    "access_programs": [{"cyber": "standard"}],
    "background": [True, "false"],
    "context_management": [[{"type": "compaction", "compact_threshold": 1000}]],
    "conversation": ["conv_1", {"id": "conv_1"}],
    "moderation": [{"model": "omni-moderation-latest"}],
    "prompt": [{"id": "pmpt_1"}],
}

ALLOWED: dict[str, list[Any]] = {
    "background": [False, None],
    "conversation": [None],
}

# Members beside the plain request, and the output tokens and the price of each that they make.
BOUNDED: dict[str, list[tuple[dict[str, Any], int, Decimal]]] = {
    "input": [
        ({"input": [{"role": "user", "content": "naïve 🙂" * 50}]}, LIMIT, OUTPUT),
        (
            {"input": [{"type": "message", "role": "developer", "content": [{"type": "input_text", "text": "x"}]}]},
            LIMIT,
            OUTPUT,
        ),
    ],
    "instructions": [({"instructions": "Be brief. 🙂"}, LIMIT, OUTPUT)],
    "max_output_tokens": [({"max_output_tokens": 11}, 11, OUTPUT)],
    "reasoning": [({"reasoning": {"effort": "high", "summary": "auto", "mode": "standard"}}, LIMIT, OUTPUT)],
    "store": [({"store": False}, LIMIT, OUTPUT)],
    "text": [({"text": {"format": {"type": "json_object"}, "verbosity": "low"}}, LIMIT, OUTPUT)],
    "tools": [({"tools": [FUNCTION, {"type": "custom", "name": "code"}]}, LIMIT, OUTPUT)],
    "truncation": [({"truncation": "auto"}, LIMIT, OUTPUT)],
}

RESPONSE_TABLE = MemberTable(
    path=RESPONSES,
    body=ask,
    vendor=VENDOR,
    price=PRICE,
    passed=PASSED,
    refused=REFUSED,
    allowed=ALLOWED,
    bounded=BOUNDED,
    # In test_stored_responses.py, test_service_tiers.py and test_prompt_caching.py.
    elsewhere=frozenset(
        {"model", "previous_response_id", "prompt_cache_options", "prompt_cache_retention", "service_tier"}
    ),
)
