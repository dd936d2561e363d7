"""Signs an operator in whose password was checked."""

from allauth.account.app_settings import EmailVerificationMethod
from allauth.account.utils import perform_login
from django.http import HttpRequest, HttpResponse

from accounts.allauth_internals import record_authentication
from accounts.models import Account


def begin(request: HttpRequest, account: Account, page: str) -> HttpResponse:
    """Begin the session and redirect to a page of the console, or request the second factor before, if there is one.

    The address of an operator needs no verification. The password was just entered, so nothing asks for it again at once.
    """
    record_authentication(request, account, method="password", reauthenticated=True)
    response: HttpResponse = perform_login(
        request, account, email_verification=EmailVerificationMethod.NONE, redirect_url=page
    )
    return response
