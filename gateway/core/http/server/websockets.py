"""Refuses WebSocket handshakes without a route, as HTTP if the server supports it (ASGI's denial response)."""

from typing import Any

from gateway.core.contract.errors import NotFound
from gateway.core.contract.headers import REQUEST_ID
from gateway.core.http.request_ids import request_id_of_scope
from gateway.core.json.strict import dumps

DENIAL = "websocket.http.response"


async def refuse_websocket(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Respond 404 `not_found`, or close the handshake, which servers turn into 403."""
    await receive()
    if DENIAL not in scope.get("extensions", {}):
        await send({"type": "websocket.close", "code": 4404})
        return
    request_id = request_id_of_scope(scope)
    error = NotFound()
    headers = [
        (b"content-type", b"application/json"),
        (b"cache-control", b"no-store"),
        (REQUEST_ID.lower().encode(), request_id.encode()),
    ]
    await send({"type": f"{DENIAL}.start", "status": error.status, "headers": headers})
    await send({"type": f"{DENIAL}.body", "body": dumps(error.body(request_id))})
