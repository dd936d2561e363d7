"""`public_clients`: registered clients without a secret. SPEC: Browser authorization with PKCE."""

from typing import Annotated, ClassVar

from pydantic import AfterValidator, Field, StringConstraints, model_validator

from accounts.models import PublicClient
from accounts.rules import public_clients
from gateway.config.exporting import Exported, Exporting
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.texts import Label, matching
from gateway.config.urls import RedirectUri


def _client_id(value: str) -> str:
    if not public_clients.is_client_id(value):
        raise ValueError("must be a plain name, or an origin such as https://app.example without a trailing slash")
    return value


ClientId = Annotated[
    str,
    StringConstraints(min_length=1, max_length=255),
    matching(r"[A-Za-z0-9][A-Za-z0-9._:/\[\]-]*", "must be letters, digits and . _ -, or an origin"),
    AfterValidator(_client_id),
]


class PublicClientRow(SectionRow):
    """A mobile client with its exact redirect URIs, or an origin that the operator trusts."""

    identity: ClassVar[str | None] = "client_id"
    tables: ClassVar[Tables] = (PublicClient,)

    client_id: ClientId
    name: Label
    redirect_uris: Annotated[list[RedirectUri], Field(max_length=100)] = []
    trusted: bool = False
    enabled: bool = True

    @model_validator(mode="after")
    def _redirects_fit_the_client(self) -> "PublicClientRow":
        if fault := public_clients.registration_fault(self.client_id, self.redirect_uris, trusted=self.trusted):
            raise ValueError(fault)
        return self

    def save(self, run: Run, path: Path) -> None:
        values = self.stated("name", "redirect_uris", "trusted", "enabled")
        run.upsert(PublicClient, f"public client {self.client_id}", lookup={"client_id": self.client_id}, values=values)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        names = ("client_id", "name", "redirect_uris", "trusted", "enabled")
        return list(PublicClient.objects.order_by("client_id").values(*names))
