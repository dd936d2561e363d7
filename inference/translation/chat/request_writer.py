"""Writes a chat request."""

from typing import Any

from inference.translation.chat.message_writer import write_messages
from inference.translation.conversation import Conversation, Form, Function, TextFormat, ToolChoice, vendor_effort


def write_request(conversation: Conversation, *, limit_field: str = "max_completion_tokens") -> dict[str, Any]:
    """Write a request without its model, and without whether it streams.

    `limit_field` names the member from which the upstream reads an output limit. Raises InvalidRequest naming what this
    format cannot express. Metadata is written only for a request in this format: the provider accepts it only for
    stored completions.
    """
    conversation.refuse_particular(Form.CHAT)
    body: dict[str, Any] = {"messages": write_messages(conversation), **conversation.shared}
    stated = {
        "tools": [_tool(function) for function in conversation.tools],
        "tool_choice": _tool_choice(conversation.tool_choice),
        "response_format": _response_format(conversation.text_format),
        "verbosity": conversation.verbosity,
        "reasoning_effort": vendor_effort(conversation.effort),
        limit_field: conversation.output_limit,
        "stop": list(conversation.stop),
        "metadata": conversation.metadata if conversation.form is Form.CHAT else None,
    }
    body |= {name: value for name, value in stated.items() if value not in (None, [])}
    if conversation.top_logprobs is not None:
        body |= {"logprobs": True, "top_logprobs": conversation.top_logprobs}
    return body | _particular(conversation)


def _particular(conversation: Conversation) -> dict[str, Any]:
    prefix = "stream_options."
    members = {path: value for path, value in conversation.particular.items() if not path.startswith(prefix)}
    options = {path[len(prefix) :]: conversation.particular[path] for path in conversation.particular.keys() - members}
    return members | {"stream_options": options} if options else members


def _tool(function: Function) -> dict[str, Any]:
    stated = {
        "name": function.name,
        "description": function.description,
        "parameters": function.parameters,
        "strict": function.strict,
    }
    return {"type": "function", "function": {name: value for name, value in stated.items() if value is not None}}


def _tool_choice(choice: ToolChoice | None) -> Any:
    if choice is None:
        return None
    if choice.forced is not None:
        return _named(choice.forced)
    if choice.allowed is not None:
        tools = [_named(name) for name in choice.allowed]
        return {"type": "allowed_tools", "allowed_tools": {"mode": choice.mode, "tools": tools}}
    return choice.mode


def _named(name: str) -> dict[str, Any]:
    return {"type": "function", "function": {"name": name}}


def _response_format(text_format: TextFormat | None) -> dict[str, Any] | None:
    if text_format is None:
        return None
    if text_format.kind != "json_schema":
        return {"type": text_format.kind}
    stated = {
        "name": text_format.name,
        "description": text_format.description,
        "schema": text_format.schema,
        "strict": text_format.strict,
    }
    return {
        "type": text_format.kind,
        "json_schema": {name: value for name, value in stated.items() if value is not None},
    }
