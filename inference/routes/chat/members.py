"""The treatment of every member of the vendor's chat request; docs/chat-fields.md has the same tables."""

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
_PROVIDER_ID = "An id at the model's provider could be another customer's. Send the content itself."

VENDOR: Mapping[str, Member] = {
    "audio": Member(
        BOUNDED,
        "Needs a price for spoken answers (`output_audio_token`); the hold then counts each output token at the highest price. "
        "`voice` is a name.",
    ),
    "frequency_penalty": Member(PASSED, _SAMPLING),
    "function_call": Member(PASSED, "It chooses among the functions that were sent."),
    "functions": Member(BOUNDED, _INPUT),
    "logit_bias": Member(PASSED, _SAMPLING),
    "logprobs": Member(PASSED, "Log-probabilities are not charged."),
    "max_completion_tokens": Member(
        BOUNDED,
        "The hold covers this many output tokens, reasoning included. Without it, the gateway sets a limit.",
    ),
    "max_tokens": Member(BOUNDED, "The older name of `max_completion_tokens`. Two different limits are refused."),
    "messages": Member(
        BOUNDED, "It is input: every byte of text counts in the hold, other parts as the model's context."
    ),
    "metadata": Member(PASSED, _LABEL),
    "modalities": Member(BOUNDED, "`audio` needs a price for spoken answers (`output_audio_token`), as `audio` does."),
    "model": Member(BOUNDED, "It selects the prices. The model of a deployment goes upstream in its place."),
    "moderation": Member(REFUSED, "It runs a second model, which has no price here."),
    "n": Member(BOUNDED, "The hold covers this many answers of the output limit each, at most 128."),
    "parallel_tool_calls": Member(PASSED, "Tool calls are output, within the output limit."),
    "prediction": Member(
        BOUNDED,
        "Rejected tokens are charged as output: the hold is for one more output token for each byte that is predicted. "
        "The gateway's own output limit is then sent as `max_tokens`.",
    ),
    "presence_penalty": Member(PASSED, _SAMPLING),
    "prompt_cache_key": Member(PASSED, "It can only make input cheaper, which the charge follows."),
    "prompt_cache_options": Member(BOUNDED, f"`mode` and `ttl`. {CACHE_WRITE}"),
    "prompt_cache_retention": Member(BOUNDED, CACHE_TIME),
    "reasoning_effort": Member(PASSED, "Reasoning tokens are output, within the output limit."),
    "response_format": Member(BOUNDED, _INPUT),
    "safety_identifier": Member(PASSED, _LABEL),
    "seed": Member(PASSED, _SAMPLING),
    "service_tier": Member(BOUNDED, SERVICE_TIER),
    "stop": Member(PASSED, "It can only make the output shorter."),
    "store": REFUSED_EVERYWHERE["store"],
    "stream": Member(PASSED, "A stream costs what the same answer in one piece costs."),
    "stream_options": Member(
        PASSED, "The gateway always asks for the usage; a client that did not ask for it does not see it."
    ),
    "temperature": Member(PASSED, _SAMPLING),
    "tool_choice": Member(PASSED, "It chooses among the tools that were sent."),
    "tools": Member(
        BOUNDED, "Definitions are input: every byte counts in the hold. Only `function` and `custom` tools."
    ),
    "top_logprobs": Member(PASSED, "Log-probabilities are not charged."),
    "top_p": Member(PASSED, _SAMPLING),
    "user": Member(PASSED, _LABEL),
    "verbosity": Member(PASSED, "It makes the output longer or shorter, within the output limit."),
    "web_search_options": REFUSED_EVERYWHERE["web_search_options"],
}
"""Every member of the vendor's request."""

INSIDE: Mapping[str, Member] = {
    "audio.voice.id": Member(REFUSED, _PROVIDER_ID),
    "messages.audio": Member(REFUSED, f"An earlier spoken answer: {_PROVIDER_ID[0].lower()}{_PROVIDER_ID[1:]}"),
    "messages.content.cache_control": Member(BOUNDED, f"Also of a message, a tool or the body. {CACHE_WRITE}"),
    "messages.content.file.file_data": Member(BOUNDED, "The file's own bytes, as a data URL; no other URL passes."),
    "messages.content.file.file_id": Member(REFUSED, _PROVIDER_ID),
    "messages.content.image_url": Member(
        BOUNDED,
        "A PNG, JPEG, WebP or GIF image, as a data URL or at a public https URL, which the gateway fetches itself.",
    ),
    "messages.content.input_audio": Member(BOUNDED, "The hold counts each input token at the highest price."),
    "messages.content.prompt_cache_breakpoint": Member(BOUNDED, CACHE_WRITE),
    "messages.content.type": Member(
        BOUNDED, "`text`, `refusal`, `image_url`, `input_audio` and `file`; what other parts cost is unknown."
    ),
    "messages.content.uuid": Member(
        REFUSED, "It would name an image in the provider's cache, perhaps another customer's."
    ),
    "messages.content.video_url": Member(REFUSED, "Media is accepted only in a part of its own type."),
    "messages.role": Member(PASSED, "A message needs one."),
    "messages.tool_calls": Member(BOUNDED, _INPUT),
    "prediction.content": Member(BOUNDED, "A text, or a list of text parts."),
    "tools.type": Member(BOUNDED, "`function` and `custom`. A tool that the provider runs has no price here."),
}
"""Nested members that affect cost or routing; `messages.content.type` applies to every part of every message."""

_OF_AGGREGATORS: Mapping[str, Member] = {"cache_control": INSIDE["messages.content.cache_control"]}

CHAT_MEMBERS: Mapping[str, Member] = {
    **REFUSED_EVERYWHERE,
    **other_limits("max_output_tokens"),
    **VENDOR,
    **_OF_AGGREGATORS,
}
