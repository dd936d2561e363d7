"""The treatment of every member of the vendor's response request; docs/response-fields.md has the same tables."""

from collections.abc import Mapping

from inference.rules.members import (
    CACHE_TIME,
    CACHE_WRITE,
    REFUSED_EVERYWHERE,
    SERVICE_TIER,
    Member,
    Treatment,
    other_limits,
)

PASSED, BOUNDED, REFUSED = Treatment.PASSED, Treatment.BOUNDED, Treatment.REFUSED

_SAMPLING = "It changes which tokens are chosen, not how many are charged."
_INPUT = "It is input: every byte of it counts in the hold."
_LABEL = "A label for the model's provider."
_PROVIDER_RECORD = "A record at the model's provider could be another customer's."
_OTHER_INCLUDES = (
    "`message.output_text.logprobs`, `message.input_image.image_url` and `reasoning.encrypted_content`; others belong to "
    "tools that the provider runs."
)

VENDOR: Mapping[str, Member] = {
    "access_programs": Member(REFUSED, "It changes which model answers, on whose account."),
    "background": Member(
        REFUSED, "A response is made while its caller waits, as JSON or as a stream.", allowed=(False,)
    ),
    "context_management": Member(REFUSED, "Compaction is work that no price covers."),
    "conversation": Member(REFUSED, f"{_PROVIDER_RECORD} Continue from a response of yours with previous_response_id."),
    "image": Member(PASSED, "It can only make images count less."),
    "include": Member(PASSED, _OTHER_INCLUDES),
    "input": Member(BOUNDED, "It is input: every byte of text counts in the hold, other parts as the model's context."),
    "instructions": Member(BOUNDED, _INPUT),
    "max_output_tokens": Member(
        BOUNDED,
        "The hold covers this many output tokens, reasoning included. Without it, the gateway sets a limit.",
    ),
    "max_tool_calls": Member(PASSED, "It limits tools that the provider runs, of which there are none."),
    "metadata": Member(PASSED, "At most 16 pairs; names of 64, values of 512 characters."),
    "model": Member(BOUNDED, "It selects the prices. The model of a deployment goes upstream in its place."),
    "moderation": Member(REFUSED, "It runs a second model, which has no price here."),
    "parallel_tool_calls": Member(PASSED, "Tool calls are output, within the output limit."),
    "previous_response_id": Member(
        BOUNDED, "A stored response of the same owner: its input and output count in the hold and the charge as input."
    ),
    "prompt": Member(REFUSED, f"{_PROVIDER_RECORD} Send the instructions and the input themselves."),
    "prompt_cache_key": Member(PASSED, "It can only make input cheaper, which the charge follows."),
    "prompt_cache_options": Member(BOUNDED, f"`mode` and `ttl`. {CACHE_WRITE}"),
    "prompt_cache_retention": Member(BOUNDED, CACHE_TIME),
    "reasoning": Member(BOUNDED, "Reasoning tokens are output, within the output limit. `mode` must be `standard`."),
    "safety_identifier": Member(PASSED, _LABEL),
    "service_tier": Member(BOUNDED, SERVICE_TIER),
    "store": Member(BOUNDED, "It is stored here, not at the model's provider, which always gets `false`."),
    "stream": Member(PASSED, "A stream costs what the same answer in one piece costs."),
    "stream_options": Member(PASSED, "`include_obfuscation` goes upstream."),
    "temperature": Member(PASSED, _SAMPLING),
    "text": Member(BOUNDED, _INPUT),
    "tool_choice": Member(PASSED, "It chooses among the tools that were sent."),
    "tools": Member(
        BOUNDED, "Definitions are input: every byte counts in the hold. Only `function` and `custom` tools."
    ),
    "top_logprobs": Member(PASSED, "Log-probabilities are not charged."),
    "top_p": Member(PASSED, _SAMPLING),
    "truncation": Member(BOUNDED, "It can only make the input shorter."),
    "user": Member(PASSED, _LABEL),
}
"""Every member of the vendor's request."""

INSIDE: Mapping[str, Member] = {
    "input.content.cache_control": Member(BOUNDED, f"Also of an item, a tool or the body. {CACHE_WRITE}"),
    "input.content.file_data": Member(BOUNDED, "The file's own bytes, as base64 or a data URL."),
    "input.content.file_id": Member(REFUSED, f"{_PROVIDER_RECORD} Send the data itself."),
    "input.content.file_url": Member(REFUSED, "The provider would fetch it. Send the data itself."),
    "input.content.image_url": Member(
        BOUNDED, "A PNG, JPEG, WebP or GIF image, as a data URL or at a public https URL."
    ),
    "input.content.prompt_cache_breakpoint": Member(BOUNDED, CACHE_WRITE),
    "input.content.type": Member(
        BOUNDED,
        "`input_text`, `output_text`, `refusal`, `input_image` and `input_file`; what other parts cost is unknown.",
    ),
    "input.content.uuid": Member(
        REFUSED, "It would name an image in the provider's cache, perhaps another customer's."
    ),
    "input.content.video_url": Member(REFUSED, "Media is accepted only in a part of its own type."),
    "input.id": Member(
        PASSED, f"It is not sent on: the provider would take it for the id of one of its records. {_PROVIDER_RECORD}"
    ),
    "input.type": Member(
        BOUNDED,
        "`message`, `function_call`, `function_call_output`, `custom_tool_call`, `custom_tool_call_output` and "
        "`reasoning`; `item_reference` would name a record at the provider, others belong to tools that it runs.",
    ),
    "reasoning.mode": Member(REFUSED, "Other modes run more than one answer.", allowed=("standard",)),
    "tool_choice.type": Member(BOUNDED, "`function`, `custom` and `allowed_tools`, over tools that were sent."),
    "tools.type": Member(BOUNDED, "`function` and `custom`. A tool that the provider runs has no price here."),
}
"""Nested members that affect cost or routing."""

_OF_CHATS: Mapping[str, Member] = {
    **other_limits("max_completion_tokens", "max_tokens"),
    "n": Member(REFUSED, "There is one answer, and the hold is for one.", allowed=(1,)),
}

_OF_AGGREGATORS: Mapping[str, Member] = {"cache_control": INSIDE["input.content.cache_control"]}

RESPONSE_MEMBERS: Mapping[str, Member] = {**REFUSED_EVERYWHERE, **_OF_CHATS, **VENDOR, **_OF_AGGREGATORS}
