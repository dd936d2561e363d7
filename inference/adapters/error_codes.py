"""The error codes of the public vendor API, which most upstreams use, and the gateway's own messages for them."""

import re

_CONTEXT_LENGTH = "The input and the output limit together exceed the model's context."
_CONTENT_POLICY = "The model's provider rejected the content under its usage policy."
_PROMPT = "The model's provider rejected the prompt."
_UNSUPPORTED = "The model does not support this parameter or this value of it."
_VALUE = "The value of a parameter is not valid for this model."
_MISSING = "A required parameter is missing."
_IMAGE = "An image could not be read."

# Codes of the public vendor API that a client can act on. Other codes are not forwarded.
TEXT_OF_CODE = {
    "context_length_exceeded": _CONTEXT_LENGTH,
    "string_above_max_length": _VALUE,
    "content_policy_violation": _CONTENT_POLICY,
    "content_filter": _CONTENT_POLICY,
    "responsibleaipolicyviolation": _CONTENT_POLICY,
    "invalid_prompt": _PROMPT,
    "unsupported_parameter": _UNSUPPORTED,
    "unsupported_value": _UNSUPPORTED,
    "unknown_parameter": _UNSUPPORTED,
    "invalid_parameter": _VALUE,
    "invalid_value": _VALUE,
    "invalid_type": _VALUE,
    "missing_required_parameter": _MISSING,
    "integer_above_max_value": _VALUE,
    "integer_below_min_value": _VALUE,
    "decimal_above_max_value": _VALUE,
    "decimal_below_min_value": _VALUE,
    "array_above_max_length": _VALUE,
    "array_below_min_length": _VALUE,
    "string_below_min_length": _VALUE,
    "empty_array": _VALUE,
    "invalid_base64": _VALUE,
    "invalid_image": _IMAGE,
    "invalid_image_format": _IMAGE,
    "invalid_image_url": _IMAGE,
    "image_parse_error": _IMAGE,
    "image_too_large": _IMAGE,
    "image_too_small": _IMAGE,
    "unsupported_image_media_type": _IMAGE,
}

# Parameters of the public vendor API: a refusal may name one that the client omitted. Other names are not trusted.
PARAMS = frozenset(
    re.findall(
        r"\w+",
        """
    audio background dimensions encoding_format file frequency_penalty function_call functions image include input
    instructions language logit_bias logprobs max_completion_tokens max_output_tokens max_tokens messages metadata
    modalities model n output_compression output_format parallel_tool_calls prediction presence_penalty
    previous_response_id prompt prompt_cache_key quality reasoning reasoning_effort response_format safety_identifier
    seed size speed stop store stream stream_options style temperature text timestamp_granularities tool_choice tools
    top_logprobs top_p truncation user verbosity voice
    """,
    )
)

MESSAGES_CODE = "invalid_request_error"
"""The one name that the vendor of Messages has for all invalid requests. Other vendors have codes beside it."""

TOO_LONG_WORDS = re.compile(r"(?i)prompt is too long|input length and `?max_tokens`? exceed context limit")

OVERLOAD_CODES = frozenset(
    {"overloaded", "overloaded_error", "server_overloaded", "engine_overloaded", "model_overloaded", "slow_down"}
)
OVERLOAD_WORDS = re.compile(r"(?i)\boverloaded\b|\bat capacity\b|\bslow down\b")
OUT_OF_CREDIT_WORDS = re.compile(r"(?i)your credit balance is too low")
"""How the vendor of Messages says, as an invalid request, that the operator's account has no money left."""

OUT_OF_QUOTA_CODES = frozenset({"insufficient_quota", "billing_hard_limit_reached", "billing_not_active"})
