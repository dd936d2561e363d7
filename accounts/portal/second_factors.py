"""How django-allauth keeps the secrets of second factors: encrypted, under the keys of every other secret at rest."""

from allauth.mfa.adapter import DefaultMFAAdapter

from gateway import fields


class MfaAdapter(DefaultMFAAdapter):
    """Encrypts the secrets of authenticator apps and the seeds of recovery codes."""

    def encrypt(self, text: str) -> str:
        """Return the text as it is stored."""
        return fields.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return what was encrypted.

        A process of an older version may still write a plain secret while the gateway is upgraded; `reencrypt` mends it.
        """
        return fields.decrypt(encrypted_text) if fields.is_encrypted(encrypted_text) else encrypted_text
