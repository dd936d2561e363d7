"""Events as a gateway sends them, signed by the published library, and what the servers of the quickstarts do with them."""

import base64
import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
from standardwebhooks import Webhook

from tests.support.concurrency import PATIENCE_SECONDS

SECRET, OTHER_SECRET = (f"whsec_{base64.b64encode(bytes([number]) * 32).decode()}" for number in (1, 2))
ALICE = "did:web:studio.example:alice"


def post_event(
    url: str, *, id_: str, type_: str, data: dict[str, Any], late: timedelta = timedelta(), secret: str = SECRET
) -> httpx.Response:
    """Send an event that was signed some time ago."""
    at = datetime.now(UTC) - late
    body = json.dumps({"id": id_, "type": type_, "createdAt": at.isoformat(), "sequence": 1, "data": data})
    headers = {
        "webhook-id": id_,
        "webhook-timestamp": str(int(at.timestamp())),
        "webhook-signature": Webhook(secret).sign(id_, at, body),
        "Content-Type": "application/json",
    }
    return httpx.post(url, content=body, headers=headers, timeout=PATIENCE_SECONDS)


def answers_of(url: str) -> list[tuple[int, str]]:
    """Send events of several kinds, one of them twice, a seat's, one with another secret, and an old one; return the answers."""
    usage = {"did": ALICE, "chargedMicrousd": 32}
    seat = {"orgId": "org_1"}
    sent = [
        post_event(url, id_="evt_2", type_="usage.settled", data=usage),
        post_event(url, id_="evt_2", type_="usage.settled", data=usage),
        post_event(url, id_="evt_3", type_="wallet.empty", data={"orgId": "org_1", "availableMicrousd": 0}),
        post_event(url, id_="evt_4", type_="seat.revoked", data=seat),
        post_event(url, id_="evt_5", type_="seat.revoked", data=seat, secret=f"whsec_{'A' * 32}"),
        post_event(url, id_="evt_6", type_="seat.revoked", data=seat, late=timedelta(hours=1)),
    ]
    return [(answer.status_code, answer.text) for answer in sent]


def assert_verified(answers: list[tuple[int, str]], printed: list[str]) -> None:
    """Check the answers, and that each event that was verified was handled once, after that of the page itself."""
    assert [answer for answer in answers if answer[0] == 204] == [(204, "")] * 4
    (strange, why), (old, how_old) = answers[4:]
    assert (strange, old) == (400, 400)
    assert why.startswith("no signature matches")
    assert how_old.startswith("it was signed 36")
    assert printed[:3] == [f"{ALICE} has 0.90 USD left", f"{ALICE} paid 32 micro-USD", "org_1 has 0.00 USD left"]
    assert printed[3].startswith("seat.revoked {")
    assert len(printed) == 4
