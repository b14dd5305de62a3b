"""The Clausebook application: window, command line, settings and the wiring of `rag` to `engine`."""

__version__ = "0.1.0"
