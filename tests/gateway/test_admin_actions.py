"""What an operator does in the console: by operations, once, and with a log entry."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from django.contrib.admin.models import ADDITION, CHANGE, LogEntry
from django.contrib.auth.models import Group, Permission
from django.db import connection
from django.test import Client
from django.urls import reverse

from accounts.models import Account, DeviceSession, Integration, PublicClient, SigningKey
from accounts.operations import signing_keys
from billing.models import CreditLot, PriceVersion, Reservation, Transfer, UsageRecord, Wallet
from billing.rules.prices import COMPONENTS
from gateway.contract.amounts import usd
from gateway.contract.ids import new_id
from inference.admin.prices import PRICE_FIELDS
from inference.models import Alias, RawModel, Upstream
from judgement.models import JudgementSettings
from tests.gateway.config_files import WHOLE, apply_text
from tests.gateway.console import ALICE, make_call, make_review, make_session

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _configured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRIMARY_API_KEY", "sk-primary-secret")
    apply_text(tmp_path, WHOLE)


@pytest.fixture
def operator() -> Client:
    return signed_in(Account.objects.create_superuser("did:web:localhost:operator", "operator@localhost", "x"))


def signed_in(account: Account) -> Client:
    client = Client()
    client.force_login(account)
    return client


def clerk(*rights: str) -> Client:
    account = Account.objects.create_user("did:web:localhost:clerk", "clerk@localhost", "x", is_staff=True)
    account.user_permissions.set(Permission.objects.filter(codename__in=rights))
    return signed_in(account)


def address(name: str, *arguments: Any) -> str:
    return reverse(f"admin:{name}", args=arguments)


def logged() -> list[tuple[int, str]]:
    return list(LogEntry.objects.order_by("id").values_list("action_flag", "change_message"))


def errors(response: Any) -> dict[str, list[str]]:
    return {name: list(texts) for name, texts in response.context["adminform"].form.errors.items()}


# Calls in review


def test_a_call_in_review_is_charged_once_with_a_reason(operator: Client) -> None:
    call = make_review()
    charge = f"{address('billing_reservation_changelist')}{call.pk}/charge/"
    assert b"At most the hold, 50000." in operator.get(charge).content

    answer = operator.post(charge, {"_form_submitted": "on", "amount_microusd": "1200", "reason": "seen in their log"})

    assert answer["HX-Redirect"] == address("billing_reservation_change", call.pk)
    call.refresh_from_db()
    assert (call.state, call.charge_microusd, call.resolution) == ("settled", 1200, "operator")
    assert UsageRecord.objects.values_list("charge_microusd", "basis").get() == (1200, "operator")
    assert logged() == [(CHANGE, "Charged $0.0012: seen in their log")]
    assert (
        operator.post(charge, {"_form_submitted": "on", "amount_microusd": "9", "reason": "again"}).status_code == 403
    )
    assert Transfer.objects.filter(kind="charge").count() == 1


def test_a_call_that_is_come_to_from_the_list_can_be_resolved(operator: Client) -> None:
    call = make_review()
    listed = operator.get(address("billing_reservation_changelist"), {"state__exact": "review"}).content.decode()
    [link] = set(re.findall(r'href="(/admin/billing/reservation/use[^"/]+/change/)[^"]*"', listed))
    page = operator.get(link).content.decode()
    for verb in ("charge", "release"):
        assert f'hx-get="{address("billing_reservation_changelist")}{call.pk}/{verb}/"' in page


def test_a_call_in_review_is_released_with_a_reason(operator: Client) -> None:
    call = make_review()
    release = f"{address('billing_reservation_changelist')}{call.pk}/release/"
    operator.post(release, {"_form_submitted": "on", "reason": "never arrived"})
    call.refresh_from_db()
    assert (call.state, call.charge_microusd, call.resolution) == ("released", None, "operator")
    assert CreditLot.objects.get(source_key="welcome-alice").held_microusd == 0
    assert logged() == [(CHANGE, "Released: never arrived")]


@pytest.mark.parametrize(
    "sent",
    [
        {"amount_microusd": "50001", "reason": "too much"},
        {"amount_microusd": "-1", "reason": "negative"},
        {"amount_microusd": "1.5", "reason": "a fraction"},
        {"amount_microusd": "1200", "reason": ""},
        {"amount_microusd": "", "reason": "nothing"},
    ],
)
def test_a_charge_within_the_hold_and_a_reason_are_asked_for(operator: Client, sent: dict[str, str]) -> None:
    call = make_review()
    answer = operator.post(
        f"{address('billing_reservation_changelist')}{call.pk}/charge/", {"_form_submitted": "on", **sent}
    )
    assert "HX-Redirect" not in answer
    assert Reservation.objects.get(pk=call.pk).state == "review"
    assert logged() == []


def test_only_a_call_in_review_can_be_resolved(operator: Client) -> None:
    usage_id = make_call()
    page = operator.get(address("billing_reservation_change", usage_id)).content
    assert b"Charge this call" not in page
    for verb in ("charge", "release"):
        answer = operator.post(
            f"{address('billing_reservation_changelist')}{usage_id}/{verb}/",
            {"_form_submitted": "on", "amount_microusd": "1", "reason": "r"},
        )
        assert answer.status_code == 403
    assert Reservation.objects.get(pk=usage_id).state == "dispatched"


def test_reading_the_page_of_an_action_changes_nothing(operator: Client) -> None:
    call = make_review()
    for verb in ("charge", "release"):
        operator.get(f"{address('billing_reservation_changelist')}{call.pk}/{verb}/?reason=r&amount_microusd=1")
    assert Reservation.objects.get(pk=call.pk).state == "review"


def test_an_operator_without_the_right_resolves_nothing() -> None:
    call = make_review()
    client = clerk("view_reservation")
    assert client.get(address("billing_reservation_change", call.pk)).status_code == 200
    release = f"{address('billing_reservation_changelist')}{call.pk}/release/"
    assert client.post(release, {"_form_submitted": "on", "reason": "r"}).status_code == 403
    assert Reservation.objects.get(pk=call.pk).state == "review"


# Credits


def grant(**members: str) -> dict[str, str]:
    return {
        "owner_kind": "account",
        "owner_key": ALICE,
        "amount_microusd": "2500000",
        "reason": "an apology",
        "key": new_id("crd"),
        "expires_at_0": "",
        "expires_at_1": "",
    } | members


def test_a_credit_is_granted_once_also_when_the_form_is_sent_twice(operator: Client) -> None:
    form = grant(product="")
    for _ in range(2):
        assert operator.post(address("billing_creditlot_add"), form).status_code == 303

    lot = CreditLot.objects.get(source_kind="console")
    assert (lot.wallet.owner_key, lot.remaining_microusd, lot.product, lot.expires_at) == (ALICE, 2500000, None, None)
    assert Transfer.objects.filter(source=lot.pk).values_list("kind", "amount_microusd").get() == ("grant", 2500000)
    assert logged()[0] == (ADDITION, "Granted $2.50: an apology")


def test_a_credit_can_be_for_a_product_and_expire(operator: Client) -> None:
    operator.post(
        address("billing_creditlot_add"),
        grant(product="studio", expires_at_0="2099-01-31", expires_at_1="12:00:00"),
    )
    lot = CreditLot.objects.get(source_kind="console")
    assert (lot.product, str(lot.expires_at)) == ("studio", "2099-01-31 12:00:00+00:00")


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"owner_key": "did:web:studio.example:nobody"}, "owner_key"),
        ({"owner_kind": "organization", "owner_key": "org_nobody"}, "owner_key"),
        ({"amount_microusd": "0"}, "amount_microusd"),
        ({"amount_microusd": "-5"}, "amount_microusd"),
        ({"reason": ""}, "reason"),
        ({"expires_at_0": "2020-01-01", "expires_at_1": "00:00:00"}, "expires_at"),
        ({"product": "unknown"}, "product"),
        ({"key": "mine"}, "key"),
    ],
)
def test_a_grant_that_makes_no_sense_is_refused(operator: Client, members: dict[str, str], field: str) -> None:
    wallets = list(Wallet.objects.order_by("id").values())
    response = operator.post(address("billing_creditlot_add"), grant(**members))
    assert list(errors(response)) == [field]
    assert not CreditLot.objects.filter(source_kind="console").exists()
    assert list(Wallet.objects.order_by("id").values()) == wallets


# Prices


def test_every_component_has_a_field() -> None:
    assert set(PRICE_FIELDS) == {*COMPONENTS, "images"}


def test_a_new_price_is_dated_and_the_old_one_stays(operator: Client) -> None:
    response = operator.post(
        address("billing_priceversion_add"), {"alias": "fast", "input_token": "0.2", "output_token": "0.8"}
    )
    assert response.status_code == 303
    versions = PriceVersion.objects.filter(alias="fast").order_by("effective_at")
    assert [version.components for version in versions] == [
        {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.60"},
        {"input_token": "0.2", "output_token": "0.8"},
    ]
    assert [flag for flag, _ in logged()] == [ADDITION]
    page = operator.get(address("billing_priceversion_changelist"), {"q": "fast"}).content.decode()
    assert page.index("input_token 0.2,") < page.index("input_token 0.15,")


def test_images_have_prices_by_size_and_quality(operator: Client) -> None:
    operator.post(address("billing_priceversion_add"), {"alias": "image", "images": "1024x1024/high 5\n512x512/low 1"})
    version = PriceVersion.objects.filter(alias="image").order_by("-effective_at")[0]
    assert version.components == {"image": {"1024x1024/high": "5", "512x512/low": "1"}}


@pytest.mark.parametrize(
    "members",
    [
        {"input_token": "0.15", "cached_input_token": "0.075", "output_token": "0.6"},
        {},
        {"input_token": "-1"},
        {"input_token": "0.1234567"},
        {"input_token": "free"},
        {"images": "1024x1024/high"},
        {"images": "large 5"},
        {"images": "512x512/low 5\n512x512/low 6"},
    ],
)
def test_a_price_that_is_none_or_no_news_is_refused(operator: Client, members: dict[str, str]) -> None:
    before = PriceVersion.objects.count()
    response = operator.post(address("billing_priceversion_add"), {"alias": "fast", **members})
    assert response.status_code == 200
    assert errors(response)
    assert PriceVersion.objects.count() == before


# Upstreams and models


def upstream_form(**members: str) -> dict[str, str]:
    return {
        "name": "primary",
        "adapter": "openai",
        "base_url": "https://models.example/v1",
        "api_key": "",
        "timeout_seconds": "60",
        "enabled": "on",
        "options": "{}",
    } | members


def test_a_blank_credential_is_kept_and_a_typed_one_replaces_it(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    page = address("inference_upstream_change", upstream.pk)
    assert b"sk-primary-secret" not in operator.get(page).content

    assert operator.post(page, upstream_form(timeout_seconds="30")).status_code == 303
    upstream.refresh_from_db()
    assert (upstream.api_key, upstream.timeout_seconds) == ("sk-primary-secret", 30)

    operator.post(page, upstream_form(api_key="sk-typed-secret"))
    upstream.refresh_from_db()
    assert upstream.api_key == "sk-typed-secret"

    operator.post(page, upstream_form(remove_api_key="on"))
    upstream.refresh_from_db()
    assert upstream.api_key == ""
    assert "sk-" not in json.dumps(logged())


def test_a_stored_credential_is_sent_to_no_other_address(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    page = address("inference_upstream_change", upstream.pk)

    refused = operator.post(page, upstream_form(base_url="https://evil.example/v1"))
    assert list(errors(refused)) == ["api_key"]
    upstream.refresh_from_db()
    assert upstream.base_url == "https://models.example/v1"

    assert operator.post(page, upstream_form(base_url="https://models.example/v2")).status_code == 303
    moved = upstream_form(base_url="https://other.example/v1", api_key="sk-typed-secret")
    assert operator.post(page, moved).status_code == 303
    upstream.refresh_from_db()
    assert (upstream.base_url, upstream.api_key) == ("https://other.example/v1", "sk-typed-secret")


def test_a_refused_form_shows_no_credential(operator: Client) -> None:
    page = address("inference_upstream_change", Upstream.objects.get(name="primary").pk)
    response = operator.post(page, upstream_form(api_key="sk-typed-secret", base_url="http://evil.example"))
    assert list(errors(response)) == ["base_url"]
    assert b"sk-" not in response.content


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"base_url": "ftp://models.example"}, "base_url"),
        ({"base_url": ""}, "base_url"),
        ({"api_key": "two words"}, "api_key"),
        ({"timeout_seconds": "0"}, "timeout_seconds"),
        ({"options": "[1]"}, "options"),
        ({"options": "{"}, "options"),
        ({"options": "[" * 30_000}, "options"),
        ({"options": '{"a": ' + "9" * 5_000 + "}"}, "options"),
    ],
)
def test_an_upstream_is_checked_as_in_the_file(operator: Client, members: dict[str, str], field: str) -> None:
    response = operator.post(address("inference_upstream_add"), upstream_form(name="other", **members))
    assert list(errors(response)) == [field]
    assert not Upstream.objects.filter(name="other").exists()


def alias_form(**members: str) -> dict[str, str]:
    management = {f"deployments-{name}": "0" for name in ("INITIAL_FORMS", "MIN_NUM_FORMS")}
    return {
        "deployments-TOTAL_FORMS": "1",
        "deployments-MAX_NUM_FORMS": "1000",
        "options": "{}",
        **management,
    } | members


def test_an_alias_is_made_with_its_deployments(operator: Client) -> None:
    upstream = Upstream.objects.get(name="primary")
    form = alias_form(
        **{
            "name": "slow",
            "enabled": "on",
            "options": '{"routes": ["embeddings"]}',
            "deployments-0-upstream": str(upstream.pk),
            "deployments-0-model": "m",
            "deployments-0-priority": "2",
            "deployments-0-weight": "5",
            "deployments-0-enabled": "on",
        }
    )
    assert operator.post(address("inference_alias_add"), form).status_code == 303
    alias = Alias.objects.get(name="slow")
    assert alias.served_routes() == ("embeddings",)
    assert alias.deployments.values_list("upstream__name", "model", "priority", "weight").get() == (
        "primary",
        "m",
        2,
        5,
    )


@pytest.mark.parametrize(
    ("members", "field"),
    [
        ({"name": "vendor/large-2"}, "name"),
        ({"name": "a b"}, "name"),
        ({"name": "slow", "options": '{"routes": ["nothing"]}'}, "options"),
        ({"name": "slow", "options": '{"routes": "embeddings"}'}, "options"),
    ],
)
def test_an_alias_is_checked_as_in_the_file(operator: Client, members: dict[str, str], field: str) -> None:
    response = operator.post(address("inference_alias_add"), alias_form(**members) | {"deployments-TOTAL_FORMS": "0"})
    assert list(errors(response)) == [field]
    assert Alias.objects.count() == 4


def test_the_name_of_an_alias_is_none_for_a_raw_model(operator: Client) -> None:
    form = {"model": "fast", "upstream": str(Upstream.objects.get(name="primary").pk), "options": "{}"}
    assert list(errors(operator.post(address("inference_rawmodel_add"), form))) == ["model"]
    assert RawModel.objects.count() == 1


def test_an_alias_that_judgement_selects_is_not_deleted(operator: Client) -> None:
    alias = Alias.objects.get(name="judgement-backend-b")
    response = operator.post(address("inference_alias_delete", alias.pk), {"post": "yes"})
    assert response.status_code == 200
    assert Alias.objects.filter(pk=alias.pk).exists()
    assert JudgementSettings.objects.get().text_backend == alias


# Integrations and clients


def test_an_integration_takes_public_keys_and_known_capabilities_alone(operator: Client) -> None:
    integration = Integration.objects.get()
    form = {
        "issuer": integration.issuer,
        "product": "studio",
        "audience": integration.audience,
        "did_prefix": integration.did_prefix,
        "capabilities": "wallet:read\r\ninfer:*\r\n",
        "jwks": json.dumps(integration.jwks),
        "enabled": "on",
    }
    page = address("accounts_integration_change", integration.pk)
    assert operator.post(page, form).status_code == 303
    integration.refresh_from_db()
    assert integration.capabilities == ["wallet:read", "infer:*"]

    private = {"keys": [integration.jwks["keys"][0] | {"d": "AAAA"}]}
    for broken, field in (
        ({"capabilities": "wallet:write"}, "capabilities"),
        ({"capabilities": ""}, "capabilities"),
        ({"jwks": json.dumps(private)}, "jwks"),
        ({"jwks": "{}"}, "jwks"),
        ({"issuer": "http://studio.example"}, "issuer"),
        ({"did_prefix": "studio"}, "did_prefix"),
    ):
        assert list(errors(operator.post(page, form | broken))) == [field]
    integration.refresh_from_db()
    assert integration.capabilities == ["wallet:read", "infer:*"]


def test_a_public_client_is_checked_as_in_the_file(operator: Client) -> None:
    form = {
        "client_id": "https://app.example",
        "name": "App",
        "redirect_uris": "https://app.example/cb",
        "enabled": "on",
    }
    assert operator.post(address("accounts_publicclient_add"), form).status_code == 303
    assert PublicClient.objects.get(name="App").redirect_uris == ["https://app.example/cb"]
    for broken, field in (
        ({"client_id": "https://app2.example/"}, "client_id"),
        ({"client_id": "https://app2.example"}, "redirect_uris"),
        ({"client_id": "app2", "redirect_uris": ""}, "redirect_uris"),
        ({"client_id": "app2", "redirect_uris": "javascript:alert(1)"}, "redirect_uris"),
    ):
        assert list(errors(operator.post(address("accounts_publicclient_add"), form | broken))) == [field]
    assert PublicClient.objects.count() == 2


# Accounts, devices, keys


def act(client: Client, page: str, action: str, *keys: object) -> Any:
    return client.post(address(page), {"action": action, "_selected_action": [str(key) for key in keys]}, follow=True)


def test_an_account_is_suspended_with_its_devices_and_let_back_in(operator: Client) -> None:
    account, session = Account.objects.get(did=ALICE), make_session()

    act(operator, "accounts_account_changelist", "suspend", account.pk)
    session.refresh_from_db()
    assert session.revoked_at is not None
    assert Account.objects.get(did=ALICE).suspended_at is not None
    act(operator, "accounts_account_changelist", "suspend", account.pk)

    act(operator, "accounts_account_changelist", "unsuspend", account.pk)
    assert Account.objects.get(did=ALICE).suspended_at is None
    assert logged() == [(CHANGE, "Suspended."), (CHANGE, "Unsuspended.")]


def test_an_account_is_never_deleted_and_keeps_its_did(operator: Client) -> None:
    account = Account.objects.get(did=ALICE)
    assert operator.post(address("accounts_account_delete", account.pk), {"post": "yes"}).status_code == 403
    operator.post(address("accounts_account_change", account.pk), {"did": "did:web:other", "display_name": "Alice"})
    account.refresh_from_db()
    assert (account.did, account.display_name, account.email) == (ALICE, "Alice", None)


def test_only_an_operator_with_every_right_makes_operators() -> None:
    client = clerk("view_account", "change_account")
    alice = Account.objects.get(did=ALICE)
    client.post(
        address("accounts_account_change", alice.pk),
        {"display_name": "A", "is_active": "on", "is_staff": "on", "is_superuser": "on"},
    )
    alice.refresh_from_db()
    assert (alice.display_name, alice.is_staff, alice.is_superuser) == ("A", False, False)

    boss = Account.objects.create_superuser("did:web:localhost:boss", None, "x")
    assert client.post(address("accounts_account_change", boss.pk), {"display_name": "B"}).status_code == 403
    change_password = address("auth_user_password_change", boss.pk)
    assert (
        client.post(change_password, {"password1": "long-password-1", "password2": "long-password-1"}).status_code
        == 403
    )
    assert Account.objects.get(pk=boss.pk).check_password("x")


def test_only_an_operator_with_every_right_gives_rights_to_groups() -> None:
    client = clerk("view_group", "add_group", "change_group", "delete_group")
    group = Group.objects.create(name="Clerks")
    Account.objects.get(did="did:web:localhost:clerk").groups.add(group)
    every_right = {"name": "Clerks", "permissions": list(Permission.objects.values_list("pk", flat=True))}

    assert client.get(address("auth_group_change", group.pk)).status_code == 200
    assert client.post(address("auth_group_change", group.pk), every_right).status_code == 403
    assert client.post(address("auth_group_add"), every_right).status_code == 403
    assert client.post(address("auth_group_delete", group.pk), {"post": "yes"}).status_code == 403
    assert not Group.objects.get().permissions.exists()


def test_an_operator_suspends_nobody_above_them() -> None:
    client = clerk("view_account", "change_account")
    boss = Account.objects.create_superuser("did:web:localhost:boss", None, "x")
    act(client, "accounts_account_changelist", "suspend", boss.pk)
    assert Account.objects.get(pk=boss.pk).suspended_at is None


def test_a_device_is_revoked(operator: Client) -> None:
    session = make_session()
    act(operator, "accounts_devicesession_changelist", "revoke", session.pk)
    assert DeviceSession.objects.get().revoked_at is not None
    assert logged() == [(CHANGE, "Revoked.")]


def test_signing_keys_are_rotated(operator: Client) -> None:
    from django.utils import timezone

    first = signing_keys.ensure_active_key(now=timezone.now())
    rotate = f"{address('accounts_signingkey_changelist')}rotate/"
    operator.get(rotate)
    assert SigningKey.objects.get(state="active") == first

    answer = operator.post(rotate, {"_form_submitted": "on"})

    assert answer["HX-Redirect"] == address("accounts_signingkey_changelist")
    assert SigningKey.objects.get(pk=first.pk).state == "passive"
    assert SigningKey.objects.filter(state="active").count() == 1
    assert logged() == [(CHANGE, "Rotated: this key signs now.")]
    assert clerk("view_signingkey").post(rotate, {"_form_submitted": "on"}).status_code == 403


def test_a_page_without_its_csrf_token_does_nothing() -> None:
    operator = Account.objects.create_superuser("did:web:localhost:operator", None, "x")
    client = Client(enforce_csrf_checks=True)
    client.force_login(operator)
    call = make_review()
    release = f"{address('billing_reservation_changelist')}{call.pk}/release/"
    assert client.post(release, {"_form_submitted": "on", "reason": "r"}).status_code == 403
    assert Reservation.objects.get(pk=call.pk).state == "review"


def test_the_database_itself_refuses_to_edit_a_price() -> None:
    from django.db import DatabaseError, transaction

    for statement in ("UPDATE billing_price_version SET components = '{}'", "DELETE FROM billing_price_version"):
        with pytest.raises(DatabaseError), transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(statement)


@pytest.mark.parametrize(
    ("amount", "shown"),
    [(0, "$0.00"), (1, "$0.000001"), (10_000, "$0.01"), (5_000_000, "$5.00"), (12_345_678, "$12.345678"), (-1_500_000, "-$1.50"), (10**12, "$1,000,000.00"), (123_400, "$0.1234"), (None, "")],
)  # fmt: skip
def test_money_is_shown_exactly(amount: int | None, shown: str) -> None:
    assert usd(amount) == shown
