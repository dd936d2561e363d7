"""Requests in the vendor's documented shapes, each in both forms: what one says, the other says as well."""

from typing import Any

from tests.factories.images import PNG_URL as DATA_URL

WEATHER_SCHEMA = {
    "type": "object",
    "properties": {"city": {"type": "string"}},
    "required": ["city"],
    "additionalProperties": False,
}

CHAT_REQUEST: dict[str, Any] = {
    "model": "fast",
    "stream": True,
    "stream_options": {"include_usage": True, "include_obfuscation": False},
    "messages": [
        {"role": "developer", "content": "Answer briefly."},
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Where is this, and how is the weather?"},
                {"type": "image_url", "image_url": {"url": DATA_URL, "detail": "high"}},
                {"type": "file", "file": {"file_data": "data:application/pdf;base64,JVBERg==", "filename": "map.pdf"}},
            ],
        },
        {
            "role": "assistant",
            "content": "I look it up.",
            "refusal": None,
            "annotations": [],
            "audio": None,
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}},
                {"id": "call_2", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Bern"}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "content": "sunny"},
        {"role": "tool", "tool_call_id": "call_2", "content": [{"type": "text", "text": "rain"}]},
        {"role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot say."}]},
        {"role": "user", "content": "Try again."},
    ],
    "tools": [
        {
            "type": "function",
            "function": {
                "name": "weather",
                "description": "How it is there",
                "parameters": WEATHER_SCHEMA,
                "strict": True,
            },
        },
        {"type": "function", "function": {"name": "now"}},
    ],
    "tool_choice": {"type": "function", "function": {"name": "weather"}},
    "parallel_tool_calls": True,
    "response_format": {
        "type": "json_schema",
        "json_schema": {"name": "place", "description": "One place", "schema": WEATHER_SCHEMA, "strict": True},
    },
    "verbosity": "low",
    "reasoning_effort": "high",
    "max_completion_tokens": 300,
    "temperature": 0.5,
    "top_p": 0.9,
    "logprobs": True,
    "top_logprobs": 2,
    "user": "u-1",
    "safety_identifier": "s-1",
    "prompt_cache_key": "k-1",
    "metadata": {"topic": "demo"},
    "service_tier": "auto",
    "n": 1,
    "stop": None,
    "frequency_penalty": 0,
    "presence_penalty": 0.0,
    "logit_bias": {},
    "modalities": ["text"],
    "store": False,
}

MESSAGES_REQUEST: dict[str, Any] = {
    "model": "fast",
    "stream": True,
    "max_tokens": 2000,
    "system": [{"type": "text", "text": "Answer briefly.", "cache_control": {"type": "ephemeral", "ttl": "1h"}}],
    "messages": [
        {
            "role": "user",
            "content": [
                {"type": "text", "text": "Where is this, and how is the weather?", "citations": None},
                {
                    "type": "image",
                    "source": {"type": "base64", "media_type": "image/png", "data": DATA_URL.partition(",")[2]},
                },
                {
                    "type": "document",
                    "source": {"type": "text", "media_type": "text/plain", "data": "A map."},
                    "title": "Map",
                },
            ],
        },
        {
            "role": "assistant",
            "content": [
                {"type": "thinking", "thinking": "Hm.", "signature": "s"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "I look it up."},
                {"type": "tool_use", "id": "toolu_1", "name": "weather", "input": {"city": "Rome"}},
                {"type": "tool_use", "id": "toolu_2", "name": "weather", "input": {"city": "Bern"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": "sunny"},
                {
                    "type": "tool_result",
                    "tool_use_id": "toolu_2",
                    "content": [{"type": "text", "text": "rain"}],
                    "is_error": True,
                },
                {"type": "text", "text": "And?"},
            ],
        },
    ],
    "tools": [{"name": "weather", "description": "How it is there", "input_schema": WEATHER_SCHEMA, "strict": True}],
    "tool_choice": {"type": "tool", "name": "weather", "disable_parallel_tool_use": True},
    "thinking": {"type": "enabled", "budget_tokens": 1024},
    "output_config": {"format": {"type": "json_schema", "schema": WEATHER_SCHEMA}},
    "metadata": {"user_id": "a-person"},
    "service_tier": "auto",
    "temperature": 0.5,
    "top_p": 0.9,
}

RESPONSES_REQUEST: dict[str, Any] = {
    "input": [
        {"type": "message", "role": "developer", "content": "Answer briefly."},
        {
            "type": "message",
            "role": "user",
            "content": [
                {"type": "input_text", "text": "Where is this, and how is the weather?"},
                {"type": "input_image", "image_url": DATA_URL, "detail": "high"},
                {"type": "input_file", "file_data": "data:application/pdf;base64,JVBERg==", "filename": "map.pdf"},
            ],
        },
        {"type": "message", "role": "assistant", "content": "I look it up."},
        {"type": "function_call", "call_id": "call_1", "name": "weather", "arguments": '{"city":"Rome"}'},
        {"type": "function_call", "call_id": "call_2", "name": "weather", "arguments": '{"city":"Bern"}'},
        {"type": "function_call_output", "call_id": "call_1", "output": "sunny"},
        {"type": "function_call_output", "call_id": "call_2", "output": "rain"},
        {"type": "message", "role": "assistant", "content": [{"type": "refusal", "refusal": "I cannot say."}]},
        {"type": "message", "role": "user", "content": "Try again."},
    ],
    "tools": [
        {
            "type": "function",
            "name": "weather",
            "description": "How it is there",
            "parameters": WEATHER_SCHEMA,
            "strict": True,
        },
        {"type": "function", "name": "now", "parameters": None, "strict": False},
    ],
    "tool_choice": {"type": "function", "name": "weather"},
    "parallel_tool_calls": True,
    "text": {
        "format": {
            "type": "json_schema",
            "name": "place",
            "description": "One place",
            "schema": WEATHER_SCHEMA,
            "strict": True,
        },
        "verbosity": "low",
    },
    "reasoning": {"effort": "high"},
    "max_output_tokens": 300,
    "temperature": 0.5,
    "top_p": 0.9,
    "include": ["message.output_text.logprobs"],
    "top_logprobs": 2,
    "user": "u-1",
    "safety_identifier": "s-1",
    "prompt_cache_key": "k-1",
    "metadata": {"topic": "demo"},
    "service_tier": "auto",
    "store": False,
}
"""What CHAT_REQUEST asks for, as it is written for an upstream that knows responses alone."""
