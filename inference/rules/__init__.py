"""Pure decisions and arithmetic of metered calls: no Django, no clock, no I/O."""
