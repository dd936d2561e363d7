"""Shared parts of the console's pages: tables, columns, dialogs, filters and form fields."""

from gateway.core.console.columns import links, money, quantity
from gateway.core.console.dialogs import dialog, may_act
from gateway.core.console.dollars import DollarsField
from gateway.core.console.fields import LinesField, ReadableJSONField, SecretField
from gateway.core.console.filters import WordFilter
from gateway.core.console.option_fields import OptionsForm, PairsField
from gateway.core.console.party_columns import PartyColumn
from gateway.core.console.read_only import ReadOnlyAdmin, ReadOnlyInline
from gateway.core.console.reasons import ListReasonForm, ReasonField, ReasonForm, reason_of
from gateway.core.console.row_forms import RowForm
from gateway.core.console.single_rows import SingleRowAdmin
from gateway.core.console.tables import ConsoleAdmin

__all__ = [
    "ConsoleAdmin",
    "DollarsField",
    "LinesField",
    "ListReasonForm",
    "OptionsForm",
    "PairsField",
    "PartyColumn",
    "ReadOnlyAdmin",
    "ReadOnlyInline",
    "ReadableJSONField",
    "ReasonField",
    "ReasonForm",
    "RowForm",
    "SecretField",
    "SingleRowAdmin",
    "WordFilter",
    "dialog",
    "links",
    "may_act",
    "money",
    "quantity",
    "reason_of",
]
