"""Reads what the vendor Voyage answers, which is the same on each of its routes of vectors."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.conversation import Conversation


def read_list(answer: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the members of a list in the order of their `index`. Raises NotJSONError unless each is there once."""
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise NotJSONError("data is no list of objects")
    found = {item.get("index"): item for item in data if type(item.get("index")) is int}
    if len(data) != count or sorted(found) != list(range(count)):
        raise NotJSONError("not exactly one item for each input")
    return [found[index] for index in range(count)]


def count_usage(conversation: Conversation, answer: dict[str, Any]) -> None:
    """Add what an answer says that it used. Raises NotJSONError where its usage is no object."""
    usage = answer.get("usage")
    if not (usage is None or isinstance(usage, dict)):
        raise NotJSONError("usage is no object")
    conversation.count((usage or {}).get("total_tokens"))
