"""The members of a response that repeat what was asked, where the gateway itself writes it."""

from typing import Any

from inference.routes.responses.bound import BoundedResponse

_NAMES = (
    "instructions",
    "max_output_tokens",
    "parallel_tool_calls",
    "reasoning",
    "temperature",
    "text",
    "tool_choice",
    "tools",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
)
_DEFAULTS = {
    "parallel_tool_calls": True,
    "reasoning": {"effort": None, "summary": None},
    "text": {"format": {"type": "text"}},
    "tool_choice": "auto",
    "tools": [],
    "truncation": "disabled",
}


def echo(request: BoundedResponse) -> dict[str, Any]:
    """Return what was asked of the model, or the vendor's defaults, and what was asked of the gateway."""
    body = request.body
    asked = {name: body[name] if body.get(name) is not None else _DEFAULTS.get(name) for name in _NAMES}
    return {**asked, **request.asked.ours}
