"""Authenticator apps: secrets rest encrypted, under the keys of every other secret at rest, and a code serves once."""

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm

from gateway.core import fields


class MfaAdapter(DefaultMFAAdapter):
    """Encrypts the secrets of authenticator apps and the seeds of recovery codes."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "add_email_blocked": "You cannot add an email address while you have a passkey or an authenticator app.",
        "cannot_generate_recovery_codes": "You need a passkey or an authenticator app before you can create recovery codes.",
        "unverified_email": "Verify your email address before you add a passkey or an authenticator app.",
    }

    def encrypt(self, text: str) -> str:
        """Return the text as it is stored."""
        return fields.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        """Return what was encrypted.

        A process of an older version may still write a plain secret while the gateway is upgraded; `reencrypt` mends it.
        """
        return fields.decrypt(encrypted_text) if fields.is_encrypted(encrypted_text) else encrypted_text

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:  # noqa: A002
        """Return the name that a new passkey has until its person gives it another."""
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return "Passkey" if number == 1 else f"Passkey {number}"


class ActivateForm(ActivateTOTPForm):
    """Adds an authenticator app. The code that proves it has been used with that."""

    def clean_code(self) -> str:
        """Return the code, which does not sign anybody in any more."""
        code = str(super().clean_code())
        data = {"secret": get_adapter().encrypt(self.secret)}
        app = Authenticator(user=self.user, type=Authenticator.Type.TOTP, data=data)
        if not app.wrap().validate_code(code):
            raise get_adapter().validation_error("incorrect_code")
        return code
