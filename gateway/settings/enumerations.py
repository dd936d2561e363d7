"""Names of enumerations in the API reference that their members' names do not distinguish."""

from typing import Any

ENUM_NAMES: dict[str, Any] = {
    "BudgetScope": "organizations.serializers.budgets.SCOPES",
    "BudgetPeriod": "organizations.serializers.budgets.PERIODS",
    "AccountBudgetScope": "billing.serializers.budgets.SCOPES",
    "MemberRole": "organizations.serializers.members.ROLES",
    "CheckoutKind": ["top_up", "payment_method"],
    "BillingMode": ["test", "live"],
    "InvoiceStatus": ["draft", "open", "paid", "void", "past_due"],
    "SandboxRunStatus": [
        *("queued", "running", "succeeded", "failed", "timed_out", "cancelling", "cancelled"),
    ],
    "RunStatus": ["queued", "running", "succeeded", "failed", "cancelled"],
    "CIStepStatus": ["queued", "running", "succeeded", "failed", "cancelled", "skipped"],
    "UsageStatus": ["settled", "held", "released", "reconciling"],
}
