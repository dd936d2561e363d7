"""The signed-in home, and the DID document of a portal account."""

from django.conf import settings
from django.contrib.auth.decorators import login_required
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render

from accounts.models import Account
from accounts.rules.dids import portal_did


@login_required
def home(request: HttpRequest) -> HttpResponse:
    """Show where to go."""
    return render(request, "portal/home.html")


def did_document(request: HttpRequest, account_id: str) -> HttpResponse:
    """Serve the document of a did:web of this host (did:web method specification, Read)."""
    did = portal_did(settings.PORTAL_URL, account_id)
    if not Account.objects.filter(did=did, is_active=True).exists():
        raise Http404
    return JsonResponse({"@context": ["https://www.w3.org/ns/did/v1"], "id": did})
