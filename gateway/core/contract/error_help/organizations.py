"""Help with conflicts in organizations and integrations."""

from gateway.core.contract import errors
from gateway.core.contract.error_help.help import ErrorHelp, Retry

ORGANIZATIONS = {
    errors.InvitationUnavailable: ErrorHelp(
        "The invitation was accepted, was revoked, has expired, never existed, or whoever made it may no longer invite. All of these "
        "get one answer, so that nothing can be probed.",
        "Ask for a new invitation.",
        Retry.NO,
    ),
    errors.LastOwner: ErrorHelp(
        "The change would leave the organization without an owner.",
        "Make another member an owner first.",
        Retry.AFTER_CHANGE,
    ),
    errors.ProductDisabled: ErrorHelp(
        "The product is not enabled for the organization. The status is 403 for a model call or a context token, and 409 for a seat.",
        "An owner or admin enables the product.",
        Retry.AFTER_CHANGE,
    ),
    errors.SeatCapReached: ErrorHelp(
        "As many seats are assigned as the product's cap allows.",
        "Revoke a seat that nobody needs, or raise or clear the cap.",
        Retry.AFTER_CHANGE,
    ),
    errors.ManifestMismatch: ErrorHelp(
        "`manifest_id` names another configuration of the model than the one that is served now. Vectors of the two must not be "
        "compared.",
        "Leave `manifest_id` out to see the present one, and embed what you have stored again.",
        Retry.NO,
        param="manifest_id",
    ),
    errors.RevisionConflict: ErrorHelp(
        "Somebody else changed the resource after you read it.",
        "Read it again, apply your change to what you get, and send that with its version.",
        Retry.NO,
        details={"version": 4},
    ),
    errors.ExternalMappingUnverified: ErrorHelp(
        "The payment provider does not say that this account bills for the organization.",
        "Finish the connection at the provider, and check the account's id.",
        Retry.AFTER_CHANGE,
    ),
    errors.IntegrationUnavailable: ErrorHelp(
        "The operator has not configured what this route needs, or the payment provider does not answer.",
        "If there is a `Retry-After`, repeat the request then. Otherwise ask the operator.",
        Retry.LATER,
    ),
}
