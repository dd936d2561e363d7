"""`projects`: the projects of sandbox and CI runs."""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator

from accounts.rules import dids
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.texts import Label, Slug, reference
from gateway.core.contract.ids import new_id
from integrations.models import Project
from organizations.models import Organization

ORGANIZATION_PREFIX = "org_"


def _owner(value: str) -> str:
    if not (value.startswith(ORGANIZATION_PREFIX) or dids.is_did(value)):
        raise ValueError("must be an account's DID or an organization's id")
    return value


class ProjectRow(SectionRow):
    """A project of an account or an organization; `key` names it and never changes."""

    identity: ClassVar[str | None] = "key"
    tables: ClassVar[Tables] = (Project,)

    key: Slug
    owner: Annotated[str, AfterValidator(_owner)]
    product: Annotated[Slug, reference("products", "product")]
    name: Label

    def save(self, run: Run, path: Path) -> None:
        """Set the project's row. An organization must exist; an account is created at its first exchange."""
        is_organization = self.owner.startswith(ORGANIZATION_PREFIX)
        if is_organization and not Organization.objects.filter(id=self.owner).exists():
            run.refuse((*path, "owner"), f"there is no organization {self.owner!r}")
            return
        stored = Project.objects.filter(key=self.key).first()
        kind = Project.OwnerKind.ORGANIZATION if is_organization else Project.OwnerKind.ACCOUNT
        values: dict[str, Any] = {
            "owner_kind": kind,
            "owner_key": self.owner,
            "product_id": self.product,
            "name": self.name,
        }
        if stored is None:
            values |= {"id": new_id("prj"), "created_at": run.now}
        run.upsert(Project, f"project {self.key}", lookup={"key": self.key}, values=values)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        rows = Project.objects.order_by("key")
        return [{"key": row.key, "owner": row.owner_key, "product": row.product_id, "name": row.name} for row in rows]
