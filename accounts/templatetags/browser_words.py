"""Template filter that describes browsers."""

from django import template

from accounts.rules.user_agents import named

register = template.Library()
register.filter("browser_name", named)
