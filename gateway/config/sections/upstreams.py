"""`upstreams`: where models are served, in which protocol, and with which credential."""

from typing import Annotated, Any, ClassVar, Literal

from pydantic import AfterValidator, Field, ValidationInfo, model_validator

from gateway.config.bounds import bounds
from gateway.config.context import context_of
from gateway.config.exporting import Exported, Exporting, filled, options_of, variable_of
from gateway.config.problems import Path
from gateway.config.row import SectionRow, Tables
from gateway.config.run import Run
from gateway.config.secret import Secret
from gateway.config.texts import RouteName, UpstreamName
from gateway.config.urls import BaseUrl
from inference.models import Upstream
from inference.rules.authentication import read_auth, read_query

OPTIONS = ("routes", "looks_up", "service_tiers", "output_limit_field", "auth", "query")
"""The keys that are stored in an upstream's options."""

KEYS = frozenset({"api_key", "next_api_key", "previous_api_key"})


def _allowed_here(value: Upstream.Adapter, info: ValidationInfo) -> Upstream.Adapter:
    if value is Upstream.Adapter.DEMO and not context_of(info).demo_allowed:
        raise ValueError("the demo adapter is not available in production; configure a real upstream")
    return value


class UpstreamRow(SectionRow):
    """An upstream. Only the demo adapter works without `base_url` and `api_key`: no calls are sent to others.

    `next_api_key` and `previous_api_key` are valid beside `api_key` while it is being replaced. `routes` lists the routes it supports, if it does not support all of its adapter's. `looks_up` names the kind of
    record that it has of each call. `service_tiers: false` says that it refuses to be told a service tier, and
    `output_limit_field` which member of a chat bounds its output. `auth` is `bearer` or the header that carries the key, and `query`
    what every URL ends with.
    """

    identity: ClassVar[str | None] = "name"
    tables: ClassVar[Tables] = (Upstream,)

    name: UpstreamName
    adapter: Annotated[Upstream.Adapter, Field(strict=False), AfterValidator(_allowed_here)]
    base_url: BaseUrl | None = None
    api_key: Secret = None
    next_api_key: Secret = None
    previous_api_key: Secret = None
    timeout_seconds: Annotated[float, bounds(Upstream, "timeout_seconds"), Field(allow_inf_nan=False)] = 120.0
    bills_errors: bool = False
    fetches_images: bool = False
    routes: Annotated[list[RouteName], Field(min_length=1)] | None = None
    looks_up: Literal["generations"] | None = None
    service_tiers: bool | None = None
    output_limit_field: Literal["max_tokens", "max_completion_tokens"] | None = None
    auth: Annotated[str, AfterValidator(read_auth)] | None = None
    query: Annotated[dict[str, str], AfterValidator(read_query)] | None = None
    enabled: bool = True

    @model_validator(mode="after")
    def _has_an_address(self) -> "UpstreamRow":
        if self.base_url is None and self.adapter is not Upstream.Adapter.DEMO:
            raise ValueError("base_url is required, except for the demo adapter")
        return self

    def save(self, run: Run, path: Path) -> None:
        """Set the upstream's row. A credential that the file does not state is unchanged."""
        values = self.stated("adapter", "timeout_seconds", "bills_errors", "fetches_images", "enabled")
        values["base_url"] = self.base_url or ""
        if self.model_fields_set & set(OPTIONS):
            values["options"] = self._options()
        for name, secret in self.stated(*KEYS).items():
            values[name] = secret.get_secret_value() if secret else ""
        stored = Upstream.objects.filter(name=self.name).first()
        row = run.upsert(Upstream, f"upstream {self.name}", lookup={"name": self.name}, values=values, concealed=KEYS)
        if row.api_key != (stored.api_key if stored else ""):
            Upstream.objects.filter(pk=row.pk).update(api_key_set_at=run.now)

    @classmethod
    def export(cls, out: Exporting) -> Exported:
        return [_exported(row, out) for row in Upstream.objects.order_by("name")]

    def _options(self) -> dict[str, Any]:
        """Return the stored options, updated with those that the file states or clears."""
        stored = Upstream.objects.filter(name=self.name).values_list("options", flat=True).first() or {}
        options = {**stored, **self.stated(*OPTIONS)}
        return {name: value for name, value in options.items() if value is not None}


def _exported(row: Upstream, out: Exporting) -> dict[str, Any]:
    keys = {
        f"{which}api_key": out.secret(
            getattr(row, f"{which}api_key"),
            variable_of(row.name, after=f"_{which.upper()}API_KEY"),
            f"the {which.replace('_', ' ')}key of the upstream {row.name}",
        )
        for which in ("", "next_", "previous_")
    }
    return filled(
        name=row.name,
        adapter=row.adapter,
        base_url=row.base_url or None,
        **keys,
        timeout_seconds=row.timeout_seconds,
        bills_errors=row.bills_errors,
        fetches_images=row.fetches_images,
        **options_of(row.options, OPTIONS),
        enabled=row.enabled,
    )
