"""`ci`: the providers that may report CI runs, and the project of each repository."""

from typing import Annotated, Any, ClassVar

from pydantic import AfterValidator, Field

from gateway.config.exporting import Exported, Exporting, filled, variable_of
from gateway.config.problems import Path
from gateway.config.row import Row, SectionRow, Tables
from gateway.config.run import UPDATED, Run
from gateway.config.secret import Secret
from gateway.config.texts import Slug, matching, reference
from integrations.models import CIProvider, CIRepository, Project
from integrations.queries import ci_runs
from integrations.rules.webhook_secrets import LENGTH_WORDS, SHARED_WORDS, is_long_enough, is_shared

PROVIDERS_MAX = 50
REPOSITORIES_MAX = 1000

Repository = Annotated[str, matching(r"[!-~]{1,255}", "must be 1 to 255 printable ASCII characters without spaces")]
ProjectKey = Annotated[Slug, reference("projects", "project")]


def _unguessable(secret: Secret) -> Secret:
    if secret is not None and not is_long_enough(secret.get_secret_value()):
        raise ValueError(LENGTH_WORDS)
    return secret


WebhookSecret = Annotated[Secret, AfterValidator(_unguessable)]


class CIProviderRow(Row):
    """A provider, its webhook secret (and the previous one during a rotation), and its repositories by name."""

    name: Slug
    format: Annotated[CIProvider.Format, Field(strict=False)]
    secret: WebhookSecret
    previous_secret: WebhookSecret = None
    repositories: Annotated[dict[Repository, ProjectKey], Field(max_length=REPOSITORIES_MAX)] = {}

    @property
    def secrets(self) -> list[str]:
        """Return the secrets that a webhook may be signed with."""
        return [secret.get_secret_value() for secret in (self.secret, self.previous_secret) if secret]


def _one_each(rows: list[CIProviderRow]) -> list[CIProviderRow]:
    if len({row.name for row in rows}) != len(rows):
        raise ValueError("two providers have the same name")
    if any(row.secret is None for row in rows):
        raise ValueError("every provider needs a secret")
    for row in rows:
        others = {secret for other in rows if other is not row for secret in other.secrets}
        if is_shared(row.secrets, others):
            raise ValueError(f"the secret of {row.name} {SHARED_WORDS}")
    return rows


class CIRow(SectionRow):
    """The providers that the section names; others are unchanged."""

    tables: ClassVar[Tables] = (CIProvider, CIRepository)

    providers: Annotated[list[CIProviderRow], Field(max_length=PROVIDERS_MAX), AfterValidator(_one_each)]

    def save(self, run: Run, path: Path) -> None:
        """Set each provider's row, and replace its repositories with these."""
        for row in self.providers:
            assert row.secret is not None
            previous = row.previous_secret.get_secret_value() if row.previous_secret else ""
            values = {"format": row.format, "secret": row.secret.get_secret_value(), "previous_secret": previous}
            lookup, concealed = {"name": row.name}, frozenset({"secret", "previous_secret"})
            provider = run.upsert(
                CIProvider, f"CI provider {row.name}", lookup=lookup, values=values, concealed=concealed
            )
            _save_repositories(run, provider, row)
        for index, row in enumerate(self.providers):
            provider = CIProvider.objects.get(name=row.name)
            if is_shared(row.secrets, ci_runs.secrets_of_others(provider.pk)):
                run.refuse((*path, "providers", index, "secret"), SHARED_WORDS)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        providers = CIProvider.objects.order_by("name").prefetch_related("repositories__project")
        return {"providers": [_exported(row, out) for row in providers]} if providers else None


def _save_repositories(run: Run, provider: CIProvider, row: CIProviderRow) -> None:
    for stored in provider.repositories.exclude(name__in=row.repositories):
        stored.delete()
        run.add_change(UPDATED, f"CI repository {provider.name} {stored.name}: removed", provider)
    projects = {project.key: project for project in Project.objects.filter(key__in=row.repositories.values())}
    for name, key in row.repositories.items():
        if key not in projects:
            continue  # its own row was refused, so the run will be rolled back
        lookup, values = {"provider": provider, "name": name}, {"project": projects[key]}
        run.upsert(CIRepository, f"CI repository {provider.name} {name}", lookup=lookup, values=values)


def _exported(row: CIProvider, out: Exporting) -> dict[str, Any]:
    variable, whose = (
        variable_of(row.name, before="CI_", after="_SECRET"),
        f"the webhooks of the CI provider {row.name}",
    )
    return filled(
        name=row.name,
        format=row.format,
        secret=out.secret(row.secret, variable, whose),
        previous_secret=out.secret(row.previous_secret, f"{variable}_PREVIOUS", "the same, before its rotation"),
        repositories={
            each.name: each.project.key for each in sorted(row.repositories.all(), key=lambda each: each.name)
        },
    )
