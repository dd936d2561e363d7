"""The foundation of the apps, which knows none of them. `gateway` itself assembles the apps."""
