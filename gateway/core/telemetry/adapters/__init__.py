"""Outside systems that are told what was observed."""
