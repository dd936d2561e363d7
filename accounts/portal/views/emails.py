"""Pages for a person's email addresses. Without a mail server they redirect home, because no address could be
verified.
"""

from allauth.account import views
from django.conf import settings
from django.contrib import messages
from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect


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


def verification_sent(request: HttpRequest) -> HttpResponse:
    """Show that a mail has been sent, if a mail server is configured."""
    return views.email_verification_sent(request) if settings.MAIL_IS_CONFIGURED else redirect("portal_home")
