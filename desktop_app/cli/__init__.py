"""The command line: the same program without the window.

Each command is a module here with `register(commands)` and `run(arguments) -> exit code`; its name
stands in `parser.COMMANDS`. Heavy parts are imported inside `run` only.
"""
