"""The page that a mail's link to turn off mails of its kind leads to. It works without signing in."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_http_methods

from gateway.core.events.mail_people import owners_of
from gateway.core.events.operations import unsubscribing
from gateway.core.events.operations.unsubscribing import Subject
from gateway.core.events.rules.mail_names import one_line


@csrf_exempt
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def show(request: HttpRequest, token: str) -> HttpResponse:
    """Ask with one button, because mail scanners follow links; a POST turns the kind off.

    Mail programs post here themselves (RFC 8058), without cookies: the signed link alone is what allows it. It says nothing
    about the person, and the answer is no redirect.
    """
    subject = unsubscribing.read(token)
    if subject is None:
        return render(request, "portal/unsubscribe.html", {"is_gone": True}, status=404)
    if request.method == "POST":
        unsubscribing.turn_off(subject=subject, now=timezone.now())
    context = {
        "kind": subject.mail_kind,
        "owner_name": _owner_name(subject),
        "is_off": unsubscribing.is_off(subject),
        "is_account": subject.recipient.startswith("did:"),
    }
    return render(request, "portal/unsubscribe.html", context)


def _owner_name(subject: Subject) -> str:
    return one_line(owners_of(subject.owner_kind).name(subject.owner_key))
