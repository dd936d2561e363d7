"""Reads what the vendor Voyage answers, which is the same on each of its routes of vectors."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.conversation import Conversation
from inference.adapters.representation.indices import check_indices


def read_list(answer: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the members of a list in the order of their `index`. Raises NotJSONError unless each is there once."""
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise NotJSONError("data is no list of objects")
    if len(data) != count:
        raise NotJSONError("not exactly one item for each input")
    check_indices(data)
    return sorted(data, key=lambda item: item["index"])


def count_usage(conversation: Conversation, answer: dict[str, Any]) -> None:
    """Add what an answer says that it used. Raises NotJSONError where its usage is no object."""
    usage = answer.get("usage")
    if not (usage is None or isinstance(usage, dict)):
        raise NotJSONError("usage is no object")
    conversation.count((usage or {}).get("total_tokens"))
