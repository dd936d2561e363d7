"""Recognizes events that differ from an earlier one of their stream only by their text, and writes them without parsing them.

Nearly all events of a stream repeat the one before, except for the words that they carry, their number and their padding. A
template finds these values by comparing bytes, and puts them into what was written for the earlier event.

Why that is exact: a template is made of an event by putting values that nobody can foresee in the places of these, and is kept
only if what is parsed then is the same event with exactly these values. So each place is the whole inside of one string, or one
number. Whatever it matches later is the inside of a string or a number too (RFC 8259 sections 6 and 7: of a string, valid UTF-8
without quotes, backslashes and control characters), so parsing it could only give the same event with that value. Every other
event is parsed.
"""

from inference.adapters.templates.forms import CHAT, RESPONSES, Form
from inference.adapters.templates.stream import Templates
from inference.adapters.templates.template import Run

__all__ = ["CHAT", "RESPONSES", "Form", "Run", "Templates"]
