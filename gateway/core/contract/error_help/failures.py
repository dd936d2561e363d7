"""Help with failures of the gateway and of the models' providers."""

from gateway.core.contract import errors
from gateway.core.contract.error_help.help import ErrorHelp, Retry

FAILURES = {
    errors.InternalError: ErrorHelp(
        "A fault of the gateway, which is in its log with the `request_id`.",
        "Repeat the request once. If it fails again, tell the operator the `request_id`.",
        Retry.SAME_KEY,
    ),
    errors.UpstreamError: ErrorHelp(
        "The model's provider could not be reached, answered with an error, or broke off. If it is not known whether it did the "
        "work, the call's hold stays until that is decided.",
        "Repeat the request. While the outcome is open, the answer is `idempotency_in_progress`.",
        Retry.SAME_KEY,
    ),
    errors.UpstreamInvalid: ErrorHelp(
        "The model's provider sent an answer that cannot be read, or usage that is no count. The call's hold stays until its charge "
        "is decided.",
        "Repeat the request. While the outcome is open, the answer is `idempotency_in_progress`.",
        Retry.SAME_KEY,
    ),
    errors.ModelUnavailable: ErrorHelp(
        "No deployment of this model can serve the route at present: it is disabled, has no price, or its provider refuses the "
        "gateway. The operator was told.",
        "Choose another model, or try again later.",
        Retry.SAME_KEY,
        param="model",
    ),
    errors.UpstreamOverloaded: ErrorHelp(
        "The model's provider is overloaded or limits the gateway, and no other deployment was free. Nothing was charged.",
        "Wait for `Retry-After`, and send less at once.",
        Retry.LATER,
    ),
    errors.NotReady: ErrorHelp(
        "The gateway is starting, stopping, short of memory for large requests, or has no database at the moment.",
        "Wait for `Retry-After`. What was held or charged before is not lost.",
        Retry.LATER,
    ),
    errors.UpstreamTimeout: ErrorHelp(
        "The model's provider got the request and did not answer in time. It may have done the work, so the call's hold stays until "
        "that is decided.",
        "Repeat the request, or stream it. While the outcome is open, the answer is `idempotency_in_progress`.",
        Retry.SAME_KEY,
    ),
}
