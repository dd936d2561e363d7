"""Makes the tokens of invitations. A token follows from the invitation's id and the gateway's secret key.

So a worker can write the mail to an invited address later, and again, although the token is not stored: only its SHA-256 is
(SPEC: Organization-related resources). Ids cannot be guessed, and without the key they say nothing about tokens.
"""

import base64
import hashlib

from django.conf import settings
from django.utils.crypto import constant_time_compare, salted_hmac

from organizations.models import Invitation

SALT = "organizations.invitations"


def new_token(invitation_id: str) -> str:
    """Return the token of a new invitation: 256 bits in 43 characters of base64url."""
    return _token(invitation_id, settings.SECRET_KEY)


def token_of(invitation: Invitation) -> str | None:
    """Return an invitation's token, or None if it was made otherwise or under a secret key that is gone."""
    for key in (settings.SECRET_KEY, *settings.SECRET_KEY_FALLBACKS):
        token = _token(invitation.pk, key)
        if constant_time_compare(digest(token), bytes(invitation.token_sha256)):
            return token
    return None


def digest(token: str) -> bytes:
    """Hash a token for storage. SHA-256 is enough, because a token has 256 bits that nobody can guess."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()


def _token(invitation_id: str, key: str) -> str:
    mac = salted_hmac(SALT, invitation_id, secret=key, algorithm="sha256").digest()
    return base64.urlsafe_b64encode(mac).rstrip(b"=").decode()
