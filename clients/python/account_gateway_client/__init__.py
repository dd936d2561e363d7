"""A client for the Account Gateway: proofs, tokens, and the official SDKs working through it unchanged."""

from account_gateway_client.account_keys import AccountKey
from account_gateway_client.errors import (
    ClientError,
    ForeignOrigin,
    GatewayError,
    GatewayUnreachable,
    InvalidReceipt,
    UnsafeRetry,
)
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
    "CIRun",
    "CIStep",
    "CachedTokens",
    "ClientError",
    "Evidence",
    "EvolutionJob",
    "ExecutionConfig",
    "ExecutionConfigRequest",
    "ExecutionError",
    "ForeignOrigin",
    "Gateway",
    "GatewayError",
    "GatewayUnreachable",
    "InvalidReceipt",
    "Judgement",
    "Output",
    "Page",
    "ProductKey",
    "ProductServer",
    "Project",
    "ProofKey",
    "Receipt",
    "RequestSigner",
    "Revision",
    "SandboxRun",
    "TokenSource",
    "UnsafeRetry",
    "call_headers",
    "dpop_proof",
    "fetch_receipt_keys",
    "receipt_of",
    "verify_receipt",
]
