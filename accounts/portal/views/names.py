"""The page on which a person changes their name."""

from django.contrib import messages
from django.contrib.auth.decorators import login_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from accounts.portal.forms import NameForm
from accounts.queries.accounts import person


@login_required
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest) -> HttpResponse:
    """Show the name, and change or remove it."""
    form = NameForm(request.POST or None, instance=person(request))
    if request.method == "POST" and form.is_valid():
        form.save()
        messages.success(request, "Your name was changed." if form.instance.display_name else "Your name was removed.")
        return redirect("portal_home")
    return render(request, "portal/name.html", {"form": form})
