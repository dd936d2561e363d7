"""`account_key_sync`: enables a key per account, shared by its devices."""

from typing import ClassVar

from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from integrations.models import IntegrationSwitch


class AccountKeySyncRow(SectionRow):
    """The switch."""

    tables: ClassVar[Tables] = (IntegrationSwitch,)

    enabled: bool

    def save(self, run: Run, path: Path) -> None:
        lookup = {"name": IntegrationSwitch.Name.ACCOUNT_KEY_SYNC}
        run.upsert(IntegrationSwitch, "account key sync", lookup=lookup, values={"enabled": self.enabled})

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        row = IntegrationSwitch.objects.filter(name=IntegrationSwitch.Name.ACCOUNT_KEY_SYNC).first()
        return None if row is None else {"enabled": row.enabled}
