"""What the integrations app contributes to the closing of an account: its key, its evolution and its runs are deleted."""

from datetime import datetime

from accounts.models import Account
from accounts.operations.closing import Part
from integrations.models import (
    AccountKey,
    EvolutionArtifact,
    EvolutionEvidence,
    EvolutionJob,
    EvolutionRevision,
    SandboxRun,
)


class IntegrationsPart(Part):
    """Deletes the account's key at once, and what it has stored later. Projects are the operator's configuration."""

    def close(self, account: Account, now: datetime) -> None:
        AccountKey.objects.filter(account=account).delete()

    def erase(self, account: Account) -> None:
        own = {"owner_kind": "account", "owner_key": account.did}
        AccountKey.objects.filter(account=account).delete()
        SandboxRun.objects.filter(project__owner_kind="account", project__owner_key=account.did).delete()
        for rows in (EvolutionJob, EvolutionRevision, EvolutionEvidence, EvolutionArtifact):
            rows.objects.filter(**own).delete()
