"""Events in the vendor's form: an event contains the object as it was at that moment."""

from collections.abc import Callable
from typing import Any

from stripe._api_version import _ApiVersion

from tests.support.stripe import lists
from tests.support.stripe.errors import missing
from tests.support.stripe.request import Request
from tests.support.stripe.store import Json, Store, random_text, snapshot

API_VERSION = _ApiVersion.CURRENT


class Events:
    """Creates events, and passes each to its listener."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self.listeners: list[Callable[[Json], None]] = []

    def emit(self, name: str, about: Json, **before: Any) -> Json:
        """Record that `name` happened to an object; `before` has the previous values of members."""
        data: Json = {"object": snapshot(about)}
        if before:
            data["previous_attributes"] = before
        event = self.store.add(
            "event",
            live=self.store.is_live(about["id"]),
            api_version=API_VERSION,
            data=data,
            pending_webhooks=1,
            request={"id": f"req_{random_text(14)}", "idempotency_key": None},
            type=name,
        )
        for listener in self.listeners:
            listener(event)
        return event

    def retrieve(self, request: Request) -> Json:
        """GET /v1/events/<id>."""
        return self.store.find("event", request.object_id, live=request.live)

    def list(self, request: Request) -> Json:
        """GET /v1/events, of one type or of several."""
        params = dict(request.params)
        wanted = params.pop("types", None)
        params.pop("delivery_success", None)
        if wanted is not None and not isinstance(wanted, list):
            raise missing("types")
        rows = [row for row in self.store.every("event", live=request.live) if wanted is None or row["type"] in wanted]
        return lists.page(rows, params, url="/v1/events", filters=["type"])
