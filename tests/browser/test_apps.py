"""A person gives an app a budget on the consent page, sees it used under Apps, and lowers it until the app is refused."""

import re

from playwright.sync_api import expect

from tests.browser.person import Person


def test_a_person_limits_an_app_and_changes_it(person: Person) -> None:
    page, origin = person.page, person.gateway.app_origin
    person.register()
    person.begin_at_the_app()
    page.get_by_label("Monthly budget").fill("0.5")
    person.allow()
    person.ask()
    [budget] = person.as_the_app("return gateway.budgets();")
    assert (budget["clientId"], budget["period"], budget["limitMicrousd"]) == (origin, "month", 500_000)
    assert budget["spentMicrousd"] > 0
    page.goto(f"{person.gateway.base_url}/apps")
    row = page.get_by_role("row", name=origin)
    expect(row).to_contain_text("$0.50")
    expect(row).to_contain_text(re.compile(r"\d+% used"))
    page.get_by_label("App", exact=True).select_option(origin)
    page.get_by_label("Period").select_option("day")
    page.get_by_label("Limit in US dollars").fill("0.000001")
    page.get_by_role("button", name="Set budget").click()
    expect(page.get_by_role("status")).to_contain_text("The budget was set.")
    assert _refusal(person) == "budget_exceeded"
    page.get_by_role("button", name="Turn off the budget of $0.000001 a day").click()
    expect(page.get_by_role("status")).to_contain_text("The budget was turned off.")
    off = page.get_by_role("row").filter(has=page.get_by_text("Off", exact=True))
    expect(off).to_contain_text("Day")
    assert _refusal(person) is None


def test_the_consent_page_shows_the_budget_and_keeps_it(person: Person) -> None:
    page = person.page
    person.register()
    person.begin_at_the_app()
    page.get_by_label("Monthly budget").fill("2")
    person.allow()
    person.window.expect("status of 401")
    person.as_the_app("await gateway.signOut();")
    person.begin_at_the_app()
    expect(page.get_by_role("main")).to_contain_text(
        "Your budget for this app is $2.00 a month, of which $0.00 is used."
    )
    person.allow()
    assert [one["limitMicrousd"] for one in person.as_the_app("return gateway.budgets();")] == [2_000_000]


def _refusal(person: Person) -> str | None:
    """Have the app call in a page of its own; return the code of the refusal, or None for an answer."""
    other = person.window.page()
    other.goto(person.gateway.app_url)
    act = """
    try { await gateway.chat({ model: "fast", messages: [{ role: "user", content: "Hello" }] }, { maxCostMicrousd: 20000 }); }
    catch (error) { return error.code; }
    """
    person.window.expect("status of 402")
    code = person.as_the_app(act, other)
    other.close()
    return None if code is None else str(code)
