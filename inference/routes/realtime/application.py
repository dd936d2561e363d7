"""The ASGI application of the route: accepts or refuses a handshake, and runs the session."""

from functools import partial
from typing import Any

from gateway.core.contract.errors import ApiError, IdempotencyKeyReused
from gateway.core.http import edge
from gateway.core.http.exceptions import answered
from gateway.core.http.request_ids import request_id_of_scope
from gateway.core.json.strict import dumps
from inference.interface.upstream import Stream
from inference.metering.answers import receipt_headers
from inference.metering.call import Call
from inference.metering.serving import serve_session
from inference.routes.realtime import endings
from inference.routes.realtime.client_socket import ClientGone, ClientSocket
from inference.routes.realtime.handshake import Handshake
from inference.routes.realtime.route import REALTIME
from inference.routes.realtime.service_events import error_event
from inference.routes.realtime.session import Session
from inference.routes.realtime.stream import SessionStream


async def serve_realtime(scope: dict[str, Any], receive: Any, send: Any) -> None:
    """Serve one handshake and its session."""
    await receive()
    request_id = request_id_of_scope(scope)
    client = ClientSocket(scope, receive, send, request_id)
    try:
        await _serve(scope, client, request_id)
    except ClientGone:
        return


async def _serve(scope: dict[str, Any], client: ClientSocket, request_id: str) -> None:
    try:
        edge.check(scope["path"], str(scope["query_string"], "latin-1"), _values(scope))
        request = Handshake(scope, request_id)
        replay = await serve_session(request, REALTIME, partial(_run, request, client))
    except ClientGone:
        raise
    except Exception as error:  # noqa: BLE001 - nothing but the catalogue's answers leaves
        await _refuse(client, answered(error))
        return
    if replay is not None:
        await _refuse_repeated(request, client, dict(replay.headers))


async def _run(request: Handshake, client: ClientSocket, call: Call, stream: Stream) -> None:
    assert isinstance(stream, SessionStream)
    session = Session(call, stream, client)
    try:
        headers = {**receipt_headers(call.usage_id, call.hold_microusd, None), **call.arrival.limits.headers()}
        await client.accept(request.subprotocol, headers)
    except ClientGone:
        session.client_left()
    await session.run()


async def _refuse(client: ClientSocket, error: ApiError) -> None:
    if client.is_open:
        await client.close(endings.UPSTREAM, "failed")
    else:
        await client.refuse(error)


async def _refuse_repeated(request: Handshake, client: ClientSocket, headers: dict[str, str]) -> None:
    """Report the end of the session to a repeated handshake. Nothing is relayed or charged."""
    await client.accept(request.subprotocol, headers)
    message = "The session with this Idempotency-Key is over. Use a new key to open another."
    await client.send(dumps(error_event(IdempotencyKeyReused(message), client.request_id)))
    await client.close(endings.KEY_USED, "key already used")


def _values(scope: dict[str, Any]) -> str:
    return str(b" ".join([value for _, value in scope["headers"]]), "latin-1")
