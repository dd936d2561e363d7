"""Account keys: created once, returned encrypted. RFC 7516, RFC 7518 section 4.6."""

import base64
import secrets

from django.utils import timezone
from joserfc import jwe
from joserfc.jwk import ECKey, OKPKey

from accounts.models import Account
from gateway.core.contract.ids import new_id
from integrations.models import AccountKey
from integrations.rules.recipients import Recipient

KEY_BYTES = 32
ALGORITHM = "ECDH-ES+A256KW"
ENCRYPTION = "A256GCM"


def key_of(account: Account) -> AccountKey:
    """Return the account's key; the first request creates it. Safe for concurrent requests."""
    found = AccountKey.objects.filter(account=account).first()
    if found is not None:
        return found
    material = base64.b64encode(secrets.token_bytes(KEY_BYTES)).decode()
    fresh = AccountKey(account=account, kid=new_id("key"), material=material, created_at=timezone.now())
    AccountKey.objects.bulk_create([fresh], ignore_conflicts=True)
    return AccountKey.objects.get(account=account)


def wrap(key: AccountKey, recipient: Recipient) -> str:
    """Encrypt the 32 bytes to a recipient, as a compact JWE with the recipient's thumbprint as `kid`."""
    importer = ECKey if recipient.members["kty"] == "EC" else OKPKey
    header = {"alg": ALGORITHM, "enc": ENCRYPTION, "kid": recipient.thumbprint}
    return jwe.encrypt_compact(header, base64.b64decode(key.material), importer.import_key(dict(recipient.members)))
