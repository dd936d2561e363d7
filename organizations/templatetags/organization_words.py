"""Money in templates."""

from django import template

from billing.rules import amounts

register = template.Library()
register.filter("usd", amounts.usd)
