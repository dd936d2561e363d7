"""Template filter that describes browsers."""

from django import template

from accounts.rules.user_agents import browser_name

register = template.Library()
register.filter("browser_name", browser_name)
