"""The clients of a run: calls, repeated calls, streams, reads and live sessions, one after the other until they are stopped."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any

import orjson
from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from bench.identity import fresh_key
from tests.upgrade.client import Client, judge_error, pause
from tests.upgrade.journal import (
    CALL,
    CUT,
    READ,
    REFUSED,
    REPEAT,
    SESSION,
    SLOW_CALL,
    STREAM,
    TURNED_AWAY,
    UNANSWERED,
    WHOLE,
    Exchange,
)
from tests.upgrade.people import LIVE, LONG, QUICK, SHORT, SLOW, Person

CHAT, WALLET, REALTIME = "/v1/chat/completions", "/v1/wallet", "/v1/realtime"
BEAT_SECONDS = 0.2
"""Between a client's requests: as many as the processors can do would only keep the nodes from starting."""
SESSION_SECONDS = (5.0, 45.0)
"""How long a session lasts: some end by themselves before a server's end would cut them."""
REPEATS_MAX = 60
AGAIN_SECONDS = 1.0
RESTARTED = 1012
ITEM = {
    "type": "conversation.item.create",
    "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
}

Turn = Callable[[Client, Person, asyncio.Event], Awaitable[None]]


async def run(client: Client, person: Person, turn: Turn, stop: asyncio.Event) -> None:
    """Take one turn after another. The last one ends by itself."""
    while not stop.is_set():
        if await client.token(person):
            await turn(client, person, stop)
        await pause(stop, BEAT_SECONDS)


def chat(model: str, *, stream: bool = False) -> dict[str, Any]:
    """Build the body of a chat."""
    body: dict[str, Any] = {"model": model, "messages": [{"role": "user", "content": "Say something."}]}
    return body | ({"stream": True} if stream else {"max_tokens": 40})


async def call(client: Client, person: Person, stop: asyncio.Event) -> None:
    """Make a call, and repeat every third one: the answer must be the same, at whichever node."""
    exchange, content = await _call(client, person, QUICK, CALL)
    if exchange.ending == WHOLE and client.dice.random() < 0.35:
        await _repeat(client, person, exchange, content)


async def slow_call(client: Client, person: Person, stop: asyncio.Event) -> None:
    """Make a call that takes longer than a server's end leaves it. It may be turned away, and its repetition gets the answer."""
    await _call(client, person, SLOW, SLOW_CALL)


async def short_stream(client: Client, person: Person, stop: asyncio.Event) -> None:
    """Read a stream of a second."""
    await _stream(client, person, SHORT)


async def long_stream(client: Client, person: Person, stop: asyncio.Event) -> None:
    """Read a stream that lasts longer than a server's end leaves it."""
    await _stream(client, person, LONG)


async def read(client: Client, person: Person, stop: asyncio.Event) -> None:
    """Read the wallet."""
    async with client.noting(READ) as exchange:
        await client.ask(exchange, person, WALLET, method="GET")


async def session(client: Client, person: Person, stop: asyncio.Event) -> None:
    """Talk in a live session until its time is over, or the server ends it: with an error event, and the code 1012."""
    seconds = client.dice.uniform(*SESSION_SECONDS)
    async with client.noting(SESSION, fresh_key("session")) as exchange:
        headers = person.headers("GET", REALTIME, exchange.key)
        try:
            async with client.socket(f"{REALTIME}?model={LIVE}", headers) as socket:
                await _talk(socket, exchange, stop, asyncio.get_running_loop().time() + seconds)
        except InvalidStatus as refusal:
            exchange.status = refusal.response.status_code
            judge_error(exchange, bytes(refusal.response.body or b""))


async def _talk(socket: ClientConnection, exchange: Exchange, stop: asyncio.Event, until: float) -> None:
    try:
        await _receive(socket, exchange, "session.created")
        while asyncio.get_running_loop().time() < until and not stop.is_set():
            await socket.send(orjson.dumps(ITEM).decode())
            await socket.send(orjson.dumps({"type": "response.create"}).decode())
            await _receive(socket, exchange, "response.done")
            await pause(stop, 0.5)
        await socket.close()
    except ConnectionClosed:
        await _judge_end(socket, exchange)
    else:
        exchange.ending, exchange.detail = WHOLE, ""


async def _receive(socket: ClientConnection, exchange: Exchange, until: str | None) -> None:
    """Receive events until one of a type, or until the connection ends. Note the code of an error and what came last."""
    while True:
        event = orjson.loads(await socket.recv())
        exchange.detail = str(event)
        if event["type"] == "error":
            exchange.code = str(event["error"].get("code"))
        if event["type"] == until:
            return


async def _judge_end(socket: ClientConnection, exchange: Exchange) -> None:
    """Judge by the close code and the error event. A response that the server's end cancels is still reported after that event."""
    with suppress(ConnectionClosed):  # a frame that could not be sent any more leaves events that have not been read
        await _receive(socket, exchange, None)
    is_in_order = socket.close_code == RESTARTED and exchange.code == "not_ready"
    exchange.ending = CUT if is_in_order else UNANSWERED
    exchange.detail = "" if is_in_order else f"closed with {socket.close_code} after {exchange.detail}"


async def _stream(client: Client, person: Person, model: str) -> None:
    async with client.noting(STREAM, fresh_key("stream")) as exchange:
        await client.ask(exchange, person, CHAT, chat(model, stream=True))
    if exchange.ending == TURNED_AWAY:
        client.journal.cases.append(("Requests turned away", str(exchange)))


async def _call(client: Client, person: Person, model: str, kind: str) -> tuple[Exchange, bytes]:
    """Make a call; one that was turned away is repeated with its key until it is answered."""
    key, content = fresh_key("call"), b""
    for number in range(REPEATS_MAX):
        async with client.noting(kind if number == 0 else REPEAT, key) as exchange:
            content = await client.ask(exchange, person, CHAT, chat(model))
        if exchange.ending == TURNED_AWAY and number == 0 and kind == CALL:
            client.journal.cases.append(("Requests turned away", str(exchange)))
        if exchange.ending not in (TURNED_AWAY, UNANSWERED) and exchange.code != "idempotency_in_progress":
            break
        await asyncio.sleep(AGAIN_SECONDS)
    if exchange.ending != WHOLE:
        client.journal.cases.append(("Calls that no repetition brought to an end", str(exchange)))
    return exchange, content


async def _repeat(client: Client, person: Person, first: Exchange, content: bytes) -> None:
    async with client.noting(REPEAT, first.key) as exchange:
        again = await client.ask(exchange, person, CHAT, chat(QUICK))
    if exchange.status == 422:
        client.journal.cases.append(("Repeated keys answered with 422", str(exchange)))
    elif exchange.ending == REFUSED or (exchange.ending == WHOLE and again != content):
        client.journal.cases.append(("Repeated keys with another answer", f"{exchange} {again[:100]!r}"))
    elif exchange.ending == TURNED_AWAY:
        client.journal.cases.append(("Requests turned away", str(exchange)))


TURNS: tuple[Turn, ...] = (
    call,
    call,
    call,
    short_stream,
    short_stream,
    long_stream,
    long_stream,
    read,
    session,
    session,
    slow_call,
)
"""One client each."""
