"""POST /v1/sync/account-key: one key for each account, readable only by the recipient."""

import base64
import json
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import ec
from django.core.management import call_command
from django.db import connection
from joserfc import jwe
from joserfc.jwk import ECKey, OKPKey
from pytest_django import Settings

from gateway.core.contract.capabilities import Capability
from integrations.models import AccountKey, IntegrationSwitch
from integrations.operations.account_keys import key_of
from tests.factories.accounts import Caller, make_account, make_caller
from tests.factories.organizations import Team
from tests.factories.proofs import Signer, b64, mint_token
from tests.integrations.conftest import Api

pytestmark = pytest.mark.django_db

PATH = "/v1/sync/account-key"
SCOPE = Capability.SYNC_KEY_READ


@pytest.fixture(autouse=True)
def _enabled() -> None:
    IntegrationSwitch.objects.create(name="account_key_sync", enabled=True)


def opened_by(signer: Signer, sent: str) -> bytes:
    """Decrypt a JWE with a proof key."""
    private: Any = signer.private
    assert isinstance(private, ec.EllipticCurvePrivateKey)
    d = b64(private.private_numbers().private_value.to_bytes(32, "big"))
    return jwe.decrypt_compact(sent, ECKey.import_key({**signer.jwk, "d": d})).plaintext or b""


def header_of(sent: str) -> dict[str, Any]:
    """Read a JWE's protected header."""
    encoded = sent.partition(".")[0]
    header: dict[str, Any] = json.loads(base64.urlsafe_b64decode(encoded + "=" * (-len(encoded) % 4)))
    return header


def test_the_key_is_encrypted_to_the_proof_key(api: Api) -> None:
    alice = make_caller(SCOPE)
    status, body = api(alice, "POST", PATH)
    assert status == 200
    assert (body["algorithm"], body["encryption"]) == ("ECDH-ES+A256KW", "A256GCM")
    assert body["kid"].startswith("key_")
    header = header_of(body["jwe"])
    assert (header["alg"], header["enc"], header["kid"]) == ("ECDH-ES+A256KW", "A256GCM", alice.signer.jkt)
    material = opened_by(alice.signer, body["jwe"])
    assert len(material) == 32
    assert material == base64.b64decode(AccountKey.objects.get().material)


def test_every_device_of_an_account_gets_the_same_key(api: Api) -> None:
    alice = make_caller(SCOPE)
    other = Signer()
    device = Caller(alice.account, (SCOPE,), other, mint_token(alice.account.did, (SCOPE,), other))
    first, second = api(alice, "POST", PATH, {})[1], api(device, "POST", PATH)[1]
    assert first["kid"] == second["kid"]
    assert opened_by(alice.signer, first["jwe"]) == opened_by(other, second["jwe"])


def test_accounts_have_keys_of_their_own(api: Api) -> None:
    alice, bob = make_caller(SCOPE), make_caller(SCOPE, name="bob")
    first, second = api(alice, "POST", PATH)[1], api(bob, "POST", PATH)[1]
    assert first["kid"] != second["kid"]
    assert opened_by(alice.signer, first["jwe"]) != opened_by(bob.signer, second["jwe"])


@pytest.mark.parametrize("kind", ["P-256", "X25519"])
def test_another_recipient_can_be_named(api: Api, kind: str) -> None:
    alice = make_caller(SCOPE, alg="EdDSA")
    key: Any = ECKey.generate_key("P-256") if kind == "P-256" else OKPKey.generate_key("X25519")
    sent = {**key.as_dict(private=False), "key_ops": [], "ext": True, "alg": "ECDH-ES+A256KW"}
    status, body = api(alice, "POST", PATH, {"public_jwk": sent})
    assert status == 200
    assert header_of(body["jwe"])["kid"] == key.thumbprint()
    assert len(jwe.decrypt_compact(body["jwe"], key).plaintext or b"") == 32


X25519 = {"kty": "OKP", "crv": "X25519"}
GOOD = Signer().jwk
REFUSED: list[Any] = [
    *({**GOOD, "alg": alg} for alg in ("none", "", "RSA-OAEP", "ECDH-ES+A128KW", "HS256", 7, None, ["ECDH-ES"])),
    {**GOOD, "y": GOOD["x"]},
    {**GOOD, "d": GOOD["x"]},
    {**GOOD, "k": "AQAB"},
    {**GOOD, "crv": "secp256k1"},
    {**GOOD, "kty": "RSA", "n": "AQAB", "e": "AQAB"},
    None,
    [],
    "key",
    {},
    {**X25519},
    {**X25519, "x": b64(bytes(32))},
    {**X25519, "x": b64(bytes([1, *bytes(31)]))},
    {**X25519, "x": b64(bytes(31))},
    {**X25519, "x": b64(b"\x05" * 32) + "="},
    {**X25519, "x": b64(b"\x05" * 32), "d": b64(bytes(32))},
    {"kty": "EC", "crv": "P-256", "x": b64(bytes(32)), "y": b64(bytes(32))},
    {"kty": "EC", "crv": "P-384", "x": b64(bytes(48)), "y": b64(bytes(48))},
    {"kty": "RSA", "n": "AQAB", "e": "AQAB"},
    {"kty": "OKP", "crv": "Ed25519", "x": b64(b"\x05" * 32)},
    {"kty": "oct", "k": b64(bytes(32))},
]


@pytest.mark.parametrize("sent", REFUSED)
def test_a_key_that_nothing_can_be_encrypted_to_is_refused(api: Api, sent: Any) -> None:
    status, body = api(make_caller(SCOPE), "POST", PATH, {"public_jwk": sent})
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "public_jwk")
    assert not AccountKey.objects.exists()


def test_an_ed25519_proof_key_needs_a_recipient(api: Api) -> None:
    status, body = api(make_caller(SCOPE, alg="EdDSA"), "POST", PATH)
    assert (status, body["error"]["code"], body["error"]["param"]) == (400, "invalid_request", "public_jwk")


def test_a_misspelled_member_is_named(api: Api) -> None:
    status, body = api(make_caller(SCOPE), "POST", PATH, {"publicJwk": {}})
    assert (status, body["error"]["param"]) == (400, "publicJwk")


def test_an_organizations_token_has_no_account_key(api: Api) -> None:
    team, signer = Team(), Signer()
    token = mint_token(team.owner.did, (SCOPE,), signer, org_id=team.id, membership_id=team["olivia"].id)
    status, body = api(Caller(team.owner, (SCOPE,), signer, token), "POST", PATH)
    assert (status, body["error"]["code"]) == (403, "forbidden")


def test_it_is_unavailable_until_it_is_enabled(api: Api) -> None:
    alice = make_caller(SCOPE)
    IntegrationSwitch.objects.update(enabled=False)
    assert api(alice, "POST", PATH)[1]["error"]["code"] == "integration_unavailable"
    IntegrationSwitch.objects.all().delete()
    status, body = api(alice, "POST", PATH)
    assert (status, body["error"]["code"]) == (503, "integration_unavailable")


def test_the_key_is_stored_encrypted_and_survives_a_rotation(api: Api, settings: Settings) -> None:
    alice = make_caller(SCOPE)
    before = opened_by(alice.signer, api(alice, "POST", PATH)[1]["jwe"])
    settings.FIELD_ENCRYPTION_KEYS = [Fernet.generate_key().decode(), *settings.FIELD_ENCRYPTION_KEYS]
    call_command("reencrypt", verbosity=0)
    settings.FIELD_ENCRYPTION_KEYS = settings.FIELD_ENCRYPTION_KEYS[:1]
    with connection.cursor() as cursor:
        cursor.execute("SELECT material FROM integrations_accountkey")
        [[stored]] = cursor.fetchall()
    assert base64.b64encode(before).decode() not in stored
    assert opened_by(alice.signer, api(alice, "POST", PATH)[1]["jwe"]) == before


@pytest.mark.django_db(transaction=True)
def test_requests_at_once_make_one_key() -> None:
    account = make_account()

    def ask(_: int) -> tuple[str, str]:
        try:
            key = key_of(account)
            return key.kid, key.material
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as threads:
        assert len(set(threads.map(ask, range(8)))) == 1
    assert AccountKey.objects.count() == 1
