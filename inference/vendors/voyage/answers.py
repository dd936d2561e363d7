"""Reads the responses of the vendor Voyage that are common to its vector routes."""

from typing import Any

from inference.adapters.exchange import NotJSONError
from inference.adapters.representation.conversation import Conversation
from inference.adapters.representation.vectors import check_indices


def read_list(answer: dict[str, Any], count: int) -> list[dict[str, Any]]:
    """Return the members of a list in the order of `index`. Raises NotJSONError unless each index occurs once."""
    data = answer.get("data")
    if not isinstance(data, list) or not all(isinstance(item, dict) for item in data):
        raise NotJSONError("data is not a list of objects")
    if len(data) != count:
        raise NotJSONError("not exactly one item for each input")
    check_indices(data)
    return sorted(data, key=lambda item: item["index"])


def count_usage(conversation: Conversation, answer: dict[str, Any]) -> None:
    """Add the usage that an answer reports. Raises NotJSONError if its usage is not an object."""
    usage = answer.get("usage")
    if not (usage is None or isinstance(usage, dict)):
        raise NotJSONError("usage is not an object")
    conversation.count((usage or {}).get("total_tokens"))
