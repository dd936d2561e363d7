"""How mails look: every template, with ordinary and with hostile names."""

import re
from email import message_from_bytes, policy
from html.parser import HTMLParser
from typing import Any

import pytest
from django.template import Context, Template
from pytest_django import Settings

from gateway.core.events.queries.mail_messages import message_of, service, subject_of
from gateway.core.events.rules.mail_kinds import KINDS
from gateway.core.events.rules.mail_names import NAME_MAX_CHARACTERS, SUBJECT_MAX_CHARACTERS, shown_name
from gateway.run.options import PROJECT_DIR
from tests.events.mail_samples import SAMPLES, sample

HOSTILE = {
    "markup": '<b onmouseover="alert(1)">Acme</b><script>alert(1)</script>&amp;"\'',
    "header": "Acme\r\nBcc: victim@example.com\r\n\r\nBody",
    "long": "A" * 10_000,
    "right to left": "\u202egnp.exe\u2066 שלום עולם",
    "separators": "Acme\u2028\u2029\u0085\x00\x1b[31m",
    "template": "{{ settings.SECRET_KEY }}{% debug %}",
    "link": "Win at https://evil.example/login or www.evil.example or a@evil.example",
}
LINK = re.compile(r"https?://[^\s<>\"')]+")
REMOTE = ("src", "background", "srcset", "poster", "data")
TEMPLATES = {path.stem for path in (PROJECT_DIR / "templates/mail").glob("*.html")} - {"layout"}


class Seen(HTMLParser):
    """What is in a mail's HTML: tags, links, and what would be loaded."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.texts: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.links += [value or "" for name, value in attrs if name == "href"]
        self.loaded += [value or "" for name, value in attrs if name in REMOTE or name.startswith("on")]

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] != ["style"]:
            self.texts.append(data)

    @property
    def text(self) -> str:
        return " ".join(" ".join(self.texts).split())


def wire(template: str, **names: Any) -> Any:
    """Return a mail as its reader parses it."""
    return message_from_bytes(message_of(sample(template, **names)).message().as_bytes(), policy=policy.SMTP)


def header(message: Any, name: str) -> str:
    """Return a header's value without the space of a folded line."""
    return str(message[name]).strip()


def parts(template: str, **names: Any) -> tuple[str, Seen]:
    message = wire(template, **names)
    text, html = message.iter_parts()
    assert (text.get_content_type(), html.get_content_type()) == ("text/plain", "text/html")
    return text.get_content(), Seen(html.get_content())


def test_every_template_has_a_sample_of_a_known_kind() -> None:
    assert set(SAMPLES) == TEMPLATES
    assert {kind for kind, _ in SAMPLES.values()} <= set(KINDS)


@pytest.mark.parametrize("template", sorted(SAMPLES))
def test_text_and_html_say_the_same(template: str) -> None:
    text, html = parts(template)
    assert "{" not in text
    assert "{%" not in html.text
    assert "Hello Alice," in text
    assert "Account Gateway sent this to alice@example.com." in " ".join(text.split())
    assert set(re.findall(r"\w+", LINK.sub("", text))) <= set(re.findall(r"\w+", html.text))
    assert max(len(line) for line in text.splitlines() if "://" not in line) <= 78


@pytest.mark.parametrize("template", sorted(SAMPLES))
def test_html_loads_nothing_and_links_only_to_the_portal(template: str) -> None:
    text, html = parts(template)
    assert html.loaded == []
    assert not {"img", "script", "link", "iframe", "form", "object", "base"} & set(html.tags)
    assert all(link.startswith("https://gateway.example/") for link in [*html.links, *LINK.findall(text)])
    assert sorted(set(html.links)) == sorted(set(LINK.findall(text)))


@pytest.mark.parametrize("name", HOSTILE.values(), ids=HOSTILE.keys())
@pytest.mark.parametrize("template", sorted(SAMPLES))
def test_a_hostile_name_is_a_name(template: str, name: str) -> None:
    plain, message = wire(template), wire(template, hostile=name)
    assert message.keys() == plain.keys()
    assert message["To"] == "alice@example.com"
    assert len(header(message, "Subject")) <= SUBJECT_MAX_CHARACTERS
    text, html = parts(template, hostile=name)
    assert html.tags == parts(template)[1].tags
    assert html.loaded == []
    for shown in (text, html.text, message["Subject"]):
        assert not re.search("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u202a-\u202e\u2028\u2029]", shown)
        assert "SECRET_KEY" not in shown or "{{" in shown
        assert "evil.example" not in shown, "a mail program would make a link of it"
    assert all(link.startswith("https://gateway.example/") for link in [*html.links, *LINK.findall(text)])


def test_a_name_is_one_line_of_a_bounded_length() -> None:
    assert shown_name("  Acme \r\n Research\t") == "Acme Research"
    assert shown_name("A" * 100) == "A" * (NAME_MAX_CHARACTERS - 1) + "…"
    assert shown_name("שלם") == "\u2068שלם\u2069", "isolated from the text around it"
    assert shown_name("St. Mary & Co. (a.b)") == "St. Mary & Co. (a.\u2060b)"


def test_a_kind_that_can_be_turned_off_says_how_in_its_headers() -> None:
    message = wire("wallet_low")
    url = header(message, "List-Unsubscribe")
    assert re.fullmatch(r"<https://gateway\.example/mail/unsubscribe/[\w.:-]+>", url)
    assert message["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert url.strip("<>") in parts("wallet_low")[1].links


@pytest.mark.parametrize("template", sorted(one for one in SAMPLES if not KINDS[SAMPLES[one][0]].can_unsubscribe))
def test_a_kind_that_cannot_be_turned_off_offers_nothing(template: str) -> None:
    message = wire(template)
    assert message["List-Unsubscribe"] is None
    assert "cannot be turned off" in parts(template)[0]


def test_one_step_needs_https(settings: Settings) -> None:
    settings.PORTAL_URL = "http://127.0.0.1:8000"
    message = wire("wallet_low")
    assert header(message, "List-Unsubscribe").startswith("<http://127.0.0.1:8000/mail/unsubscribe/")
    assert message["List-Unsubscribe-Post"] is None


def test_headers_are_those_of_an_automatic_mail_with_its_own_id(settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "Example Service <no-reply@mail.example>"
    message = wire("wallet_low")
    assert message["From"] == "Example Service <no-reply@mail.example>"
    assert message["Message-ID"] == "<evt_1.7@mail.example>"
    assert message["Auto-Submitted"] == "auto-generated"
    assert "at Example Service" in parts("wallet_low")[0]


def test_the_service_has_a_name_without_one_in_its_address(settings: Settings) -> None:
    settings.DEFAULT_FROM_EMAIL = "no-reply@mail.example"
    assert service() == "Account Gateway"


@pytest.mark.parametrize(
    "path", ["https://evil.example/", "//evil.example", "/\\evil.example", "javascript:alert(1)", ""]
)
def test_a_button_leads_only_to_the_portal(path: str) -> None:
    with pytest.raises(ValueError, match="only to the portal"):
        Template("{% load mail %}{% button 'Go' path %}").render(Context({"path": path}))


def test_a_subject_is_one_line() -> None:
    context = {"owner_name": "Acme\r\nBcc: a@b.example", "available": "$1.00\r\nX: y"}
    assert subject_of("wallet_low", context) == "$1.00 X: y left in the wallet of Acme Bcc: a@\u2060b.\u2060example"
