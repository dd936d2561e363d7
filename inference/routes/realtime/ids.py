"""Maps the ids of a session's events: clients see the gateway's own, the upstream sees its own.

An id that a client chose itself is the same on both sides. So is one that nobody knows: the upstream answers with its own error.
"""

from collections import OrderedDict
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from gateway.core.contract.errors import InvalidRequest
from gateway.core.contract.ids import new_id

Event = dict[str, Any]
Rename = Callable[[str, str, str], str]
"""Takes what an id names, the name of its member, and the id."""

IDS_MAX = 4096
"""The number of ids that a session remembers, those used last. A client that names an older one gets the upstream's error."""

ID_MAX_CHARACTERS = 512
EVENT_IDS_MAX = 1024

_PREFIXES = {"response": "resp", "conversation": "conv", "previous_item": "item"}
_OBJECTS = ("item", "response", "conversation")
"""The members of an upstream's event that are objects with an id. That of the session is replaced with its settings."""


class Ids:
    """The ids of one session."""

    def __init__(self) -> None:
        self._to_client = _Recent(IDS_MAX)
        self._to_upstream = _Recent(IDS_MAX)
        self._client_events = _Recent(EVENT_IDS_MAX)

    def for_client(self, event: Event) -> Event:
        """Return an upstream's event with the gateway's ids and a new event id."""
        shown = _renamed(event, "", self._shown)
        for kind in _OBJECTS:
            if isinstance(shown.get(kind), dict):
                shown[kind] = _renamed(shown[kind], kind, self._shown)
        response = shown.get("response")
        if isinstance(response, dict) and isinstance(response.get("output"), list):
            shown["response"] = {
                **response,
                "output": [_renamed_item(item, self._shown) for item in response["output"]],
            }
        return {**shown, "event_id": new_id("event")}

    def for_upstream(self, event: Event) -> Event:
        """Return a client's event with the upstream's ids. Raises InvalidRequest for an id that is too long."""
        if isinstance(event.get("event_id"), str):
            self._client_events.set(event["event_id"], event["event_id"])
        sent = _renamed(event, "", partial(self._sent, ""))
        if "item" in sent:
            sent["item"] = _renamed_item(sent["item"], partial(self._sent, "item."))
        response = sent.get("response")
        if isinstance(response, dict) and isinstance(response.get("input"), list):
            items = enumerate(response["input"])
            renamed = [_renamed_item(item, partial(self._sent, f"response.input.{index}.")) for index, item in items]
            sent["response"] = {**response, "input": renamed}
        return sent

    def client_event(self, event_id: object) -> str | None:
        """Return an id that an error refers to if the client has sent an event with it, else None."""
        return self._client_events.get(event_id) if isinstance(event_id, str) else None

    def _shown(self, kind: str, name: str, theirs: str) -> str:
        ours = self._to_client.get(theirs)
        if ours is None:
            return self._remember(theirs, new_id(_PREFIXES.get(kind, kind)))
        self._to_upstream.get(ours)  # used in both directions, so that both forget it at the same time
        return ours

    def _sent(self, path: str, kind: str, name: str, ours: str) -> str:
        if len(ours) > ID_MAX_CHARACTERS:
            raise InvalidRequest(f"An id may have {ID_MAX_CHARACTERS} characters.", param=path + name)
        theirs = self._to_upstream.get(ours)
        if theirs is None:
            return self._remember(ours, ours)
        self._to_client.get(theirs)
        return theirs

    def _remember(self, theirs: str, ours: str) -> str:
        if len(theirs) <= ID_MAX_CHARACTERS:
            self._to_client.set(theirs, ours)
            self._to_upstream.set(ours, theirs)
        return ours


class _Recent:
    """A mapping of limited size, which drops what was used longest ago."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._known: OrderedDict[str, str] = OrderedDict()

    def get(self, name: str) -> str | None:
        found = self._known.get(name)
        if found is not None:
            self._known.move_to_end(name)
        return found

    def set(self, name: str, value: str) -> None:
        self._known[name] = value
        self._known.move_to_end(name)
        if len(self._known) > self._size:
            self._known.popitem(last=False)


def _renamed_item(item: Any, rename: Rename) -> Any:
    return _renamed(item, "item", rename) if isinstance(item, dict) else item


def _renamed(holder: Mapping[str, Any], kind: str, rename: Rename) -> Event:
    """Return a copy of an object whose own ids are renamed: `id`, which is of this kind, and `…_id`, except that of an event."""
    renamed = dict(holder)
    for name, value in holder.items():
        is_id = name == "id" or (name.endswith("_id") and name != "event_id")
        if is_id and value and isinstance(value, str):
            renamed[name] = rename((kind or "part") if name == "id" else name.removesuffix("_id"), name, value)
    return renamed
