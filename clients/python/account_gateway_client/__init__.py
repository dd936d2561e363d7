"""A client for the Account Gateway: proofs, tokens, and the official SDKs working through it unchanged."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from account_gateway_client.account_keys import AccountKey
    from account_gateway_client.errors import (
        ClientError,
        ForeignOrigin,
        GatewayError,
        GatewayUnreachable,
        InvalidEvent,
        InvalidReceipt,
        UnsafeRetry,
    )
    from account_gateway_client.event_types import (
        BudgetEvent,
        DeviceEvent,
        Event,
        EventBudget,
        EventDevice,
        EventInvoice,
        EventMembership,
        EventPing,
        EventSeat,
        EventUsage,
        EventWallet,
        InvoiceEvent,
        MembershipEvent,
        PingEvent,
        SeatEvent,
        UsageEvent,
        WalletEvent,
    )
    from account_gateway_client.events import verify_event
    from account_gateway_client.gateway import Gateway
    from account_gateway_client.integration_types import (
        ActiveRevision,
        Artifact,
        ArtifactContent,
        CIRun,
        CIStep,
        Evidence,
        EvolutionJob,
        ExecutionConfig,
        ExecutionConfigRequest,
        ExecutionError,
        Output,
        Project,
        Revision,
        SandboxRun,
    )
    from account_gateway_client.judgements import Judgement
    from account_gateway_client.keys import ProductKey, ProofKey
    from account_gateway_client.products import ProductServer
    from account_gateway_client.proofs import dpop_proof
    from account_gateway_client.receipts import Receipt, call_headers, receipt_of
    from account_gateway_client.routes import Page
    from account_gateway_client.signed_receipts import fetch_receipt_keys, verify_receipt
    from account_gateway_client.signing import RequestSigner
    from account_gateway_client.tokens import AccessToken, CachedTokens, TokenSource

__all__ = [
    "AccessToken",
    "AccountKey",
    "ActiveRevision",
    "Artifact",
    "ArtifactContent",
    "BudgetEvent",
    "CIRun",
    "CIStep",
    "CachedTokens",
    "ClientError",
    "DeviceEvent",
    "Event",
    "EventBudget",
    "EventDevice",
    "EventInvoice",
    "EventMembership",
    "EventPing",
    "EventSeat",
    "EventUsage",
    "EventWallet",
    "Evidence",
    "EvolutionJob",
    "ExecutionConfig",
    "ExecutionConfigRequest",
    "ExecutionError",
    "ForeignOrigin",
    "Gateway",
    "GatewayError",
    "GatewayUnreachable",
    "InvalidEvent",
    "InvalidReceipt",
    "InvoiceEvent",
    "Judgement",
    "MembershipEvent",
    "Output",
    "Page",
    "PingEvent",
    "ProductKey",
    "ProductServer",
    "Project",
    "ProofKey",
    "Receipt",
    "RequestSigner",
    "Revision",
    "SandboxRun",
    "SeatEvent",
    "TokenSource",
    "UnsafeRetry",
    "UsageEvent",
    "WalletEvent",
    "call_headers",
    "dpop_proof",
    "fetch_receipt_keys",
    "receipt_of",
    "verify_event",
    "verify_receipt",
]

# Where each name is. A module is imported when it is first used, so that `agw --help` does not wait for all of them.
_MODULES = {
    "AccessToken": "tokens",
    "AccountKey": "account_keys",
    "ActiveRevision": "integration_types",
    "Artifact": "integration_types",
    "ArtifactContent": "integration_types",
    "BudgetEvent": "event_types",
    "CIRun": "integration_types",
    "CIStep": "integration_types",
    "CachedTokens": "tokens",
    "ClientError": "errors",
    "DeviceEvent": "event_types",
    "Event": "event_types",
    "EventBudget": "event_types",
    "EventDevice": "event_types",
    "EventInvoice": "event_types",
    "EventMembership": "event_types",
    "EventPing": "event_types",
    "EventSeat": "event_types",
    "EventUsage": "event_types",
    "EventWallet": "event_types",
    "Evidence": "integration_types",
    "EvolutionJob": "integration_types",
    "ExecutionConfig": "integration_types",
    "ExecutionConfigRequest": "integration_types",
    "ExecutionError": "integration_types",
    "ForeignOrigin": "errors",
    "Gateway": "gateway",
    "GatewayError": "errors",
    "GatewayUnreachable": "errors",
    "InvalidEvent": "errors",
    "InvalidReceipt": "errors",
    "InvoiceEvent": "event_types",
    "Judgement": "judgements",
    "MembershipEvent": "event_types",
    "Output": "integration_types",
    "Page": "routes",
    "PingEvent": "event_types",
    "ProductKey": "keys",
    "ProductServer": "products",
    "Project": "integration_types",
    "ProofKey": "keys",
    "Receipt": "receipts",
    "RequestSigner": "signing",
    "Revision": "integration_types",
    "SandboxRun": "integration_types",
    "SeatEvent": "event_types",
    "TokenSource": "tokens",
    "UnsafeRetry": "errors",
    "UsageEvent": "event_types",
    "WalletEvent": "event_types",
    "call_headers": "receipts",
    "dpop_proof": "proofs",
    "fetch_receipt_keys": "signed_receipts",
    "receipt_of": "receipts",
    "verify_event": "events",
    "verify_receipt": "signed_receipts",
}


def __getattr__(name: str) -> Any:
    """Import a name of `__all__`. PEP 562."""
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    """Name what can be imported."""
    return __all__
