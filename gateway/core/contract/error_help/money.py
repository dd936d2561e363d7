"""Help with wallets, budgets, maxima and idempotency keys."""

from gateway.core.contract import errors
from gateway.core.contract.error_help.help import ErrorHelp, Retry

MONEY = {
    errors.IdempotencyKeyRequired: ErrorHelp(
        "Every metered request names itself, so that a repeat of it is never paid for twice. This one did not.",
        "Send `Idempotency-Key` with a new random value for each logical call, and the same value when you repeat it.",
        Retry.NO,
        param="Idempotency-Key",
    ),
    errors.MaxCostRequired: ErrorHelp(
        "Every metered request states the most that it may cost. This one did not.",
        "Send `x-service-max-cost-microusd`, in micro-USD: 20000 is 0.02 USD.",
        Retry.NO,
        param="x-service-max-cost-microusd",
    ),
    errors.InsufficientFunds: ErrorHelp(
        "The most that the call may cost is more than the wallet has available, after what other calls hold. A wallet in debt has "
        "nothing available.",
        "Add money, or lower the output limit or the maximum cost, so that less is held. `details` says what is needed and what "
        "there is.",
        Retry.AFTER_CHANGE,
        details={"requiredMicrousd": 20_000, "availableMicrousd": 1_250},
    ),
    errors.BudgetExceeded: ErrorHelp(
        "A budget of the organization, the product, the member or the person has less left than the call may cost.",
        "Wait for the budget's next period, lower the call's maximum, or have its owner raise the budget that "
        "`details.budgetId` names.",
        Retry.AFTER_CHANGE,
        details={"budgetId": "bud_01m7yshq1s6zw3kzc8ypm54agq"},
    ),
    errors.MaxCostExceeded: ErrorHelp(
        "At the current price, the call could cost more than `x-service-max-cost-microusd` allows. Nothing was sent or charged.",
        "State at least `details.requiredMicrousd`, shorten the input, or set a lower output limit.",
        Retry.NO,
        details={"requiredMicrousd": 2_458},
    ),
    errors.BillingPastDue: ErrorHelp(
        "An invoice of the organization has not been paid in time.",
        "An owner or billing member pays it in the portal. What was suspended comes back with the payment.",
        Retry.AFTER_CHANGE,
    ),
    errors.IdempotencyInProgress: ErrorHelp(
        "The first request with this key is still running, or its outcome at the model's provider is not known yet.",
        "Wait and repeat the request with the same key: you get the first one's answer, and nothing is charged again.",
        Retry.LATER,
        details={"usageId": "use_01m7yshq1s6zw3kzc8ypm54agq"},
    ),
    errors.IdempotencyKeyReused: ErrorHelp(
        "The key was used within the last 24 hours for a request with another body, or for one whose answer was too long to keep.",
        "Use a new key for each logical call, and send a repeat byte for byte as before.",
        Retry.NO,
        param="Idempotency-Key",
    ),
    errors.NotSettled: ErrorHelp(
        "The call was released, or is not closed yet. Only what was charged has a receipt.",
        "If `details.status` is `held` or `reconciling`, ask again later. A released call never gets a receipt.",
        Retry.AFTER_CHANGE,
        details={"status": "held"},
    ),
    errors.RateLimited: ErrorHelp(
        "More requests, tokens or calls at once than a limit allows. Nothing was held or sent.",
        "Wait for `Retry-After`. The headers `RateLimit` and `RateLimit-Policy` tell in advance how much is left.",
        Retry.LATER,
        details={"scope": "account", "limit": "requests_per_minute", "remaining": 0, "retryAfterSeconds": 3},
    ),
}
