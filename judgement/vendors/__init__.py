"""How each kind of backend is called: a module for each adapter."""
