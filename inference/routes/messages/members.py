"""The treatment of every member of the vendor's Messages request; docs/message-fields.md has the same tables."""

from collections.abc import Mapping

from inference.rules.members import REFUSED_EVERYWHERE, Member, Treatment, other_limits

PASSED, BOUNDED, REFUSED = Treatment.PASSED, Treatment.BOUNDED, Treatment.REFUSED

_SAMPLING = "It changes which tokens are chosen, not how many are charged."
_INPUT = "It is input: every byte of it counts in the hold."
_PROVIDER_ID = "An id at the model's provider could be another customer's. Send the content itself."
_PROVIDER_RUNS = "It makes the provider run more than the model, for which no price is known."
_CACHE = "The hold counts each input token at the highest price. Writes without a price of their own cost as much as plain input."

VENDOR: Mapping[str, Member] = {
    "cache_control": Member(BOUNDED, _CACHE),
    "container": Member(REFUSED, _PROVIDER_RUNS),
    "diagnostics": Member(REFUSED, _PROVIDER_ID),
    "inference_geo": Member(REFUSED, "Another region has another price."),
    "max_tokens": Member(BOUNDED, "Required. It is lowered to the alias's limit and to what the maximum cost covers."),
    "messages": Member(BOUNDED, _INPUT),
    "metadata": Member(PASSED, "`user_id` is a label for the model's provider."),
    "model": Member(BOUNDED, "An alias; the deployment's model is sent in its place."),
    "output_config": Member(BOUNDED, "Effort and format. The schema is input."),
    "service_tier": Member(
        BOUNDED, "`auto` and `standard_only` are the default tier; others need a price in `service_tiers`."
    ),
    "speed": Member(REFUSED, "A faster model has another price.", allowed=("standard",)),
    "stop_sequences": Member(BOUNDED, _INPUT),
    "stream": Member(PASSED, "A stream of the vendor's events."),
    "system": Member(BOUNDED, _INPUT),
    "thinking": Member(BOUNDED, "Thinking is output. `budget_tokens` is lowered with `max_tokens`."),
    "tool_choice": Member(PASSED, "It changes which tools are called."),
    "tools": Member(BOUNDED, _INPUT),
    "user_profile_id": Member(REFUSED, _PROVIDER_ID),
    "workspace_id": Member(REFUSED, "The gateway decides whose account at the provider is used."),
}
"""Every member of the vendor's request."""

OLDER: Mapping[str, Member] = {
    "context_management": Member(
        BOUNDED,
        "Edits that clear thinking or tool uses: the hold covers the whole input. Others run a model, and are refused.",
    ),
    "mcp_servers": Member(REFUSED, _PROVIDER_RUNS),
    "temperature": Member(PASSED, _SAMPLING),
    "top_k": Member(PASSED, _SAMPLING),
    "top_p": Member(PASSED, _SAMPLING),
}
"""Members of the vendor's betas and earlier versions that clients send."""

INSIDE: Mapping[str, Member] = {
    "messages.content.cache_control": Member(BOUNDED, _CACHE),
    "messages.content.source.content": Member(BOUNDED, "A text, or a list of `text` and `image` blocks."),
    "messages.content.source.data": Member(BOUNDED, "A text, an image, or a PDF file in base64."),
    "messages.content.source.file_id": Member(REFUSED, _PROVIDER_ID),
    "messages.content.source.url": Member(
        BOUNDED,
        "A PNG, JPEG, WebP or GIF image, or a PDF file, at a public https URL. The gateway fetches it itself; files are never "
        "fetched by an upstream.",
    ),
    "messages.content.type": Member(
        BOUNDED,
        "`text`, `image`, `document`, `search_result`, `thinking`, `redacted_thinking`, `tool_use` and `tool_result`; "
        "what other blocks cost is unknown.",
    ),
    "messages.role": Member(
        BOUNDED, "`user`, `assistant`, or after the first message `system`, whose content is text."
    ),
    "system.cache_control": Member(BOUNDED, _CACHE),
    "tools.cache_control": Member(BOUNDED, _CACHE),
    "tools.type": Member(
        BOUNDED,
        "`custom`, and the vendor's tools that the caller runs: `bash_…`, `computer_…`, `memory_…` and `text_editor_…`. "
        "A tool that the provider runs has no price here.",
    ),
}
"""Nested members that affect cost or routing."""

BETA: Mapping[str, Member] = {
    "billing_policy": Member(REFUSED, "The gateway decides who is billed."),
    "compaction": Member(REFUSED, _PROVIDER_RUNS),
    "fallback_credit_token": Member(REFUSED, _PROVIDER_ID),
    "thread": Member(REFUSED, f"A conversation that the provider keeps: {_PROVIDER_ID[0].lower()}{_PROVIDER_ID[1:]}"),
}
"""Other members of the vendor's betas."""

MESSAGE_MEMBERS: Mapping[str, Member] = {
    **REFUSED_EVERYWHERE,
    **other_limits("max_completion_tokens", "max_output_tokens"),
    **VENDOR,
    **OLDER,
    **BETA,
}
