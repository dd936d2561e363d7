"""Values that prove the table of members of a chat request."""

from decimal import Decimal
from typing import Any

from inference.routes.chat.members import VENDOR
from tests.inference.routes.member_table import LIMIT, OUTPUT, PRICE, MemberTable
from tests.support.stage import CHAT, chat

SPOKEN, AUDIO_INPUT = Decimal(40), Decimal(20)
AUDIO_PRICE = {**PRICE, "output_audio_token": str(SPOKEN), "input_audio_token": str(AUDIO_INPUT)}
PARAMETERS: Any = {"type": "object", "properties": {"city": {"type": "string", "maxLength": 9}}}
FUNCTION = {"name": "weather", "parameters": PARAMETERS}

PASSED: dict[str, Any] = {
    "frequency_penalty": 0.25,
    "function_call": "none",
    "logit_bias": {"50256": -100},
    "logprobs": True,
    "metadata": {"order": "7"},
    "parallel_tool_calls": False,
    "presence_penalty": -0.5,
    "prompt_cache_key": "a-key",
    "reasoning_effort": "high",
    "safety_identifier": "hash-of-a-person",
    "seed": 2**70,
    "stop": ["\n", "END"],
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "temperature": 0.5,
    "tool_choice": "none",
    "top_logprobs": 3,
    "top_p": 0.9,
    "user": "a-person",
    "verbosity": "low",
}

REFUSED: dict[str, list[Any]] = {
    "moderation": [{"model": "omni-moderation-latest"}],
    "store": [True, "false"],
    "web_search_options": [{}, {"search_context_size": "high"}],
}

ALLOWED: dict[str, list[Any]] = {"store": [False, None]}

# Members beside the plain request, and the input bytes beyond the body's own, output tokens and price of each that they make.
BOUNDED: dict[str, list[tuple[dict[str, Any], int, Decimal]]] = {
    "audio": [({"audio": {"voice": "alloy", "format": "wav"}, "modalities": ["text", "audio"]}, LIMIT, SPOKEN)],
    "functions": [({"functions": [FUNCTION]}, LIMIT, OUTPUT)],
    "max_completion_tokens": [({"max_completion_tokens": 11}, 11, OUTPUT)],
    "max_tokens": [({"max_tokens": 12}, 12, OUTPUT)],
    "messages": [({"messages": [{"role": "user", "content": "naïve 🙂" * 50}]}, LIMIT, OUTPUT)],
    "modalities": [({"modalities": ["text"]}, LIMIT, OUTPUT), ({"modalities": ["audio", "text"]}, LIMIT, SPOKEN)],
    "n": [({"n": 3}, 3 * LIMIT, OUTPUT)],
    "prediction": [
        ({"prediction": {"type": "content", "content": "a naïve tale"}}, LIMIT + 13, OUTPUT),
        (
            {"prediction": {"type": "content", "content": [{"type": "text", "text": "a naïve tale"}]}, "n": 2},
            2 * (LIMIT + 13),
            OUTPUT,
        ),
    ],
    "response_format": [({"response_format": {"type": "json_object"}}, LIMIT, OUTPUT)],
    "tools": [({"tools": [{"type": "function", "function": FUNCTION}]}, LIMIT, OUTPUT)],
}

CHAT_TABLE = MemberTable(
    path=CHAT,
    body=chat,
    vendor=VENDOR,
    price=AUDIO_PRICE,
    passed=PASSED,
    refused=REFUSED,
    allowed=ALLOWED,
    bounded=BOUNDED,
    # The others in test_service_tiers.py and test_prompt_caching.py.
    elsewhere=frozenset({"model", "prompt_cache_options", "prompt_cache_retention", "service_tier"}),
)
