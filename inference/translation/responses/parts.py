"""Writes output items and their parts, for both complete responses and streams."""

from typing import Any

from inference.translation.answer import Head
from inference.translation.items import Logprobs, Part, Reasoning, Refusal, Text


def message(head: Head, index: int, status: str, content: list[dict[str, Any]]) -> dict[str, Any]:
    """Write a message."""
    item_id = f"msg_{head.unique}_{index}"
    return {"id": item_id, "type": "message", "status": status, "role": "assistant", "content": content}


def call(head: Head, index: int, status: str, call_id: str, name: str, arguments: str) -> dict[str, Any]:
    """Write a function call."""
    item_id = f"fc_{head.unique}_{index}"
    called = {"call_id": call_id, "name": name, "arguments": arguments}
    return {"id": item_id, "type": "function_call", "status": status, **called}


def reasoning(head: Head, index: int, status: str, item: Reasoning) -> dict[str, Any]:
    """Write a reasoning item."""
    summary = [{"type": "summary_text", "text": text} for text in item.summaries]
    content = [reasoning_text(item.text)] if item.text else []
    sealed = {} if item.encrypted is None else {"encrypted_content": item.encrypted}
    item_id = f"rs_{head.unique}_{index}"
    return {"id": item_id, "type": "reasoning", "status": status, "summary": summary, "content": content, **sealed}


def part(part: Part) -> dict[str, Any]:
    """Write a part of a message."""
    match part:
        case Text(text=text, logprobs=logprobs):
            return output_text(text, logprobs)
        case Refusal(text=text):
            return refusal(text)
    raise TypeError(f"an answer holds no {type(part).__name__}")


def output_text(text: str, logprobs: Logprobs | None = None) -> dict[str, Any]:
    """Write a part that is text."""
    return {"type": "output_text", "text": text, "annotations": [], "logprobs": logprobs or []}


def refusal(text: str) -> dict[str, Any]:
    """Write a part that is a refusal."""
    return {"type": "refusal", "refusal": text}


def reasoning_text(text: str) -> dict[str, Any]:
    """Write a part of a reasoning item that is its text."""
    return {"type": "reasoning_text", "text": text}
