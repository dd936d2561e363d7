"""Signs operators in to the console by password, with the same limits as the portal's page."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.mfa.utils import is_mfa_enabled
from django.contrib.auth.base_user import AbstractBaseUser
from django.core.exceptions import ValidationError
from django.http import HttpRequest
from unfold.forms import AuthenticationForm


class OperatorSignInForm(AuthenticationForm):
    """Accepts an email address or a DID. Failures count towards the portal's limits."""

    def __init__(self, request: HttpRequest | None = None, *args: Any, **kwargs: Any) -> None:
        super().__init__(request, *args, **kwargs)
        self.fields["username"].label = "Email address or DID"

    def clean(self) -> dict[str, Any]:
        """Authenticate within the limits on failed attempts."""
        username, password = self.cleaned_data.get("username"), self.cleaned_data.get("password")
        if username and password:
            self.user_cache = get_adapter(self.request).authenticate(self.request, username=username, password=password)
            if self.user_cache is None:
                raise self.get_invalid_login_error()
            self.confirm_login_allowed(self.user_cache)
        return self.cleaned_data

    def confirm_login_allowed(self, user: AbstractBaseUser) -> None:
        """Refuse a suspended account, and a password without the second factor, if there is one: only the portal asks for
        both."""
        super().confirm_login_allowed(user)
        if not getattr(user, "is_live", False):
            raise self.get_invalid_login_error()
        if is_mfa_enabled(user):
            raise ValidationError(
                "This account uses a second factor. Sign in to the portal first, then open the console."
            )
