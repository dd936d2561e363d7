"""The DID documents of portal accounts."""

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse

from accounts.models import Account
from accounts.rules.dids import portal_did


def show(request: HttpRequest, account_id: str) -> HttpResponse:
    """Return the document of a did:web of this host (did:web method specification, Read)."""
    did = portal_did(settings.PORTAL_URL, account_id)
    if not Account.objects.filter(did=did, is_active=True).exists():
        raise Http404
    return JsonResponse({"@context": ["https://www.w3.org/ns/did/v1"], "id": did})
