"""The foundation of the apps, independent of all of them. `gateway` itself assembles the apps."""
