"""Encrypts data for storage in one place, such as the body of a response: AES-256-GCM (NIST SP 800-38D).

A token is `0x01`, a salt of 16 bytes, a nonce of 12 bytes, and the ciphertext with its tag of 16 bytes. Its key is derived
(HKDF-SHA256, RFC 5869) from one of `FIELD_ENCRYPTION_KEYS` and the salt, which each process draws once: random 12-byte
nonces are safe for four billion tokens under one key, far more than a process writes.

A token is bound to its place (GCM's additional data): copied to another row, it cannot be decrypted.

In a text column, a token is in base64. Secrets that only the operator sets use Fernet (`fields`), which has no
place. For long data Fernet is too expensive: a body of 400 KB took 2.3 ms instead of 0.04.
"""

import base64
import binascii
import os
from functools import lru_cache

from cryptography.exceptions import InvalidTag
from cryptography.fernet import InvalidToken
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from django.conf import settings

from gateway.core.encryption import fields

VERSION = b"\x01"
SALT_BYTES = 16
NONCE_BYTES = 12

_PURPOSE = b"account gateway: stored bytes"
_SALT_END = len(VERSION) + SALT_BYTES
_NONCE_END = _SALT_END + NONCE_BYTES


def encrypt(data: bytes, place: str) -> bytes:
    """Encrypt bytes with the newest key. `place` names the only row and column where they can be decrypted."""
    salt, nonce = _salt(), os.urandom(NONCE_BYTES)
    ciphertext = _cipher(settings.FIELD_ENCRYPTION_KEYS[0], salt).encrypt(nonce, data, place.encode())
    return b"".join((VERSION, salt, nonce, ciphertext))


def decrypt(token: bytes, place: str) -> bytes:
    """Decrypt a token with any configured key; raises InvalidToken if none fits, or the place differs."""
    if len(token) < _NONCE_END or not token.startswith(VERSION):
        raise InvalidToken
    salt, nonce, ciphertext = token[len(VERSION) : _SALT_END], token[_SALT_END:_NONCE_END], token[_NONCE_END:]
    for key in settings.FIELD_ENCRYPTION_KEYS:
        try:
            return _cipher(key, salt).decrypt(nonce, ciphertext, place.encode())
        except InvalidTag:
            continue
    raise InvalidToken


def encrypt_text(data: bytes, place: str) -> str:
    """Return what `encrypt` returns, in base64, for a text column."""
    return base64.b64encode(encrypt(data, place)).decode()


def decrypt_text(text: str, place: str) -> bytes:
    """Return what `encrypt_text` was given; raises InvalidToken as `decrypt` does.

    Also reads what earlier versions stored with Fernet, which is not bound to a place.
    """
    if fields.is_encrypted(text):
        return fields.decrypt(text).encode()
    try:
        token = binascii.a2b_base64(text)
    except ValueError:
        raise InvalidToken from None
    return decrypt(token, place)


@lru_cache(maxsize=1)
def _salt() -> bytes:
    return os.urandom(SALT_BYTES)


os.register_at_fork(after_in_child=_salt.cache_clear)


@lru_cache(maxsize=256)
def _cipher(key: str, salt: bytes) -> AESGCM:
    derivation = HKDF(algorithm=SHA256(), length=32, salt=salt, info=_PURPOSE)
    return AESGCM(derivation.derive(base64.urlsafe_b64decode(key)))
