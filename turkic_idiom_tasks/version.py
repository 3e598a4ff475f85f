"""Version of the distribution; a module of its own, because the package imports its plugins, which state it."""

__version__ = "0.1.0"
