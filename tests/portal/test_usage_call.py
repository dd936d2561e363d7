"""The page of one call: cost, its parts, and outcome."""

from collections.abc import Callable
from typing import Any

import jwt
import pytest
from django.test import Client
from jwt import PyJWKSet

from accounts.operations.receipt_keyring import receipt_keyring
from billing.models import PriceVersion, Takeover
from gateway.core.contract.errors import NotReady
from tests.factories.billing import Purse, release, review, settle
from tests.factories.organizations import account
from tests.portal.organization_browser import OrganizationPages
from tests.portal.test_wallet import text_of
from tests.portal.usage_pages import Months, tables, used

pytestmark = pytest.mark.django_db

# What may become of a call whose hold is a dollar, and what its page says of it.
ENDINGS: list[tuple[Callable[[str], Any], str]] = [
    (lambda one: settle(one, 300), "Charged Charged for the usage that the provider reported."),
    (lambda one: settle(one, 2_000_000), "It used more than was held for it; you do not pay for that."),
    (lambda one: settle(one, 300, basis="delivered"), "The answer broke off. Only what was delivered is charged."),
    (lambda one: settle(one, 300, basis="operator"), "The operator of this gateway decided the charge."),
    (lambda one: release(one, resolution="rejected"), "Not charged The model provider refused the request."),
    (lambda one: release(one, resolution="overloaded"), "Not charged The model provider was overloaded"),
    (lambda one: release(one, resolution="unresolved"), "The usage could not be determined"),
    (lambda one: review(one, "timed out"), "Under review The model provider did not answer in time."),
    (lambda one: review(one, "deadline_passed"), "Under review The gateway was interrupted during the call."),
    (lambda one: None, "In progress The call has not ended yet."),
]


class TestCall:
    """/wallet/usage/<usage_id>: cost and outcome of one call."""

    def test_says_why_it_ended(self, alice: Client, own: Purse) -> None:
        for end, words in ENDINGS:
            usage_id = own.call(1_000_000)
            end(usage_id)
            answer = alice.get(f"/wallet/usage/{usage_id}")
            assert answer.status_code == 200
            assert words in text_of(answer)
            assert usage_id in text_of(answer)

    def test_a_live_session_is_shown_part_by_part(self, alice: Client, own: Purse) -> None:
        prices = {"input_token": "4", "output_token": "16", "input_audio_token": "32", "output_audio_token": "64"}
        live = PriceVersion.objects.create(alias="realtime", components=prices)
        usage_id = own.call(1_000_000, route="realtime", model="realtime", price_version=live.pk)
        quantities = {
            "input_tokens": 1500,
            "input_audio_tokens": 1000,
            "output_tokens": 900,
            "output_audio_tokens": 700,
        }
        settle(usage_id, 82_000, quantities=quantities)
        assert tables(alice.get(f"/wallet/usage/{usage_id}"))["The parts of the charge"] == [
            ["Part", "Count", "Price", "Amount"],
            ["Input tokens", "500", "$4.00 a million", "$0.0020"],
            ["Output tokens", "200", "$16.00 a million", "$0.0032"],
            ["Input tokens of sound", "1,000", "$32.00 a million", "$0.0320"],
            ["Output tokens of sound", "700", "$64.00 a million", "$0.0448"],
            ["Charge", "$0.082"],
        ]

    def test_a_takeover_is_shown_with_its_price(self, alice: Client, own: Purse) -> None:
        expensive = PriceVersion.objects.create(alias="deep", components={"input_token": "3", "output_token": "9"})
        usage_id = own.call(1_000_000)
        Takeover.objects.create(call_id=usage_id, model="deep", price_version=expensive)
        settle(usage_id, 300, quantities={"input_tokens": 100, "output_tokens": 0})
        answer = alice.get(f"/wallet/usage/{usage_id}")
        assert "fast; it was overloaded, and deep answered instead" in text_of(answer)
        assert tables(answer)["The parts of the charge"][1:] == [
            ["Input tokens", "100", "$3.00 a million", "$0.0003"],
            ["Charge", "$0.0003"],
        ]

    def test_says_which_credits_paid_for_it(self, alice: Client, own: Purse) -> None:
        lot = own.grant(200)
        usage_id = own.call(500)
        settle(usage_id, 300)
        assert f"Paid from a credit $0.0002 {lot}" in text_of(alice.get(f"/wallet/usage/{usage_id}"))

    def test_a_settled_call_has_a_receipt_to_download(self, alice: Client, own: Purse) -> None:
        usage_id = own.call(100)
        page, receipt = f"/wallet/usage/{usage_id}", f"/wallet/usage/{usage_id}/receipt"
        assert receipt not in alice.get(page).content.decode()
        assert alice.get(receipt).status_code == 404
        settle(usage_id, 124, quantities={"input_tokens": 823, "output_tokens": 0})
        assert f'href="{receipt}"' in alice.get(page).content.decode()
        assert tables(alice.get(page))["The parts of the charge"][1:] == [
            ["Input tokens", "823", "$0.15 a million", "$0.00012345"],
            ["Beyond the hold", "", "", "-$0.00002345"],
            ["Charge", "$0.0001"],
        ]
        answer = alice.get(receipt)
        assert (answer["Content-Type"], answer["Content-Disposition"]) == (
            "application/jwt",
            f'attachment; filename="receipt-{usage_id}.jwt"',
        )
        assert "no-store" in answer["Cache-Control"]
        signed = answer.content.decode()
        keys = PyJWKSet.from_dict(alice.get("/.well-known/receipt-keys.json").json())
        claims = jwt.decode(signed, keys[jwt.get_unverified_header(signed)["kid"]], ["ES256"])
        assert (claims["jti"], claims["charge_microusd"], claims["sub"]) == (usage_id, 100, own.key)

    def test_without_readable_keys_the_receipt_is_not_ready(
        self, alice: Client, own: Purse, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        usage_id = own.call(100)
        settle(usage_id, 7)

        def unreadable() -> None:
            raise NotReady(headers={"Retry-After": "1"})

        monkeypatch.setattr(receipt_keyring, "current_sync", unreadable)
        answer = alice.get(f"/wallet/usage/{usage_id}/receipt")
        assert (answer.status_code, answer["Retry-After"]) == (503, "1")

    def test_another_persons_or_an_unknown_call_is_not_found(
        self, alice: Client, own: Purse, organization_pages: OrganizationPages, months: Months
    ) -> None:
        theirs = used(Purse("account", account("bob").did).pay(10_000_000), 7, months.this[0])
        shared = used(
            Purse("organization", organization_pages.team.id).pay(10_000_000),
            7,
            months.this[0],
            did=account("alice").did,
        )
        for usage_id in (theirs, shared, "use_nobody", "' OR 1=1 --", "9" * 400):
            assert alice.get(f"/wallet/usage/{usage_id}").status_code == 404
            assert alice.get(f"/wallet/usage/{usage_id}/receipt").status_code == 404
