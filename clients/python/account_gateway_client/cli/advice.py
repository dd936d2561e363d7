"""What a person can do about a refusal, by its code."""

from account_gateway_client.cli.money import dollars_of
from account_gateway_client.errors import GatewayError

ADVICE = {
    "invalid_token": "Run `agw login`.",
    "invalid_dpop_proof": "Run `agw doctor`: this computer's clock may be wrong.",
    "insufficient_scope": "Sign in again with it: `agw login --scope ...`.",
    "insufficient_funds": "Add money on the gateway's pages.",
    "budget_exceeded": "Raise the budget on the gateway's pages, or wait for its next period.",
    "max_cost_required": "Say what the call may cost: --max-cost 0.05.",
    "idempotency_in_progress": "The first call with this key is still under way: try again later, with the same key.",
    "not_settled": "The charge is not known yet: try again later.",
}


def advice_for(error: GatewayError) -> str:
    """Return what to do, in a sentence or two, or an empty text."""
    required = error.details.get("requiredMicrousd")
    if error.code == "max_cost_exceeded" and isinstance(required, int):
        return f"It takes --max-cost {dollars_of(required).lstrip('$')}."
    return ADVICE.get(error.code, "")
