"""Pure decisions on proofs, tokens and assertions: no Django, no clock, no I/O."""
