"""Pure decisions and arithmetic of billing: no Django, no clock, no I/O."""
