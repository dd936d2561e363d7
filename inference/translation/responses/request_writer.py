"""Writes a responses request."""

from typing import Any

from inference.translation.conversation import Conversation, Form, Function, TextFormat, ToolChoice, vendor_effort
from inference.translation.fields import unsupported
from inference.translation.responses.item_writer import write_input
from inference.translation.responses.request_reader import LOGPROBS


def write_request(conversation: Conversation) -> dict[str, Any]:
    """Write a request without its model, and without whether it streams.

    It asks the provider to store nothing, because storing is this format's default. Raises InvalidRequest naming what
    this format cannot express.
    """
    conversation.refuse_particular(Form.RESPONSES)
    if conversation.stop:
        raise unsupported("stop_sequences" if conversation.form is Form.MESSAGES else "stop")
    body: dict[str, Any] = {"input": write_input(conversation.items), "store": False, **conversation.shared}
    text = {"format": _text_format(conversation.text_format), "verbosity": conversation.verbosity}
    stated = {
        "instructions": conversation.instructions,
        "tools": [_tool(function) for function in conversation.tools] or None,
        "tool_choice": _tool_choice(conversation.tool_choice),
        "text": {name: value for name, value in text.items() if value is not None} or None,
        "reasoning": {"effort": vendor_effort(conversation.effort)} if conversation.effort is not None else None,
        "max_output_tokens": conversation.output_limit,
        "metadata": conversation.metadata,
    }
    body |= {name: value for name, value in stated.items() if value is not None}
    if conversation.top_logprobs is not None:
        body |= {"include": [LOGPROBS], "top_logprobs": conversation.top_logprobs}
    for path, value in conversation.particular.items():
        _put(body, path, value)
    return body


def _put(body: dict[str, Any], path: str, value: Any) -> None:
    group, _, name = path.partition(".")
    if not name:
        body[path] = value
    elif group == "include":
        body[group] = [*body.get(group, []), value]
    else:
        body[group] = {**body.get(group, {}), name: value}


def _tool(function: Function) -> dict[str, Any]:
    described = {} if function.description is None else {"description": function.description}
    strict = {} if function.strict is None else {"strict": function.strict}
    return {"type": "function", "name": function.name, **described, "parameters": function.parameters, **strict}


def _tool_choice(choice: ToolChoice | None) -> Any:
    if choice is None:
        return None
    if choice.forced is not None:
        return {"type": "function", "name": choice.forced}
    if choice.allowed is not None:
        tools = [{"type": "function", "name": name} for name in choice.allowed]
        return {"type": "allowed_tools", "mode": choice.mode, "tools": tools}
    return choice.mode


def _text_format(text_format: TextFormat | None) -> dict[str, Any] | None:
    if text_format is None:
        return None
    stated = {
        "type": text_format.kind,
        "name": text_format.name,
        "description": text_format.description,
        "schema": text_format.schema,
        "strict": text_format.strict,
    }
    return {name: value for name, value in stated.items() if value is not None}
