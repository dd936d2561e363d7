"""The members of a response that repeat the request, for responses that the gateway itself writes."""

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
    """Return the request's model parameters, or the vendor's defaults, and the parameters for the gateway."""
    body = request.body
    echoed = {name: body[name] if body.get(name) is not None else _DEFAULTS.get(name) for name in _NAMES}
    return {**echoed, **request.params.ours}
