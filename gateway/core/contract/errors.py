"""The error catalogue: every error of the API, with its code and status.

One class per code. `message` and `details` are for the caller and never carry a secret; `private` is for the log alone.

ApiError
  400
    InvalidRequest          invalid_request
    InvalidJson             invalid_json
    InvalidGrant            invalid_grant
    InvalidScope            invalid_scope
    UnsupportedGrantType    unsupported_grant_type
    IdempotencyKeyRequired  idempotency_key_required
    MaxCostRequired         max_cost_required
    ImagesUnsupported       images_unsupported
    ImageRejected           image_rejected
  401
    InvalidToken            invalid_token
    InvalidDpopProof        invalid_dpop_proof
    UseDpopNonce            use_dpop_nonce
    InvalidClient           invalid_client
  402
    InsufficientFunds       insufficient_funds
    BudgetExceeded          budget_exceeded
    MaxCostExceeded         max_cost_exceeded
    BillingPastDue          billing_past_due
  403
    InsufficientScope       insufficient_scope
    Forbidden               forbidden
    NotMember               not_member
    NoSeat                  no_seat
    ConsentRequired         consent_required
  404
    NotFound                not_found
    ModelNotFound           model_not_found
    InvitationUnavailable   invitation_unavailable
  405
    MethodNotAllowed        method_not_allowed
  409
    LastOwner               last_owner
    ProductDisabled         product_disabled
    SeatCapReached          seat_cap_reached
    IdempotencyInProgress   idempotency_in_progress
    ManifestMismatch        manifest_mismatch
    NotSettled              not_settled
    RevisionConflict        revision_conflict
    ExternalMappingUnverified  external_mapping_unverified
  413
    RequestTooLarge         request_too_large
    InputTooLarge           input_too_large
  415
    UnsupportedMediaType    unsupported_media_type
  422
    IdempotencyKeyReused    idempotency_key_reused
    OrgReportLimit          org_report_limit
  429
    RateLimited             rate_limited
  500
    InternalError           internal_error
  502
    UpstreamError           upstream_error
    UpstreamInvalid         upstream_invalid
  503
    ModelUnavailable        model_unavailable
    UpstreamOverloaded      upstream_overloaded
    IntegrationUnavailable  integration_unavailable
    NotReady                not_ready
  504
    UpstreamTimeout         upstream_timeout
"""

from collections.abc import Mapping
from typing import Any, ClassVar

from gateway.core.contract.error_docs import ErrorDocs

_TYPE_OF_STATUS = {
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    409: "conflict_error",
    429: "rate_limit_error",
}
_MESSAGES_TYPE_OF_STATUS = {
    400: "invalid_request_error",
    401: "authentication_error",
    402: "billing_error",
    403: "permission_error",
    404: "not_found_error",
    405: "invalid_request_error",
    409: "rate_limit_error",
    413: "request_too_large",
    415: "invalid_request_error",
    422: "invalid_request_error",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
}
MESSAGES_TYPES = sorted({*_MESSAGES_TYPE_OF_STATUS.values(), "api_error"})
"""Each `error.type` that the Messages routes answer."""


class ApiError(Exception):
    """Refuses a request with a code of the catalogue.

    `param` names the field or header at fault, `details` is machine-readable, `headers` are sent with the response,
    `private` is the cause for the operator's log. `status` overrides the class's status, for codes with two
    (`product_disabled`, `invalid_dpop_proof`).
    """

    code: ClassVar[str]
    default_status: ClassVar[int]
    default_message: ClassVar[str]

    def __init__(
        self,
        message: str | None = None,
        *,
        param: str | None = None,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        private: str | None = None,
        status: int | None = None,
    ) -> None:
        self.message = message or self.default_message
        self.param = param
        self.details = dict(details or {})
        self.headers = dict(headers or {})
        self.private = private
        self.status = status or self.default_status
        super().__init__(self.code)

    @property
    def type(self) -> str:
        """Return the error's group, which SDKs branch on."""
        if self.status >= 500:
            return "api_error"
        return _TYPE_OF_STATUS.get(self.status, "invalid_request_error")

    @property
    def docs_url(self) -> str:
        """Return where the code is explained."""
        return ErrorDocs.url(self.code)

    def body(self, request_id: str) -> dict[str, Any]:
        """Render the error body of every route under /v1 but the token routes."""
        return {
            "error": {
                "code": self.code,
                "message": self.message,
                "type": self.type,
                "param": self.param,
                "details": self.details,
                "request_id": request_id,
                "docs_url": self.docs_url,
            }
        }

    def messages_body(self, request_id: str) -> dict[str, Any]:
        """Render the error body of the Messages routes: the vendor's, with the catalogue's members beside it."""
        kind = _MESSAGES_TYPE_OF_STATUS.get(self.status, "api_error")
        members = {"message": self.message, "code": self.code, "param": self.param, "details": self.details}
        error = {"type": kind, **members, "docs_url": self.docs_url}
        return {"type": "error", "error": error, "request_id": request_id}

    def oauth_body(self, request_id: str, *, explain: bool = False) -> dict[str, Any]:
        """Render the error body of a token route (RFC 6749 section 5.2). With `explain`, which is for development, it
        includes the private cause."""
        body: dict[str, Any] = {"error": self.code, "error_description": self.message, "error_uri": self.docs_url}
        body["request_id"] = request_id
        more = {"param": self.param, "details": self.details, "reason": self.private if explain else None}
        return body | {name: value for name, value in more.items() if value}


class InvalidRequest(ApiError):
    code = "invalid_request"
    default_status = 400
    default_message = "The request is not valid."


class InvalidJson(ApiError):
    code = "invalid_json"
    default_status = 400
    default_message = "The body is not valid JSON."


class InvalidGrant(ApiError):
    code = "invalid_grant"
    default_status = 400
    default_message = "The grant is invalid, expired, already used, or was issued to someone else."


class InvalidScope(ApiError):
    code = "invalid_scope"
    default_status = 400
    default_message = "The requested scope exceeds what can be granted."


class UnsupportedGrantType(ApiError):
    code = "unsupported_grant_type"
    default_status = 400
    default_message = "This grant type is not supported here."


class IdempotencyKeyRequired(ApiError):
    code = "idempotency_key_required"
    default_status = 400
    default_message = "Send an Idempotency-Key header with this request."


class MaxCostRequired(ApiError):
    code = "max_cost_required"
    default_status = 400
    default_message = "Send an x-service-max-cost-microusd header with this request."


class ImagesUnsupported(ApiError):
    code = "images_unsupported"
    default_status = 400
    default_message = "This backend does not accept images."


class ImageRejected(ApiError):
    code = "image_rejected"
    default_status = 400
    default_message = "An image was rejected."


class InvalidToken(ApiError):
    code = "invalid_token"
    default_status = 401
    default_message = "The access token is invalid, expired, or bound to another key."


class InvalidDpopProof(ApiError):
    code = "invalid_dpop_proof"
    default_status = 401
    default_message = "The DPoP proof is missing, malformed, expired or already used."


class UseDpopNonce(ApiError):
    code = "use_dpop_nonce"
    default_status = 401
    default_message = "Repeat the request with a proof that contains the nonce from the DPoP-Nonce header."


class InvalidClient(ApiError):
    code = "invalid_client"
    default_status = 401
    default_message = "The client is unknown."


class InsufficientFunds(ApiError):
    code = "insufficient_funds"
    default_status = 402
    default_message = "The wallet does not have enough available funds for this request."


class BudgetExceeded(ApiError):
    code = "budget_exceeded"
    default_status = 402
    default_message = "This request would exceed a budget."


class MaxCostExceeded(ApiError):
    code = "max_cost_exceeded"
    default_status = 402
    default_message = "The request could cost more than the stated maximum."


class BillingPastDue(ApiError):
    code = "billing_past_due"
    default_status = 402
    default_message = "Billing is past due."


class InsufficientScope(ApiError):
    code = "insufficient_scope"
    default_status = 403
    default_message = "The token lacks a scope that this request needs."


class Forbidden(ApiError):
    code = "forbidden"
    default_status = 403
    default_message = "Your role does not allow this."


class NotMember(ApiError):
    code = "not_member"
    default_status = 403
    default_message = "You are not a member of this organization."


class NoSeat(ApiError):
    code = "no_seat"
    default_status = 403
    default_message = "You have no seat for this product."


class ConsentRequired(ApiError):
    code = "consent_required"
    default_status = 403
    default_message = "The user's consent is required."


class NotFound(ApiError):
    code = "not_found"
    default_status = 404
    default_message = "This resource does not exist."


class ModelNotFound(ApiError):
    code = "model_not_found"
    default_status = 404
    default_message = "This model does not exist."


class InvitationUnavailable(ApiError):
    code = "invitation_unavailable"
    default_status = 404
    default_message = "This invitation cannot be accepted."


class MethodNotAllowed(ApiError):
    code = "method_not_allowed"
    default_status = 405
    default_message = "This method is not allowed here."


class LastOwner(ApiError):
    code = "last_owner"
    default_status = 409
    default_message = "An organization must have at least one owner."


class ProductDisabled(ApiError):
    code = "product_disabled"
    default_status = 409
    default_message = "The product is not enabled for this organization."


class SeatCapReached(ApiError):
    code = "seat_cap_reached"
    default_status = 409
    default_message = "All seats of this product are taken."


class IdempotencyInProgress(ApiError):
    code = "idempotency_in_progress"
    default_status = 409
    default_message = "The first request with this Idempotency-Key is still in progress."


class ManifestMismatch(ApiError):
    code = "manifest_mismatch"
    default_status = 409
    default_message = "The manifest_id belongs to a different configuration."


class NotSettled(ApiError):
    code = "not_settled"
    default_status = 409
    default_message = "Only a settled call has a receipt."


class RevisionConflict(ApiError):
    code = "revision_conflict"
    default_status = 409
    default_message = "Another request has changed this resource in the meantime."


class ExternalMappingUnverified(ApiError):
    code = "external_mapping_unverified"
    default_status = 409
    default_message = "The payment provider did not confirm that this account bills for the organization."


class RequestTooLarge(ApiError):
    code = "request_too_large"
    default_status = 413
    default_message = "The body is too large."


class InputTooLarge(ApiError):
    code = "input_too_large"
    default_status = 413
    default_message = "The input is larger than the model accepts."


class UnsupportedMediaType(ApiError):
    code = "unsupported_media_type"
    default_status = 415
    default_message = "Send the body with a Content-Type that this route accepts, and without a content coding."


class IdempotencyKeyReused(ApiError):
    code = "idempotency_key_reused"
    default_status = 422
    default_message = "This Idempotency-Key was already used with a different request body."


class OrgReportLimit(ApiError):
    code = "org_report_limit"
    default_status = 422
    default_message = "The report exceeds its history limits."


class RateLimited(ApiError):
    code = "rate_limited"
    default_status = 429
    default_message = "Too many requests."


class InternalError(ApiError):
    code = "internal_error"
    default_status = 500
    default_message = "Something went wrong on our side."


class UpstreamError(ApiError):
    code = "upstream_error"
    default_status = 502
    default_message = "The model's provider failed."


class UpstreamInvalid(ApiError):
    code = "upstream_invalid"
    default_status = 502
    default_message = "The model's provider returned an invalid response."


class ModelUnavailable(ApiError):
    code = "model_unavailable"
    default_status = 503
    default_message = "This model is not available."


class UpstreamOverloaded(ApiError):
    code = "upstream_overloaded"
    default_status = 503
    default_message = "The model's provider is overloaded."


class IntegrationUnavailable(ApiError):
    code = "integration_unavailable"
    default_status = 503
    default_message = "This integration is not configured."


class NotReady(ApiError):
    code = "not_ready"
    default_status = 503
    default_message = "The service is not ready."


class UpstreamTimeout(ApiError):
    code = "upstream_timeout"
    default_status = 504
    default_message = "The model's provider took too long to respond."


CATALOGUE: dict[str, type[ApiError]] = {error.code: error for error in ApiError.__subclasses__()}
