"""How each kind of backend is asked for a judgement: a module for each adapter."""
