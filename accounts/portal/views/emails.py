"""Pages for a person's email addresses. Without a mail server they redirect home, because no address could be
verified.
"""

from allauth.account import views
from allauth.account.stages import EmailVerificationStage, LoginStageController
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_http_methods

from accounts.allauth_internals import send_verification_email_at_login
from accounts.portal.mail import is_unsent


def manage(request: HttpRequest) -> HttpResponse:
    """List, add and remove addresses, and set the primary one, atomically."""
    if not settings.MAIL_IS_CONFIGURED:
        return redirect("portal_home")
    if "action_primary" not in request.POST:
        return views.email(request)
    try:
        with transaction.atomic():
            return views.email(request)
    except IntegrityError:
        messages.error(request, "Your addresses were changed elsewhere at the same time. Check them and try again.")
        return redirect("account_email")


@require_http_methods(["GET", "HEAD", "POST"])
def verification_sent(request: HttpRequest) -> HttpResponse:
    """Show that a mail has been sent, if a mail server is configured. A form sends it again."""
    if not settings.MAIL_IS_CONFIGURED:
        return redirect("portal_home")
    return _send_again(request) if request.method == "POST" else views.email_verification_sent(request)


def _send_again(request: HttpRequest) -> HttpResponse:
    """Send the mail of this browser's sign-up or sign-in again. The answer is the same whether or not the address has
    an account, and whether or not the limit of mails is reached.
    """
    stage = LoginStageController.enter(request, EmailVerificationStage.key)
    if stage is None:
        messages.error(request, "Sign in to have the link sent again.")
        return redirect("account_login")
    send_verification_email_at_login(request, stage.login)
    if not is_unsent(request):
        messages.success(request, "We sent the link again, unless it was sent several times in the last minutes.")
    return redirect("account_email_verification_sent")
