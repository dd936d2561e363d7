"""Help with tokens, proofs, grants and rights."""

from gateway.core.contract import errors
from gateway.core.contract.error_help.help import ErrorHelp, Retry

ACCESS = {
    errors.InvalidGrant: ErrorHelp(
        "The assertion, code or refresh credential has expired, was used before, is for another client or key, or does not "
        "verify. All of these get one answer, so that nothing can be probed.",
        "Start over: sign a new assertion, or sign in again. The operator's log has the cause under the `request_id`; in "
        "development it is in `reason`.",
        Retry.NO,
    ),
    errors.InvalidScope: ErrorHelp(
        "A scope was asked for that the client, the integration or the person's consent does not allow, or that does not exist.",
        "Ask for fewer scopes, or leave `scope` out to get all that can be granted.",
        Retry.NO,
        param="scope",
    ),
    errors.UnsupportedGrantType: ErrorHelp(
        "`grant_type` is not one that the token endpoint serves.",
        "Use `authorization_code`, `refresh_token` or `urn:ietf:params:oauth:grant-type:jwt-bearer`.",
        Retry.NO,
        param="grant_type",
    ),
    errors.InvalidToken: ErrorHelp(
        "The access token has expired (they live 300 seconds), was revoked, is bound to another key, or was sent as `Bearer` "
        "although it is bound. Or its account or organization is suspended; of an organization, `details.reason` says so.",
        "Get a new token: refresh the device session, or exchange a new assertion. If that is refused too, sign in again.",
        Retry.RENEWED,
    ),
    errors.InvalidDpopProof: ErrorHelp(
        "The `DPoP` header is missing, was used before, is older than 60 seconds, or is for another method, URL or token. Often the "
        "client's clock is wrong, or `htu` is not the gateway's public address.",
        "Sign a new proof for each request, also for a retry. `agw doctor` compares clock and address.",
        Retry.RENEWED,
    ),
    errors.UseDpopNonce: ErrorHelp(
        "This gateway asks for a nonce in each proof, and this proof had none or an old one.",
        "Sign a new proof with the `nonce` from the header `DPoP-Nonce`, and keep it for the next requests.",
        Retry.RENEWED,
    ),
    errors.InvalidClient: ErrorHelp(
        "The client is unknown, or the operator has disabled it.",
        "Check `client_id`. If it is right, ask the operator.",
        Retry.NO,
    ),
    errors.InsufficientScope: ErrorHelp(
        "The token is valid but was granted without the scope in `details.scope`.",
        "Ask for this scope when you sign in or exchange, and use the new token. A model needs `infer:<alias>`.",
        Retry.AFTER_CHANGE,
        details={"scope": "infer:fast"},
    ),
    errors.Forbidden: ErrorHelp(
        "The token has the scope, but your role, or the kind of token, does not allow this. Or the organization that a token is for is "
        "suspended, as `details.reason` says.",
        "Let somebody with a sufficient role do it, or use a token of your account instead of an organization's, or the reverse.",
        Retry.NO,
    ),
    errors.NotMember: ErrorHelp(
        "You are no member of this organization, or it does not exist. Both get the same answer.",
        "Check the id. Otherwise ask an owner or admin for an invitation.",
        Retry.AFTER_CHANGE,
    ),
    errors.NoSeat: ErrorHelp(
        "The product is enabled for the organization, but no seat is assigned to you.",
        "Ask an owner or admin to assign you a seat.",
        Retry.AFTER_CHANGE,
    ),
    errors.ConsentRequired: ErrorHelp(
        "Live sessions need the person's consent, which was not given or was withdrawn.",
        "Ask for `realtime:connect` when the person signs in, or state the consent in the assertion's `consents`.",
        Retry.AFTER_CHANGE,
    ),
}
