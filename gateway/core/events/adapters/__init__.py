"""Product servers, as events are sent to them."""
