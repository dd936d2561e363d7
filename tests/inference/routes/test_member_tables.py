"""Every member that the vendor's SDK knows is passed, bounded or refused, as the table says; each row is proved by a call."""

import math
from collections.abc import Mapping
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args, get_type_hints

import pytest
from anthropic.types import MessageCreateParams
from openai.types import ImageGenerateParams
from openai.types.audio import SpeechCreateParams, TranscriptionCreateParams, TranslationCreateParams
from openai.types.chat import CompletionCreateParams
from openai.types.responses import ResponseCreateParams

from gateway.core.json.pieces import canonical
from inference.routes.images.members import IMAGE_MEMBERS
from inference.routes.images.members import VENDOR as IMAGES
from inference.routes.messages.members import VENDOR as MESSAGES
from inference.routes.speech.members import VENDOR as SPEECH
from inference.routes.transcriptions.members import TRANSCRIPTION, TRANSLATION
from inference.rules.members import REFUSED_EVERYWHERE, Treatment
from tests.inference.routes.chat_member_table import CHAT_TABLE
from tests.inference.routes.member_pages import PAGES, written
from tests.inference.routes.member_table import INPUT, LIMIT, MemberTable, assert_refused
from tests.inference.routes.message_member_table import MESSAGE_TABLE
from tests.inference.routes.response_member_table import RESPONSE_TABLE
from tests.support.stage import Stage

TABLES = {"chat": CHAT_TABLE, "messages": MESSAGE_TABLE, "responses": RESPONSE_TABLE}
VENDORS = {
    "chat": (CHAT_TABLE.vendor, CompletionCreateParams),
    "responses": (RESPONSE_TABLE.vendor, ResponseCreateParams),
    "messages": (MESSAGES, MessageCreateParams),
    "images": (IMAGES, ImageGenerateParams),
    "speech": (SPEECH, SpeechCreateParams),
    "transcriptions": (TRANSCRIPTION, TranscriptionCreateParams),
    "translations": (TRANSLATION, TranslationCreateParams),
}
EACH = pytest.mark.parametrize("table", TABLES.values(), ids=TABLES)


def values_of(name: str) -> Any:
    """Parametrize over every value that the tables have for their members."""
    rows = [
        pytest.param(table, member, value, id=f"{route}-{member}-{number}")
        for route, table in TABLES.items()
        for member, values in getattr(table, name).items()
        for number, value in enumerate(values)
    ]
    return pytest.mark.parametrize(("table", "name", "value"), rows)


@pytest.mark.parametrize(("table", "params"), VENDORS.values(), ids=VENDORS)
def test_the_table_has_every_member_of_the_sdk_and_no_other(table: Mapping[str, Any], params: Any) -> None:
    kinds = get_args(params) or (params,)
    assert set(table) == {name for kind in kinds for name in get_type_hints(kind)}


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_page_has_the_same_tables(path: Path) -> None:
    assert path.read_text() == written(path), "run python -m tests.inference.routes.member_pages"


def test_what_is_refused_everywhere_is_refused_for_images_unless_the_vendor_has_it() -> None:
    for name in REFUSED_EVERYWHERE.keys() - IMAGES.keys():
        assert IMAGE_MEMBERS[name].treatment is Treatment.REFUSED


@EACH
def test_every_row_of_the_table_is_proved_below(table: MemberTable) -> None:
    assert table.names_of(Treatment.PASSED) == set(table.passed)
    assert table.names_of(Treatment.REFUSED) == set(table.refused)
    assert table.names_of(Treatment.BOUNDED) == set(table.bounded) | table.elsewhere


@pytest.mark.parametrize(
    ("table", "name"),
    [pytest.param(table, name, id=f"{route}-{name}") for route, table in TABLES.items() for name in table.passed],
)
def test_a_passed_member_reaches_the_upstream_as_it_came(stage: Stage, table: MemberTable, name: str) -> None:
    needed = {"stream": True} if name == "stream_options" else {}
    _, answer, _ = table.ask(stage, **needed, **{name: table.passed[name]})
    assert answer.status_code == 200, answer.text
    assert stage.upstream.ledger.entries[0].body[name] == table.passed[name]


@values_of("refused")
def test_a_refused_member_is_named_and_costs_nothing(stage: Stage, table: MemberTable, name: str, value: Any) -> None:
    caller, answer, _ = table.ask(stage, **{name: value})
    assert_refused(stage, caller, answer, name)


@values_of("allowed")
def test_a_refused_member_passes_with_a_value_that_changes_nothing(
    stage: Stage, table: MemberTable, name: str, value: Any
) -> None:
    _, answer, _ = table.ask(stage, **{name: value})
    assert answer.status_code == 200
    assert stage.upstream.ledger.entries[0].body[name] == value


@values_of("bounded")
def test_a_bounded_member_is_in_the_hold_and_passed(
    stage: Stage, table: MemberTable, name: str, value: tuple[dict[str, Any], int, Decimal]
) -> None:
    members, output_tokens, price = value
    caller, answer, body = table.ask(stage, table.price, **members)
    assert answer.status_code == 200, answer.text
    hold = math.ceil(len(canonical(body)) * INPUT + output_tokens * price)
    assert caller.only_call.hold_microusd == hold
    assert int(answer.headers["x-service-hold-microusd"]) == hold
    sent = stage.upstream.ledger.entries[0].body
    assert {member: sent[member] for member in members} == members


@EACH
def test_the_model_selects_the_price_and_is_replaced_by_the_deployments_own(stage: Stage, table: MemberTable) -> None:
    caller, answer, body = table.ask(stage, {"input_token": "3", "output_token": "14"})
    assert answer.json()["model"] == body["model"]
    assert caller.only_call.hold_microusd == 3 * len(canonical(body)) + 14 * LIMIT
    assert stage.upstream.ledger.entries[0].body["model"] == "small-1"
