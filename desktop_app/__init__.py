"""The Clausebook application: window, command line, settings; wires `rag` to `engine`."""

__version__ = "0.1.0"
