"""What a model's page shows beside its form: deployments in their order with their health, prices with who set them, margin, limits."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.contrib.admin.models import LogEntry
from django.contrib.contenttypes.models import ContentType
from django.http import HttpRequest
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html, format_html_join
from unfold.decorators import display

from billing.models import Limit, PriceVersion
from billing.queries import model_margins
from billing.rules.margins import Margin
from billing.rules.prices import show
from gateway.core.console import ConsoleAdmin
from gateway.core.console.row_names import row_names
from gateway.core.contract.amounts import decimals_of, usd
from inference.models import Alias, Deployment, RawModel, Trial
from inference.queries import model_health
from inference.queries.model_health import Health
from inference.queries.rows import deployment_id, fault_of
from inference.rules.trial_words import sentence

VERSIONS_SHOWN = 20
DAYS = 30

Row = Deployment | RawModel


class ModelFacts(ConsoleAdmin):
    """A table of models whose pages show how they do."""

    def facts(self, request: HttpRequest) -> list[tuple[str, dict[str, Any]]]:
        """Return the fieldsets of the facts that an operator may see."""
        user = request.user
        sold = ["price", "routes", "price_versions"]
        found: list[tuple[str, dict[str, Any]]] = [("Price and routes", {"fields": sold})]
        if user.has_perm("billing.view_marginday"):
            found.append((f"Margin of the last {DAYS} days", {"fields": ("margin",)}))
        if user.has_perm("billing.view_limit"):
            found.append(("Rate limits", {"fields": ("limits",)}))
        return [("Health", {"fields": ("health",)}), *found]

    @display(description="Deployments in the order in which they are tried")
    def health(self, model: Alias | RawModel) -> str:
        """Show each deployment with its share, its calls since a full hour, and its last trial."""
        rows, now = rows_of(model), timezone.now()
        if not rows:
            return "There is no deployment yet. Add one below, then try it."
        found = model_health.by_upstream(str(model), sorted({row.upstream.name for row in rows}), now)
        trials = _last_trials([deployment_id(row) for row in rows])
        headers = ["Order", "Deployment", f"Calls since {model_health.since(now):%H:%M} UTC", "Last"]
        shown = [_health_row(row, rows, found[row.upstream.name], trials.get(deployment_id(row))) for row in rows]
        return _table(headers, shown)

    @display(description="All prices")
    def price_versions(self, model: Alias | RawModel) -> str:
        """Show the last versions, with from when and by whom."""
        versions = list(PriceVersion.objects.filter(alias=str(model)).order_by("-effective_at")[:VERSIONS_SHOWN])
        if not versions:
            return "There is no price yet, so nobody can call this model."
        authors = _authors([version.pk for version in versions])
        now, is_current, rows = timezone.now(), True, []
        for version in versions:
            in_force = is_current and version.effective_at <= now
            is_current = is_current and not in_force
            when = f"{version.effective_at:%Y-%m-%d %H:%M:%S} UTC"
            rows.append([when, show(version.components), authors.get(str(version.pk), "-"), "now" if in_force else "-"])
        return _table(["From", "USD per million", "By", "In force"], rows)

    @display(description="By deployment")
    def margin(self, model: Alias | RawModel) -> str:
        """Show what the model's calls earned and cost."""
        sums = model_margins.last_days(str(model), DAYS, timezone.now())
        if not sums:
            return f"No call of the last {DAYS} days is summed up yet."
        names = row_names("deployment", [key for key in sums if key])
        decimals = decimals_of(amount for each in sums.values() for amount in _amounts(each))
        rows = [
            [
                names[key] if key else "Not known",
                f"{each.calls:,}",
                *(usd(amount, decimals) or "not known" for amount in _amounts(each)),
                each.percent or "-",
            ]
            for key, each in sums.items()
        ]
        return _table(["Deployment", "Calls", "Revenue", "Cost", "Margin", "Margin in %"], rows)

    @display(description="Of this model")
    def limits(self, model: Alias | RawModel) -> str:
        """Show the rate limits that name the model, and link to all."""
        rows = Limit.objects.filter(scope="alias", subject=str(model))
        shown = [
            [
                str(row),
                *(
                    f"{count:,}" if count is not None else "-"
                    for count in (row.requests_per_minute, row.tokens_per_minute, row.concurrent)
                ),
            ]
            for row in rows
        ]
        link = reverse("admin:billing_limit_changelist")
        words = '<p class="mt-2"><a class="underline" href="{}">All limits</a></p>'
        if not shown:
            return format_html("None beside the general ones. {}", format_html(words, link))
        return _table(["Limit", "Requests a minute", "Tokens a minute", "At once"], shown) + format_html(words, link)


def rows_of(model: Alias | RawModel) -> list[Row]:
    """Return the deployments of a model in the order in which they are tried."""
    if isinstance(model, RawModel):
        return [model]
    return list(model.deployments.select_related("upstream", "alias").order_by("priority", "pk"))


def _health_row(row: Row, rows: Sequence[Row], health: Health, trial: Trial | None) -> list[Any]:
    page = reverse("admin:inference_upstream_change", args=[row.upstream.pk])
    name = format_html('<a class="underline" href="{}">{}</a>/{}', page, row.upstream, row.model)
    return [
        _order(row, rows),
        _lines([name, _state(row, health)]),
        _lines(_calls(health)),
        _lines(
            [
                f"success: {health.last_success:%m-%d %H}:00 to :59" if health.last_success else "success: none",
                f"error: {health.last_error:%m-%d %H:%M} {health.last_cause}" if health.last_error else "error: none",
                f"trial: {trial.began_at:%m-%d %H:%M} {sentence(trial.result)}" if trial else "trial: never",
            ]
        ),
    ]


def _calls(health: Health) -> list[str]:
    if not health.calls:
        return ["none"]
    return [
        f"{health.calls:,}, {100 * health.errors / health.calls:.1f} % of them errors",
        f"median {_milliseconds(health.median_milliseconds)}",
        f"first byte {_milliseconds(health.first_byte_milliseconds)}",
    ]


def _lines(texts: Iterable[Any]) -> str:
    return format_html("<div>{}</div>", format_html_join("", "<div>{}</div>", ((text,) for text in texts)))


def _order(row: Row, rows: Sequence[Row]) -> str:
    """Return the place among the priorities, and the share of calls where several have the same."""
    if isinstance(row, RawModel):
        return "1"
    enabled = [each for each in rows if isinstance(each, Deployment) and each.enabled and not fault_of(each.upstream)]
    if row not in enabled:
        return "-"
    place = 1 + len({each.priority for each in enabled if each.priority < row.priority})
    weights = sum(each.weight for each in enabled if each.priority == row.priority)
    return f"{place}" if weights == row.weight else f"{place} ({100 * row.weight / weights:.0f} % of the calls)"


def _state(row: Row, health: Health) -> str:
    if not row.enabled:
        return "disabled"
    if fault := fault_of(row.upstream):
        return fault
    if health.calls and 2 * health.errors >= health.calls:
        return "failing: each process sets it aside for up to a minute after three failures in a row"
    return "in use"


def _last_trials(keys: list[str]) -> dict[str, Trial]:
    rows = Trial.objects.filter(deployment__in=keys).order_by("deployment", "-began_at", "-id").distinct("deployment")
    return {trial.deployment: trial for trial in rows}


def _authors(version_ids: list[int]) -> dict[str, str]:
    """Name who published each version, by its id."""
    kind = ContentType.objects.get_for_model(PriceVersion)
    entries = LogEntry.objects.filter(content_type=kind, object_id__in=[str(each) for each in version_ids])
    return {str(entry.object_id): str(entry.user) for entry in entries.select_related("user").order_by("-id")}


def _amounts(margin: Margin) -> Iterable[int | None]:
    cost_microusd = None if margin.margin_microusd is None else margin.cost_microusd
    return margin.charged_microusd, cost_microusd, margin.margin_microusd


def _milliseconds(count: int | None) -> str:
    return "-" if count is None else f"{count:,} ms"


def _table(headers: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    return render_to_string("inference/price_changes.html", {"table": {"headers": headers, "rows": rows}})
