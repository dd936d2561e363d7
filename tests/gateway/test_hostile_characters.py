"""Control characters, invalid UTF-8 and overlong texts at every address: an answer that says what is wrong, never a 500.

A real server answers, so that its own parsing and the model routes' handler are part of it.
"""

import contextlib
import logging
import re
from collections.abc import Callable, Iterator

import pytest
from django.test import Client
from pytest_django import Settings

from accounts.models import Account, DeviceSession, Limit
from billing.models import Checkout
from gateway.core.contract.capabilities import Capability
from organizations.models import Invitation, Membership
from organizations.rules.roles import Role
from tests.contract.document import document
from tests.factories.accounts import Caller
from tests.factories.proofs import Signer, mint_token
from tests.gateway.console import ALICE
from tests.gateway.every_url import parameters_of, templates
from tests.gateway.operators import show_only
from tests.support.raw_http import Connection
from tests.support.serving import RunningGateway
from tests.support.stage_fixtures import db  # noqa: F401

CONTROL = {"NUL": "%00", "unit separator": "a%1fb", "delete": "%7F", "line break": "a%0d%0ab"}
ODD = {
    "invalid UTF-8": "%ed%a0%80%ff",
    "overlong": "a" * 3000,
    "digits": "9" * 400,
    "other scripts": "%e2%80%ae%f0%9f%98%80%c2%80",
    "quotes": "%27%22%5c%25",
}
CONTROL_TEXTS, ODD_TEXTS = list(CONTROL.values()), list(ODD.values())
# What pages and the console read from a query, beside what the OpenAPI document lists.
PAGE_QUERY = (
    *("q", "page", "p", "o", "e", "_popup", "_changelist_filters", "next", "product", "theme", "month", "cancelled"),
    *("id__exact", "state", "code", "client_id", "scope", "process", "action", "event", "status"),
)
CSRF_TOKEN = "c" * 32
SIGNS_OUT = "/account/logout/"
WHO = ["stranger", "owner", "operator"]
Tracebacks = Callable[[], list[str]]


class Visitor:
    """Sends requests as somebody, and notes what must not be: answers of 500 and above."""

    def __init__(self, port: int, cookie: str = "", caller: Caller | None = None) -> None:
        self._connection = Connection(port)
        self._cookie = cookie
        self._caller = caller
        self.broken: list[str] = []
        self.answers: list[int] = []

    def close(self) -> None:
        """Hang up."""
        self._connection.close()

    def send(self, method: str, path: str, body: bytes = b"", headers: dict[str, str] | None = None) -> int:
        """Send one request, with a new proof where it goes to a route by token."""
        if self._caller and path.startswith("/v1/"):
            headers = self._caller.headers(method, path.partition("?")[0])
        is_api = path.startswith(("/v1/", "/api/"))
        kind = "application/json" if is_api else "application/x-www-form-urlencoded"
        usual = {"Content-Type": kind, "Cookie": self._cookie, "X-CSRFToken": CSRF_TOKEN}
        status = self._connection.request(method, path, usual | (headers or {}), body).status
        self.answers.append(status)
        if status >= 500 and status != 503:
            self.broken.append(f"{status} {method} {path[:120]}")
        return status


class Door:
    """Lets visitors in, by name, and sees them off at the end."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._inside: list[Visitor] = []

    def knock(self, *, cookie: str = "", caller: Caller | None = None) -> Visitor:
        """Come as whoever the cookie and the token say."""
        self._inside.append(Visitor(self._port, cookie, caller))
        return self._inside[-1]

    def enter(self, name: str) -> Visitor:
        """Sign in as the owner of an organization, or as an operator; a stranger stays outside."""
        if name == "stranger":
            return self.knock()
        account = Account.objects.get(did=ALICE)
        if name == "operator":
            account = operator()
        client = Client()
        client.force_login(account, backend="django.contrib.auth.backends.ModelBackend")
        signer, scopes = Signer(), (*Capability, "infer:fast")
        caller = Caller(account, scopes, signer, mint_token(account.did, scopes, signer))
        session = client.cookies["sessionid"].value
        return self.knock(cookie=f"sessionid={session}; csrftoken={CSRF_TOKEN}", caller=caller)

    def close(self) -> None:
        """See everybody off."""
        for visitor in self._inside:
            visitor.close()


def operator() -> Account:
    """Return the one operator with every right."""
    did = "did:web:gateway.example:operator"
    return Account.objects.filter(did=did).first() or Account.objects.create_superuser(
        did, "op@example.com", "operator"
    )


@pytest.fixture
def door(gateway: RunningGateway) -> Iterator[Door]:
    with contextlib.closing(Door(gateway.port)) as opened:
        yield opened


@pytest.fixture
def ids(
    furnished_once: None,
    untracked: None,
    unkept_messages: None,
    remembered_sign_ins: None,
    unrecorded_pages: None,
    monkeypatch: pytest.MonkeyPatch,
    settings: Settings,
) -> dict[str, str]:
    """Name one row of each kind, all of them Alice's. No request of these tests changes any; limits begin anew."""
    show_only(monkeypatch)
    Limit.objects.all().delete()
    settings.AUTHORIZATIONS_PER_ADDRESS_MINUTE = settings.SESSIONS_PER_ADDRESS_MINUTE = 10**6
    settings.REPORTS_PER_ACCOUNT_MINUTE = 10**6
    membership = Membership.objects.filter(account__did=ALICE, role=Role.OWNER, removed_at__isnull=True)[0]
    return {
        "org_id": membership.organization_id,
        "membership_id": membership.id,
        "product": "studio",
        "product_slug": "studio",
        "invitation_id": Invitation.objects.values_list("id", flat=True)[0],
        "transaction_id": Checkout.objects.values_list("id", flat=True)[0],
        "session_id": DeviceSession.objects.values_list("id", flat=True)[0],
        "object_id": "1",
        "pk": "1",
        "model": "fast",
    }


@pytest.fixture
def tracebacks(caplog: pytest.LogCaptureFixture) -> Tracebacks:
    """Return what gives the messages that were logged with a traceback."""
    caplog.set_level(logging.WARNING)
    return lambda: [record.getMessage() for record in caplog.records if record.exc_info]


def filled(template: str, ids: dict[str, str], **hostile: str) -> str:
    """Fill a path in with ids that exist, but for the hostile one."""
    return re.sub(r"\{(\w+)\}", lambda name: hostile.get(name[1]) or ids.get(name[1], "x"), template)


def area_of(name: str) -> list[str]:
    """List the paths that a visitor has business at; strangers knock everywhere."""
    console = [path for path in templates() if path.startswith("/admin/") and not path.startswith("/admin/logout")]
    others = [path for path in templates() if not path.startswith("/admin/") and path != SIGNS_OUT]
    return {"stranger": console + others, "owner": others, "operator": console}[name]


def queries_of(template: str, text: str) -> list[str]:
    """List the queries to try on a path: each parameter that is described alone, then all others together."""
    described = document()["paths"].get(template, {}).values()
    parameters = [parameter for operation in described for parameter in operation.get("parameters", ())]
    listed = [one["name"] for one in map(resolved, parameters) if one["in"] == "query"]
    return [f"{name}={text}" for name in listed] + ["&".join(f"{name}={text}" for name in PAGE_QUERY)]


def resolved(parameter: dict[str, str]) -> dict[str, str]:
    """Return a described parameter, or the shared one that it refers to."""
    name = parameter.get("$ref", "").rpartition("/")[2]
    found: dict[str, str] = document()["components"]["parameters"][name] if name else parameter
    return found


def is_led_to_sign_in(who: str, template: str) -> bool:
    """Return whether the console refuses a visitor before it reads anything of the request."""
    return who == "stranger" and template.startswith("/admin/")


def odd_texts(turn: int, *, is_one_enough: bool) -> list[str]:
    """List the texts to try: all, or one in turn, where the same code answers on dozens of pages."""
    return [ODD_TEXTS[turn % len(ODD_TEXTS)]] if is_one_enough else ODD_TEXTS


@pytest.mark.parametrize("who", WHO)
def test_in_every_path(who: str, door: Door, ids: dict[str, str], tracebacks: Tracebacks) -> None:
    """The control characters come in turn: each is refused before it is known which page the path names."""
    somebody, begin = door.enter(who), WHO.index(who)
    places = [(template, name) for template in area_of(who) for name in parameters_of(template)]
    for turn, (template, name) in enumerate(places):
        control = CONTROL_TEXTS[(begin + turn) % len(CONTROL_TEXTS)]
        assert somebody.send("GET", filled(template, ids, **{name: control})) == 400
        is_like_others = template.endswith(("/{object_id}/", "/history/", "/delete/"))  # "change" finds the row alike
        for text in odd_texts(turn, is_one_enough=is_like_others or is_led_to_sign_in(who, template)):
            somebody.send("GET", filled(template, ids, **{name: text}))
        somebody.send("POST", filled(template, ids, **{name: ODD["invalid UTF-8"]}), b"{}")
    assert len(places) > 4 * len(CONTROL_TEXTS)
    assert len(somebody.answers) > 200
    assert somebody.broken == []
    assert tracebacks() == []


@pytest.mark.parametrize("who", WHO)
def test_in_every_query(who: str, door: Door, ids: dict[str, str], tracebacks: Tracebacks) -> None:
    somebody = door.enter(who)
    for turn, template in enumerate(area_of(who)):
        path = filled(template, ids)
        assert somebody.send("GET", f"{path}?x={CONTROL['NUL']}") == 400
        is_like_others = template.startswith("/admin/") and ("{" in template or template.endswith("/add/"))
        for text in odd_texts(turn, is_one_enough=is_like_others or is_led_to_sign_in(who, template)):
            for query in queries_of(template, text):
                somebody.send("GET", f"{path}?{query}")
    assert len(somebody.answers) > 200
    assert somebody.broken == []
    assert tracebacks() == []


@pytest.mark.parametrize(
    "path", ["/", "/v1/account", "/v1/models", "/v1/chat/completions", "/v1/messages", "/account/login/", "/admin/"]
)
def test_in_headers_cookies_and_queries(path: str, door: Door, ids: dict[str, str], tracebacks: Tracebacks) -> None:
    somebody = door.knock()
    for text in ("a\x01b", "a\x7fb"):
        assert somebody.send("GET", path, headers={"X-Anything": text}) == 400
        assert somebody.send("GET", path, headers={"User-Agent": text}) == 400
    for query in ("%00", "a=%1F", "%7f=a", "a=b%0Ac"):
        assert somebody.send("GET", f"{path}?{query}") == 400
    assert somebody.send("GET", path, headers={"X-Anything": "a\tb"}) != 400
    assert somebody.broken == []
    assert tracebacks() == []


def test_a_cookie_that_decodes_to_nul_is_refused(door: Door, tracebacks: Tracebacks) -> None:
    for cookie in (r'sessionid="\000aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"', r'appearance="\177"'):
        assert door.knock(cookie=cookie).send("GET", "/organizations") == 400
    assert tracebacks() == []


def test_nul_in_a_form_is_refused(door: Door, ids: dict[str, str], tracebacks: Tracebacks) -> None:
    names = (
        "q",
        "name",
        "role",
        "action",
        "_selected_action",
        "next",
        "session",
        "id",
        "key",
        "product",
        "scope",
        "login",
    )
    body = "&".join(f"{name}=%00" for name in names).encode()
    owner, operator = door.enter("owner"), door.enter("operator")
    for somebody, who in ((owner, "owner"), (operator, "operator")):
        for template in area_of(who):
            somebody.send("POST", filled(template, ids), body)
    chosen = b"action=revoke&reason=r&index=0&_selected_action=dev_%00"
    assert operator.send("POST", "/admin/accounts/devicesession/", chosen) == 400
    assert len(owner.answers) > 50
    assert len(operator.answers) > 50
    assert owner.broken == operator.broken == []
    assert tracebacks() == []


@pytest.mark.parametrize("host", ["evil host", "a\\b", "[::1", "a/b", "a@b", "x" * 300 + "!"])
def test_a_malformed_host_is_one_quiet_line(host: str, door: Door, caplog: pytest.LogCaptureFixture) -> None:
    assert door.knock().send("GET", "/account/login/", headers={"Host": host}) == 400
    assert door.knock().send("GET", "/v1/account", headers={"Host": host}) == 400
    records = [record for record in caplog.records if "Host" in record.getMessage() or "HOST" in record.getMessage()]
    assert {(record.levelname, record.exc_info) for record in records} <= {("WARNING", None)}
    assert all("\n" not in record.getMessage() for record in records)
    assert not [record for record in caplog.records if record.exc_info]
