"""Outside systems that events are sent through."""
