"""Says why an assertion would be exchanged or refused now, and changes nothing."""

from dataclasses import replace
from datetime import datetime

from accounts.models import Account, ConsumedAssertion, Integration
from accounts.rules import assertion_report
from accounts.rules.assertion_report import FAILED, PASSED, SKIPPED, Step


def run(integration: Integration, token: str, *, now: datetime) -> list[Step]:
    """Return every check that the exchange would make, in its order. The assertion stays unused.

    Whether it was used before, and whose account it names, is only looked up for one that the integration has signed.
    """
    enabled = Step("Integration", PASSED if integration.enabled else FAILED, _enabled(integration), "enabled")
    steps, jws = assertion_report.report(token.strip(), integration.as_issuer(), now.timestamp())
    states = {step.title: step.state for step in steps}
    if jws is None or FAILED in (states["Key and signature"], states["Id (jti)"], states["Subject (sub)"]):
        stored = [Step(title, SKIPPED, "", "") for title in ("Replay", "Account")]
    else:
        stored = [_replay(integration, str(jws.claims["jti"])), _account(str(jws.claims["sub"]))]
    disabled = "" if integration.enabled else "the integration is disabled"
    return [steps[0], replace(enabled, reason=disabled), *steps[1:], *stored]


def _enabled(integration: Integration) -> str:
    return "enabled" if integration.enabled else "disabled"


def _replay(integration: Integration, jti: str) -> Step:
    used = ConsumedAssertion.objects.filter(issuer=integration.issuer, jti=jti).exists()
    found = "exchanged before" if used else "not exchanged yet; this test does not use it up"
    return Step("Replay", FAILED if used else PASSED, found, "not exchanged yet", "used before" if used else "")


def _account(did: str) -> Step:
    account = Account.objects.filter(did=did).first()
    if account is None:
        return Step("Account", PASSED, "none yet; the exchange creates it", "none, or one that is live")
    state = "live" if account.is_live else "suspended or deactivated"
    reason = "" if account.is_live else "the account is suspended"
    return Step("Account", PASSED if account.is_live else FAILED, state, "none, or one that is live", reason)
