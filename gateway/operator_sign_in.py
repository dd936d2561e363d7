"""Signs operators in to the console by password, with the same limits as the portal's page."""

from typing import Any

from allauth.account.adapter import get_adapter
from allauth.account.utils import get_next_redirect_url
from allauth.core.exceptions import ImmediateHttpResponse
from django.contrib.auth.base_user import AbstractBaseUser
from django.http import HttpRequest
from django.urls import reverse
from unfold.forms import AuthenticationForm

from accounts.operations import operator_sign_ins


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
        """Refuse a suspended account."""
        super().confirm_login_allowed(user)
        if not getattr(user, "is_live", False):
            raise self.get_invalid_login_error()

    def get_user(self) -> Any:
        """Sign in as the portal does, with the second factor, if there is one. Raises ImmediateHttpResponse, because Django's
        view would begin the session at once.
        """
        page = get_next_redirect_url(self.request) or reverse("admin:index")
        raise ImmediateHttpResponse(operator_sign_ins.begin(self.request, self.user_cache, page))
