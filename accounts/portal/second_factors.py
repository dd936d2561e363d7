"""Encrypts second factors' secrets as all other secrets are, and accepts a TOTP code once."""

from typing import Any

from allauth.mfa.adapter import DefaultMFAAdapter, get_adapter
from allauth.mfa.models import Authenticator
from allauth.mfa.totp.forms import ActivateTOTPForm

from accounts.portal import staff_factors
from accounts.queries.second_factors import is_last
from gateway.core.encryption import fields


class MfaAdapter(DefaultMFAAdapter):
    """Encrypts the secrets of authenticator apps and the seeds of recovery codes."""

    error_messages = {
        **DefaultMFAAdapter.error_messages,
        "add_email_blocked": "You cannot add an email address while you have a passkey or an authenticator app.",
        "cannot_generate_recovery_codes": "You need a passkey or an authenticator app before you can create recovery codes.",
        "unverified_email": "Verify your email address before you add a passkey or an authenticator app.",
    }

    def encrypt(self, text: str) -> str:
        return fields.encrypt(text)

    def decrypt(self, encrypted_text: str) -> str:
        return fields.decrypt(encrypted_text)

    def can_delete_authenticator(self, authenticator: Authenticator) -> bool:
        """Return whether a factor may go: not the last one of an operator, if the console needs one."""
        return not (staff_factors.needs_factor(authenticator.user) and is_last(authenticator))

    def generate_authenticator_name(self, user: Any, type: Authenticator.Type) -> str:  # noqa: A002
        number = Authenticator.objects.filter(user=user, type=type).count() + 1
        return "Passkey" if number == 1 else f"Passkey {number}"


class ActivateForm(ActivateTOTPForm):
    """Adds an authenticator app. The code that activates it cannot be used again."""

    def clean_code(self) -> str:
        """Return the code and mark it as used."""
        code = str(super().clean_code())
        data = {"secret": get_adapter().encrypt(self.secret)}
        app = Authenticator(user=self.user, type=Authenticator.Type.TOTP, data=data)
        if not app.wrap().validate_code(code):
            raise get_adapter().validation_error("incorrect_code")
        return code
