"""The scopes that public clients can be granted. SPEC: Scopes and device sessions."""

from collections.abc import Iterable

from gateway.core.contract.capabilities import INFER_PREFIX, Capability, infer

# All other scopes are for trusted servers and the first-party portal.
BROWSER_CAPABILITIES = (
    Capability.WALLET_READ,
    Capability.USAGE_READ,
    Capability.BILLING_CHECKOUT,
    Capability.ORGS_READ,
    Capability.REALTIME_CONNECT,
    Capability.JUDGEMENT_EVALUATE,
    Capability.RESPONSES_READ,
)

_WORDS = {
    Capability.WALLET_READ: "See your credits and balance",
    Capability.USAGE_READ: "See what you have used",
    Capability.BILLING_CHECKOUT: "Start payments, which you confirm yourself",
    Capability.ORGS_READ: "See your organizations",
    Capability.REALTIME_CONNECT: "Talk to a model live, using your microphone if the app asks for it",
    Capability.JUDGEMENT_EVALUATE: "Request judgements, paid from your wallet",
    Capability.RESPONSES_READ: "Read responses stored for you",
}


def grantable(aliases: Iterable[str]) -> frozenset[str]:
    """Return all scopes that a public client can request, given the enabled aliases."""
    return frozenset(BROWSER_CAPABILITIES) | frozenset(infer(alias) for alias in aliases)


def descriptions_of(scopes: Iterable[str]) -> list[str]:
    """Return what scopes allow, in words: each once, and the models that may be used together."""
    found = list(scopes)
    models = sorted(scope.partition(":")[2] for scope in found if scope.startswith(INFER_PREFIX))
    words = [description_of(scope) for scope in found if not scope.startswith(INFER_PREFIX)]
    if models:
        listed = ", ".join(f"“{model}”" for model in models)
        words.append(f"Use the model{'s' if len(models) > 1 else ''} {listed}, paid from your wallet")
    return words


def description_of(scope: str) -> str:
    """Return a scope's description for the consent page."""
    known = _WORDS.get(Capability(scope)) if scope in set(Capability) else None
    return known or f"Use the model “{scope.partition(':')[2]}”, paid from your wallet"
