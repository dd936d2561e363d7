"""Writes a Messages request."""

from collections.abc import Mapping
from typing import Any

from inference.translation import items
from inference.translation.conversation import Conversation, Form, Function, TextFormat, ToolChoice
from inference.translation.fields import joined, unsupported
from inference.translation.messages.block_writer import write_messages

TEMPERATURE_MAX = 1

EFFORTS = {"minimal": "low"}
"""Efforts of other formats that this one does not have."""

_CHOICES = {"auto": "auto", "required": "any", "none": "none"}
_LABELS = frozenset({"prompt_cache_key", "prompt_cache_retention", "safety_identifier", "user"})
_SAYS_NOTHING: Mapping[str, Any] = {"service_tier": ("auto", "default"), "parallel_tool_calls": (True,)}


def write_request(conversation: Conversation) -> dict[str, Any]:
    """Write a request without its model, and without whether it streams. Raises InvalidRequest naming what this format
    cannot express."""
    conversation.refuse_particular(Form.MESSAGES)
    _refuse_others(conversation)
    system, rest = _system(conversation)
    stated = {
        "system": system,
        "tools": [_tool(function) for function in conversation.tools],
        "tool_choice": _tool_choice(conversation),
        "output_config": _output_config(conversation),
        "thinking": {"type": "disabled"} if conversation.effort == "none" else None,
        "max_tokens": conversation.output_limit,
        "stop_sequences": list(conversation.stop),
        "temperature": conversation.shared.get("temperature"),
        "top_p": conversation.shared.get("top_p"),
        "metadata": _metadata(conversation.shared),
    }
    body = {name: value for name, value in stated.items() if value not in (None, [], {})}
    return {"messages": write_messages(rest), **body, **conversation.particular}


def _refuse_others(conversation: Conversation) -> None:
    shared = conversation.shared
    is_response = conversation.form is Form.RESPONSES
    temperature = shared.get("temperature")
    if isinstance(temperature, int | float) and temperature > TEMPERATURE_MAX:
        raise unsupported("temperature")
    for name, values in _SAYS_NOTHING.items():
        if name in shared and shared[name] not in values and (name, shared[name]) != ("parallel_tool_calls", False):
            raise unsupported(name)
    if conversation.top_logprobs is not None:
        raise unsupported("include" if is_response else "logprobs")
    if conversation.verbosity is not None:
        raise unsupported("text.verbosity" if is_response else "verbosity")
    if conversation.text_format is not None and conversation.text_format.kind == "json_object":
        raise unsupported("text.format" if is_response else "response_format")


def _system(conversation: Conversation) -> tuple[Any, list[items.Item]]:
    """Return the system prompt, and the items after the messages that belong to it."""
    texts = [] if conversation.instructions is None else [conversation.instructions]
    rest = list(conversation.items)
    while rest and isinstance(first := rest[0], items.Message) and first.role in ("system", "developer"):
        texts += [_only_text(part, first.at) for part in first.parts]
        rest.pop(0)
    return "\n\n".join(texts) or None, rest


def _only_text(part: items.Part, at: str) -> str:
    if not isinstance(part, items.Text):
        raise unsupported(getattr(part, "at", "") or joined(at, "content"))
    return part.text


def _tool(function: Function) -> dict[str, Any]:
    described = {} if function.description is None else {"description": function.description}
    strict = {"strict": True} if function.strict else {}
    schema = function.parameters if function.parameters is not None else {"type": "object", "properties": {}}
    return {"name": function.name, **described, "input_schema": schema, **strict}


def _tool_choice(conversation: Conversation) -> dict[str, Any] | None:
    choice, is_serial = conversation.tool_choice, conversation.shared.get("parallel_tool_calls") is False
    serial = {"disable_parallel_tool_use": True} if is_serial else {}
    if choice is None:
        return {"type": "auto", **serial} if serial and conversation.tools else None
    if choice.allowed is not None:
        raise unsupported("tool_choice")
    return _chosen(choice) | (serial if choice.mode != "none" else {})


def _chosen(choice: ToolChoice) -> dict[str, Any]:
    if choice.forced is not None:
        return {"type": "tool", "name": choice.forced}
    return {"type": _CHOICES[choice.mode]}


def _output_config(conversation: Conversation) -> dict[str, Any]:
    effort = conversation.effort
    stated = {} if effort in (None, "none") else {"effort": EFFORTS.get(effort or "", effort)}
    shape = conversation.text_format
    return stated | ({"format": _format(shape)} if shape is not None and shape.kind == "json_schema" else {})


def _format(shape: TextFormat) -> dict[str, Any]:
    return {"type": "json_schema", "schema": shape.schema or {}}


def _metadata(shared: Mapping[str, Any]) -> dict[str, Any]:
    user = shared.get("safety_identifier") or shared.get("user")
    return {} if user is None else {"user_id": user}
