"""The public documents: signing keys and metadata. RFC 7517 section 5, RFC 8414, RFC 9728."""

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer

from accounts.operations.keyring import keyring
from accounts.operations.receipt_keyring import receipt_keyring
from accounts.queries import metadata
from accounts.serializers.discovery import AuthorizationServerResponse, KeySetResponse, ProtectedResourceResponse
from gateway.core.api.access import public
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.errors import NotFound

# Keys are published for longer than this before they sign.
CACHED = {"Cache-Control": "public, max-age=300"}


def _document(operation_id: str, summary: str, shape: type[Serializer[Any]]) -> Any:
    return extend_schema(operation_id=operation_id, tags=["Discovery"], summary=summary, responses=shape, auth=[])


class SigningKeys(ApiViewSet):
    """The public keys that verify access tokens."""

    @_document("get_jwks", "List the public keys of access tokens", KeySetResponse)
    @public
    def retrieve(self, request: Request) -> Response:
        """Return the JWK set: pending, active and passive keys."""
        return Response({"keys": keyring.current_sync().jwks}, headers=CACHED)


class ReceiptKeys(ApiViewSet):
    """The public keys that verify receipts."""

    @_document("get_receipt_keys", "List the public keys of receipts", KeySetResponse)
    @public
    def retrieve(self, request: Request) -> Response:
        """Return the JWK set: every key that has signed receipts, and the next one."""
        return Response({"keys": receipt_keyring.current_sync().jwks}, headers=CACHED)


class Metadata(ApiViewSet):
    """The two discovery documents. The base URL's path, if it has one, may follow the well-known path."""

    @_document("get_authorization_server", "Show the authorization server metadata", AuthorizationServerResponse)
    @public
    def authorization_server(self, request: Request, inserted: str | None = None) -> Response:
        """Return the metadata of RFC 8414."""
        return self._answer(metadata.authorization_server(), inserted)

    @_document("get_protected_resource", "Show the protected resource metadata", ProtectedResourceResponse)
    @public
    def protected_resource(self, request: Request, inserted: str | None = None) -> Response:
        """Return the metadata of RFC 9728."""
        return self._answer(metadata.protected_resource(), inserted)

    def _answer(self, document: dict[str, Any], inserted: str | None) -> Response:
        if inserted is not None and not metadata.is_inserted_path(inserted):
            raise NotFound
        return Response(document, headers=CACHED)
