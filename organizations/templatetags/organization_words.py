"""Money in templates."""

from django import template

from organizations.portal import words

register = template.Library()
register.filter("usd", words.usd)
