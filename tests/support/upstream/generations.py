"""An aggregator's own records of calls, at `GET /generation?id=`, with the id from the response's headers.

A record can be changed: `missing` returns none, as shortly after a call; `changed` are members of every record; `raw`
replaces the response.
"""

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from tests.support.upstream.ledger import Ledger
from tests.support.upstream.stream import dumps

PREFIX = "gen-"


class Records:
    """The records of a ledger. `asked` are the requested ids."""

    def __init__(self, ledger: Ledger, api_key: str | None) -> None:
        self._ledger = ledger
        self._api_key = api_key
        self.reset()

    def reset(self) -> None:
        """Return to honest records."""
        self.requests: list[str] = []
        self.missing = False
        self.changed: Mapping[str, Any] = {}
        self.raw: web.Response | None = None

    async def show(self, request: web.Request) -> web.Response:
        """Return the record of one call to a caller with the key, or 404 if there is none."""
        if self._api_key and request.headers.get("Authorization") != f"Bearer {self._api_key}":
            return web.Response(status=401)
        generation_id = request.query["id"]
        self.requests.append(generation_id)
        if self.raw is not None:
            return self.raw
        entry = next((entry for entry in self._ledger if PREFIX + entry.id == generation_id), None)
        if entry is None or self.missing:
            return web.Response(status=404, body=b'{"error": {"code": 404}}', content_type="application/json")
        record = {
            "id": generation_id,
            "model": entry.model,
            "total_cost": 0.0015,
            "tokens_prompt": 1,
            "tokens_completion": 1,
            "native_tokens_prompt": entry.prompt_tokens,
            "native_tokens_completion": entry.planned_tokens,
            "native_tokens_cached": entry.cached_tokens,
            "native_tokens_reasoning": 0,
            "streamed": entry.stream,
            "cancelled": False,
        }
        return web.Response(body=dumps({"data": {**record, **self.changed}}), content_type="application/json")
