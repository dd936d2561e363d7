"""`event_endpoints`: the addresses of products' servers that events are sent to."""

from typing import Annotated, Any, ClassVar

from django.conf import settings
from pydantic import AfterValidator, Field

from gateway.config.exporting import Exported, Exporting, filled, variable_of
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.secret import Secret
from gateway.config.texts import Slug, reference
from gateway.core.events.models import Endpoint
from gateway.core.events.operations import endpoints
from gateway.core.events.rules.addresses import URL_WORDS, is_endpoint_url
from gateway.core.events.rules.secrets import key_of
from gateway.core.events.rules.types import types_of

TYPES_MAX = 50
CONCEALED = frozenset({"secret", "previous_secret", "previous_secret_until"})


def _url(value: str) -> str:
    if not is_endpoint_url(value, or_loopback=settings.EVENTS_ON_LOOPBACK):
        raise ValueError(URL_WORDS)
    return value


def _signing(secret: Secret) -> Secret:
    if secret is not None:
        key_of(secret.get_secret_value())
    return secret


def _pattern(value: str) -> str:
    if not types_of(value):
        raise ValueError(f"there is no type of events {value!r}")
    return value


class EventEndpointRow(SectionRow):
    """An endpoint. Another secret than the stored one replaces it, and both sign for a day."""

    identity: ClassVar[str | None] = "name"
    tables: ClassVar[Tables] = (Endpoint,)

    name: Slug
    product: Annotated[Slug, reference("products", "product")]
    url: Annotated[str, AfterValidator(_url)]
    secret: Annotated[Secret, AfterValidator(_signing)] = None
    types: Annotated[list[Annotated[str, AfterValidator(_pattern)]], Field(min_length=1, max_length=TYPES_MAX)]
    enabled: bool = True

    def save(self, run: Run, path: Path) -> None:
        endpoints.lock_subscriptions()
        stored = Endpoint.objects.select_for_update(no_key=True).filter(name=self.name).first()
        if stored is None and self.secret is None:
            run.refuse((*path, "secret"), "is required")
        elif stored is not None and stored.product != self.product:
            run.refuse((*path, "product"), f"is {stored.product}, and never changes; give a new endpoint another name")
        else:
            label = f"event endpoint {self.name}"
            values = {"product": self.product, "url": self.url, **self._changes(stored or Endpoint(), run)}
            run.upsert(Endpoint, label, lookup={"name": self.name}, values=values, concealed=CONCEALED)
            endpoints.refresh_subscriptions()

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        return [_exported(row, out) for row in Endpoint.objects.order_by("name")]

    def _changes(self, endpoint: Endpoint, run: Run) -> dict[str, Any]:
        """Return what else is set: the types, and where they are stated, the secret and whether it is enabled."""
        values = {"types": list(dict.fromkeys(self.types)), **self.stated("enabled")}
        if self.secret is not None and endpoints.replace_secret(endpoint, self.secret.get_secret_value(), now=run.now):
            values |= {name: getattr(endpoint, name) for name in CONCEALED}
        if values.get("enabled") and not endpoint.enabled:
            values |= {"disabled_reason": "", "failing_since": None}
        return values


def _exported(row: Endpoint, out: Exporting) -> dict[str, Any]:
    variable = variable_of(row.name, before="EVENTS_", after="_SECRET")
    return filled(
        name=row.name,
        product=row.product,
        url=row.url,
        secret=out.secret(row.secret, variable, f"what signs for the event endpoint {row.name}"),
        types=row.types,
        enabled=row.enabled,
    )
