"""Names show as they are written, wherever people name something."""

from typing import Any

import pytest
from allauth.mfa.models import Authenticator
from django.core.exceptions import ValidationError
from django.test import Client

from accounts.models import Account, Product, PublicClient
from accounts.portal.identity_providers import SocialAccountAdapter
from accounts.portal.passkeys import AddPasskeyForm, RenamePasskeyForm
from gateway.core.api.serializers import NameField
from gateway.core.contract.names import cleaned, shows_as_written
from organizations.models import Organization
from organizations.portal.forms import InvitationForm, NameForm
from organizations.rules.roles import Role
from organizations.serializers.members import InvitationRequest
from organizations.serializers.organizations import OrganizationRequest
from tests.organizations.test_api import Api, caller

pytestmark = pytest.mark.django_db

DECEPTIVE = ["\x00", "\n", "\t", "\x1b", "\x7f", "\x85", "\u061c", "\u200e", "\u200f", "\u2028", "\u202e", "\u2066"]
PLAIN = ["Acme", "Zoë & Söhne GmbH", "日本語", "שלום", "مرحبا", "👩\u200d💻 Laptop", "O'Neill & Co. (the “best”)"]


@pytest.mark.parametrize("character", DECEPTIVE, ids=[f"U+{ord(one):04X}" for one in DECEPTIVE])
@pytest.mark.parametrize("name", ["a{}b", "{}ab", "ab{}"], ids=["within", "before", "after"])
def test_the_rule_refuses(character: str, name: str) -> None:
    assert not shows_as_written(name.format(character))
    assert cleaned(name.format(character)) == "ab"
    with pytest.raises(Exception, match="control characters"):
        NameField().run_validation(name.format(character))


@pytest.mark.parametrize("name", PLAIN)
def test_the_rule_takes_every_script(name: str) -> None:
    assert shows_as_written(name)
    assert NameField().run_validation(name) == cleaned(name) == name


@pytest.mark.parametrize("character", DECEPTIVE[4:], ids=[f"U+{ord(one):04X}" for one in DECEPTIVE[4:]])
def test_forms_and_rows_keep_it(character: str) -> None:
    name = f"a{character}b"
    assert "name" in NameForm({"name": name}).errors
    assert (
        "name"
        in RenamePasskeyForm({"name": name}, instance=Authenticator(type="webauthn", data={"name": "Key"})).errors
    )
    rows = [
        (Product(slug="a", name=name), "name"),
        (PublicClient(client_id="a", name=name, redirect_uris=["a:/"]), "name"),
        (Account(did="did:web:a.example:b", display_name=name), "display_name"),
    ]
    for row, field in rows:
        with pytest.raises(ValidationError) as refused:
            row.clean_fields()
        assert field in refused.value.message_dict


def test_an_organization_s_name_is_refused_by_its_member(client: Client) -> None:
    api = Api(client, caller(scopes=("orgs:manage",)))
    status, body = api("POST", "/organizations", {"name": "Acme\u202egnp"})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "name")
    assert not Organization.objects.exists()


def test_a_quoted_address_hides_no_control_characters() -> None:
    address = '"a\x01b"@example.com'
    assert "email" in InvitationForm({"role": "member", "email": address}, actor=Role.OWNER).errors
    request = InvitationRequest(data={"role": "member", "email": address})
    assert not request.is_valid()
    assert list(request.errors) == ["email"]
    assert InvitationRequest(data={"role": "member", "email": "a@example.com"}).is_valid()
    assert not InvitationRequest(data={"role": "member", "email": "no address"}).is_valid()
    assert OrganizationRequest(data={"name": " Acme "}).is_valid()


def test_a_name_from_an_identity_provider_is_cleaned() -> None:
    login: Any = type("Login", (), {"user": Account()})()
    account = SocialAccountAdapter().populate_user(None, login, {"name": "Ali\u202ece\x07"})  # type: ignore[arg-type]
    assert account.display_name == "Alice"


def test_a_new_passkey_s_name_is_cleaned() -> None:
    make: Any = AddPasskeyForm
    form = make(user=Account.objects.create_user("did:web:a.example:b"))
    form.cleaned_data = {"name": "My\u202e key"}
    assert form.clean_name() == "My key"
