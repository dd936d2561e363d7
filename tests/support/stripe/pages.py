"""The page at a session's `url`, where a customer pays or cancels."""

from collections.abc import Awaitable, Callable
from html import escape

from aiohttp import web

from tests.support.stripe.sessions import Sessions
from tests.support.stripe.store import Json

PAGE = """<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title><link rel="icon" href="data:,">
<style>body {{ font: 1rem/1.5 sans-serif; max-width: 26rem; margin: 3rem auto; padding: 0 1rem }}</style></head>
<body><main><h1>{title}</h1>{body}</main></body>
</html>
"""
FORM = """<p>{what}</p><form method="post"><button>{button}</button></form><p><a href="{cancel}">Cancel</a></p>"""


class Pages:
    """GET shows the page, POST pays and redirects back."""

    def __init__(self, sessions: Sessions, after_payment: Callable[[], Awaitable[None]]) -> None:
        self.sessions = sessions
        self.after_payment = after_payment

    async def show(self, http: web.Request) -> web.Response:
        """Show what is to be paid."""
        session = self._find(http)
        if session["status"] != "open":
            return _page("Nothing to pay", f"<p>This checkout is {session['status']}.</p>", status=410)
        cancel = escape(session["cancel_url"] or "")
        what = escape(", ".join(item["description"] for item in session["_line_items"]) or "Keep a card for later")
        return _page("Checkout", FORM.format(what=what, button=_button(session), cancel=cancel))

    async def pay(self, http: web.Request) -> web.Response:
        """Pay, wait for the platform's webhook, and redirect to the platform."""
        session = self._find(http)
        with self.sessions.store.lock:
            if session["status"] == "open":
                self.sessions.pay(session)
        await self.after_payment()
        back = session["success_url"].replace("{CHECKOUT_SESSION_ID}", session["id"])
        raise web.HTTPSeeOther(back)

    def _find(self, http: web.Request) -> Json:
        object_id = http.match_info["id"]
        if not self.sessions.store.has(object_id):
            raise web.HTTPNotFound
        return self.sessions.store.any(object_id)


def _button(session: Json) -> str:
    if session["mode"] == "setup":
        return "Save card"
    cents = session["amount_total"]
    return f"Pay ${cents // 100:,}.{cents % 100:02d}"


def _page(title: str, body: str, *, status: int = 200) -> web.Response:
    text = PAGE.format(title=title, body=body)
    return web.Response(status=status, text=text, content_type="text/html")
