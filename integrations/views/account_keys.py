"""POST /v1/sync/account-key."""

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response

from accounts.authentication import caller, proof_key
from accounts.queries import accounts
from accounts.rules.jwk import JwkError
from gateway.core.api.access import requires
from gateway.core.api.schema import refuses
from gateway.core.api.serializers import read
from gateway.core.api.viewsets import ApiViewSet
from gateway.core.contract.capabilities import Capability
from gateway.core.contract.errors import Forbidden, IntegrationUnavailable, InvalidRequest
from integrations.models import IntegrationSwitch
from integrations.operations import account_keys
from integrations.queries import switches
from integrations.rules import recipients
from integrations.serializers.account_keys import AccountKeyRequest, AccountKeyResponse


class AccountKeyViewSet(ApiViewSet):
    """Returns the key that an account's devices share."""

    @extend_schema(
        operation_id="wrap_account_key",
        summary="Get the account's key, encrypted",
        request=AccountKeyRequest,
        responses=AccountKeyResponse,
    )
    @refuses(IntegrationUnavailable, Forbidden)
    @requires(Capability.SYNC_KEY_READ)
    def create(self, request: Request) -> Response:
        """Return the account's key, encrypted to the caller's key. The first request creates it."""
        switches.require(IntegrationSwitch.Name.ACCOUNT_KEY_SYNC)
        if caller(request).org_id is not None:
            raise Forbidden("An organization's token has no account key.")
        recipient = _recipient(request)
        key = account_keys.key_of(accounts.of_principal(caller(request)))
        answer = {
            "jwe": account_keys.wrap(key, recipient),
            "kid": key.kid,
            "algorithm": account_keys.ALGORITHM,
            "encryption": account_keys.ENCRYPTION,
        }
        return Response(AccountKeyResponse(answer).data)


def _recipient(request: Request) -> recipients.Recipient:
    body = read(AccountKeyRequest, request.data if request.stream is not None else {})
    if "public_jwk" in body:
        return body["public_jwk"]
    try:
        return recipients.of_proof_key(proof_key(request))
    except JwkError as error:
        raise InvalidRequest(f"The proof's key cannot be used: {error}.", param="public_jwk") from None
