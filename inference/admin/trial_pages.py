"""The page "Try it": an operator makes one real call to a deployment and sees what came of it."""

from collections.abc import Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator
from django.http import Http404, HttpRequest, HttpResponse
from django.template.response import TemplateResponse
from django.urls import reverse
from django.utils import timezone
from unfold.decorators import action
from unfold.widgets import UnfoldAdminSelectWidget

from gateway.core.console import ConsoleAdmin
from gateway.core.contract.aliases import Route
from gateway.core.contract.amounts import usd
from gateway.core.contract.ids import new_id
from inference.models import Alias, Deployment, RawModel, Trial
from inference.operations import trials
from inference.operations.trials import KEYS, RefusedError
from inference.queries.rows import deployment_id
from inference.rules.trial_words import hint, sentence

RIGHTS = {Alias: "inference.change_deployment", RawModel: "inference.change_rawmodel"}
"""The permission to try a model's deployments, beside that to see the model."""

PREFIX = "tri"
LABELS = {"answered": "success", "overloaded": "warning", "unclear": "warning"}
SHOWN = 10

Row = Deployment | RawModel


class TrialForm(forms.Form):
    """Chooses what is tried. `trial` is the id of the one call that this form begins."""

    deployment = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    route = forms.ChoiceField(widget=UnfoldAdminSelectWidget)
    key = forms.ChoiceField(
        label="API key",
        widget=UnfoldAdminSelectWidget,
        help_text="The next key can be tried before the upstream is switched to it.",
    )
    trial = forms.CharField(
        widget=forms.HiddenInput, validators=[RegexValidator(rf"\A{PREFIX}_[0-9a-z]{{26}}\Z", "Load the page again.")]
    )

    def __init__(self, rows: Sequence[Row], *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.rows = {deployment_id(row): row for row in rows}
        self.routes = {key: trials.triable_routes(row) for key, row in self.rows.items()}
        keys = [name for name in KEYS if any(name in trials.keys_of(row.upstream) for row in rows)]
        names = dict.fromkeys(route for routes in self.routes.values() for route in routes)
        self._offer("deployment", [(key, f"{row.upstream}/{row.model}") for key, row in self.rows.items()])
        self._offer("route", [(name, str(name)) for name in names])
        self._offer("key", [(name, f"The {name} key") for name in keys or ["current"]])

    def _offer(self, field: str, choices: list[tuple[str, str]]) -> None:
        self.fields[field].choices = choices  # type: ignore[attr-defined]

    def clean(self) -> dict[str, Any]:
        """Refuse a route that this deployment cannot be tried on, and a key that its upstream does not have."""
        cleaned = super().clean() or {}
        row = self.rows.get(cleaned.get("deployment", ""))
        if row is None:
            return cleaned
        if "route" in cleaned and cleaned["route"] not in self.routes[cleaned["deployment"]]:
            self.add_error("route", ValidationError(f"{row.upstream} cannot be tried on this route."))
        if "key" in cleaned and cleaned["key"] not in trials.keys_of(row.upstream):
            self.add_error("key", ValidationError(f"{row.upstream} has no such key."))
        return cleaned


class TrialPages(ConsoleAdmin):
    """A table of models whose deployments can be tried."""

    def has_try_permission(self, request: HttpRequest, object_id: str | None = None) -> bool:
        """Allow operators who may see the model and change its deployments. A call costs the operator money."""
        return self.has_view_permission(request) and request.user.has_perm(RIGHTS[self.model])

    @action(description="Try it", icon="play_arrow", url_path="try", permissions=["try"])
    def try_it(self, request: HttpRequest, object_id: str) -> HttpResponse:
        """Show the form and the last calls, or make the call that the form describes, once, and show its result."""
        model = self.get_object(request, object_id)
        if model is None:
            raise Http404
        rows = _rows(model)
        form = TrialForm(rows, request.POST or None, initial=_initial(request))
        shown, refusal = None, ""
        if rows and request.method == "POST" and form.is_valid():
            try:
                shown = self._try(request, model, form)
            except RefusedError as error:
                refusal = str(error)
            form = TrialForm(rows, initial={**form.cleaned_data, "trial": new_id(PREFIX)})
        return TemplateResponse(request, "inference/try.html", self._context(request, model, form, shown, refusal))

    def _try(self, request: HttpRequest, model: Any, form: TrialForm) -> dict[str, Any]:
        chosen = form.cleaned_data
        row = form.rows[chosen["deployment"]]
        trial, is_begun = trials.try_deployment(
            row,
            trial_id=chosen["trial"],
            route=Route(chosen["route"]),
            key=chosen["key"],
            operator=request.user.get_username(),
            now=timezone.now(),
        )
        if is_begun:
            what = f"Tried {row.upstream}/{row.model} on {trial.route} with the {trial.key} key"
            self.log_change(request, model, f"{what}: {sentence(trial.result)}")
        return {"trial": trial, "is_repeated": not is_begun, **_shown(trial)}

    def _context(
        self, request: HttpRequest, model: Any, form: TrialForm, shown: dict[str, Any] | None, refusal: str
    ) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "title": f"Try {model}",
            "opts": self.opts,
            "model": model,
            "page": reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_change", args=[model.pk]),
            "form": form,
            "has_rows": bool(form.rows),
            "has_routes": any(form.routes.values()),
            "shown": shown,
            "refusal": refusal,
            "table": _table(form),
        }


def _rows(model: Alias | RawModel) -> list[Row]:
    if isinstance(model, RawModel):
        return [model]
    return list(model.deployments.select_related("upstream", "alias").order_by("priority", "pk"))


def _initial(request: HttpRequest) -> dict[str, str]:
    chosen = {name: request.GET[name] for name in ("deployment", "route", "key") if name in request.GET}
    return {"trial": new_id(PREFIX), **chosen}


def _shown(trial: Trial) -> dict[str, Any]:
    """Return the facts of a trial for the page."""
    result = trial.result
    if result is None:
        return {"label": "warning", "words": sentence(None), "facts": [], "hint": "", "result": None}
    usage = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in result["usage"].items())
    facts = [
        ("Status", result["status"] or "-"),
        ("Time", f"{result['milliseconds']:,} ms"),
        ("Usage", usage or "-"),
        ("Costs you", usd(result["cost_microusd"]) or "not known"),
        ("A caller would have paid", usd(result["charge_microusd"]) or "there is no price for this route"),
    ]
    return {
        "label": LABELS.get(result["outcome"], "danger"),
        "words": sentence(result),
        "facts": facts if result["outcome"] == "answered" else facts[:2],
        "hint": hint(result),
        "result": result,
    }


def _table(form: TrialForm) -> dict[str, Any]:
    found = Trial.objects.filter(deployment__in=list(form.rows)).order_by("-began_at", "-id")[:SHOWN]
    rows = [
        [
            f"{trial.began_at:%Y-%m-%d %H:%M:%S} UTC",
            f"{form.rows[trial.deployment].upstream}/{form.rows[trial.deployment].model}",
            trial.route,
            trial.key,
            sentence(trial.result),
            trial.operator,
        ]
        for trial in found
    ]
    return {"headers": ["When", "Deployment", "Route", "Key", "What came", "By"], "rows": rows}
