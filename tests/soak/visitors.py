"""Everybody besides the chaos run's clients: callers of the other routes, talkers, payers, managers, people at the portal."""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable
from contextlib import suppress

import httpx
import orjson
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidStatus, WebSocketException

from bench.identity import Customer, Product, fresh_key
from bench.servers import GATEWAY_BASE_URL
from tests.chaos.caller import Caller, proof_headers
from tests.chaos.journal import Attempt
from tests.chaos.people import Person
from tests.soak.installation import HOST
from tests.soak.routes import LIVE, ROUTES
from tests.support import plain_http

MAX_COST_MICROUSD = 1_000_000
"""What a live session holds."""
SESSION, PORTAL, PAGE = "live session", "portal sign-in", "provider's page"
SIGN_IN = "/account/login/"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="(\w+)"')
REALTIME, CHECKOUT = "/v1/realtime", "/v1/billing/checkout"
TURNS, TURN_SECONDS = 5, 1.0
SESSION_SECONDS_MAX = 120.0
ITEM = {
    "type": "conversation.item.create",
    "item": {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hello."}]},
}
TOP_UP_MICROUSD = 5_000_000
READS = ("/v1/wallet", "/v1/account", "/v1/account/budgets", "/v1/models", "/v1/usage?limit=20", "/v1/organizations")
EMAIL, PASSWORD = "soak@portal.example", "correct horse battery"
PORTAL_PERSON = (
    "from accounts.models import Account; "
    f"Account.objects.create_user('did:web:portal.example:soak', email='{EMAIL}', password='{PASSWORD}')"
)
"""What makes the portal's person, for `manage.py shell`."""


class Visitors:
    """What they do, each again and again, with a pause, until the load ends."""

    def __init__(self, caller: Caller, product: Product, dice: random.Random, *, pause_seconds: float) -> None:
        self._caller, self._product, self._dice = caller, product, dice
        self._pause_seconds = pause_seconds

    async def repeat(self, visit: Callable[[], Awaitable[None]], stop: asyncio.Event) -> None:
        """Repeat one thing."""
        while not stop.is_set():
            await visit()
            await asyncio.sleep(self._pause_seconds)

    async def call_routes(self, person: Person) -> None:
        """Call each model route once."""
        for route in ROUTES:
            process = self._process()
            if not (token := await person.token(self._caller, self._product, process)):
                return
            attempt = Attempt(route.path, process, person.payer, key=fresh_key("soak"))
            headers = self._metered(person.customer, token, "POST", route.path, attempt.key)
            headers["Content-Type"] = route.content_type
            await self._caller.ask(attempt, "POST", route.path, body=route.content, headers=headers)
            await asyncio.sleep(self._pause_seconds)

    async def talk(self, person: Person) -> None:
        """Talk in a live session for some turns."""
        process = self._process()
        if not (token := await person.token(self._caller, self._product, process)):
            return
        attempt = Attempt(SESSION, process, person.payer, key=fresh_key("talk"), is_prompt=False)
        headers = self._metered(person.customer, token, "GET", REALTIME, attempt.key)
        url = self._caller.gateways[process].replace("http", "ws", 1) + f"{REALTIME}?model={LIVE}"
        try:
            async with (
                asyncio.timeout(SESSION_SECONDS_MAX),
                connect(url, additional_headers=headers, compression=None, proxy=None) as socket,
            ):
                await _take_turns(socket)
            attempt.status, attempt.is_whole = 101, True
        except InvalidStatus as refusal:
            attempt.status, attempt.is_whole = refusal.response.status_code, True
            attempt.code = str(orjson.loads(refusal.response.body or b"{}").get("error", {}).get("code", ""))
        except (OSError, WebSocketException) as failure:
            attempt.failure = repr(failure)
        self._caller.journal.attempts.append(attempt)

    async def pay(self, person: Person) -> None:
        """Top the wallet up by a checkout, and pay at the provider's page. A webhook and a worker do the rest."""
        process = self._process()
        if not (token := await person.token(self._caller, self._product, process)):
            return
        attempt = Attempt(CHECKOUT, process, person.payer)
        body = {"amountMicros": TOP_UP_MICROUSD, "idempotencyKey": fresh_key("pay")}
        headers = proof_headers(person.customer, token, "POST", CHECKOUT)
        answer = await self._caller.ask(attempt, "POST", CHECKOUT, body=orjson.dumps(body), headers=headers)
        if attempt.status == 201:
            with suppress(httpx.HTTPError):  # the customer gives up
                await asyncio.to_thread(_pay, orjson.loads(answer)["url"])

    async def manage(self, owner: Person, organization: str) -> None:
        """Read what pages of a product read, and invite somebody and take it back."""
        root = f"/v1/organizations/{organization}"
        for path in (*READS, root, *(f"{root}/{part}" for part in ("members", "seats", "billing", "usage"))):
            await self._ask(owner, "GET", path, path.replace(organization, "…"))
        invited = await self._ask(owner, "POST", f"{root}/invitations", "POST …/invitations", _invitation(self._dice))
        if b"invitationId" in invited:
            path = f"{root}/invitations/{orjson.loads(invited)['invitationId']}"
            await self._ask(owner, "DELETE", path, "DELETE …/invitations")

    async def visit_portal(self) -> None:
        """Sign in at the portal with a password, and look at the home page."""
        process = self._process()
        attempt = Attempt(PORTAL, process, is_prompt=False)
        try:
            attempt.status = await asyncio.to_thread(_sign_in, self._caller.gateways[process])
            attempt.is_whole = True
        except httpx.HTTPError as failure:
            attempt.failure = repr(failure)
        self._caller.journal.attempts.append(attempt)

    async def _ask(self, person: Person, method: str, path: str, purpose: str, body: object = None) -> bytes:
        process = self._process()
        if not (token := await person.token(self._caller, self._product, process)):
            return b""
        headers = proof_headers(person.customer, token, method, path.partition("?")[0])
        content = None if body is None else orjson.dumps(body)
        attempt = Attempt(purpose, process, person.payer)
        answer = await self._caller.ask(attempt, method, path, body=content, headers=headers)
        await asyncio.sleep(self._pause_seconds)
        return answer

    def _process(self) -> str:
        return self._dice.choice(list(self._caller.gateways))

    @staticmethod
    def _metered(customer: Customer, token: str, method: str, path: str, key: str) -> dict[str, str]:
        metered = {"Idempotency-Key": key, "x-service-max-cost-microusd": str(MAX_COST_MICROUSD)}
        return {**proof_headers(customer, token, method, path), **metered}


async def _take_turns(socket: ClientConnection) -> None:
    for _ in range(TURNS):
        await socket.send(orjson.dumps(ITEM).decode())
        await socket.send(orjson.dumps({"type": "response.create"}).decode())
        while orjson.loads(await socket.recv())["type"] != "response.done":
            pass
        await asyncio.sleep(TURN_SECONDS)


def _invitation(dice: random.Random) -> dict[str, str]:
    return {"email": f"guest-{dice.randrange(10**9)}@portal.example", "role": "member"}


def _pay(url: str) -> None:
    with plain_http.client(timeout=30) as browser:
        browser.post(url)


def _sign_in(origin: str) -> int:
    """Return the status of the home page after a sign-in, through what looks like a proxy that ends TLS."""
    sent = {"Host": HOST, "Origin": GATEWAY_BASE_URL, "X-Forwarded-Proto": "https"}
    with plain_http.client(base_url=origin, headers=sent, timeout=30) as browser:
        page = browser.get(SIGN_IN)
        cookies = dict(page.cookies)
        found_token = TOKEN.search(page.text)
        if found_token is None:
            return page.status_code
        form = {"login": EMAIL, "password": PASSWORD, "csrfmiddlewaretoken": found_token[1]}
        answer = browser.post(SIGN_IN, data=form, headers={"Cookie": _rendered(cookies)})
        cookies |= dict(answer.cookies)
        return browser.get("/", headers={"Cookie": _rendered(cookies)}).status_code


def _rendered(cookies: dict[str, str]) -> str:
    """Render cookies that are only for TLS, which a client without it would keep back."""
    return "; ".join(f"{name}={value}" for name, value in cookies.items())
