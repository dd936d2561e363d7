"""Money in templates."""

from django import template

from gateway.core.contract.amounts import usd

register = template.Library()
register.filter("usd", usd)
