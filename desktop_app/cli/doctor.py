"""`clausebook doctor`: what was found, and what to do about what is missing."""

from __future__ import annotations

import argparse

from desktop_app.cli import output, parser


def register(commands: parser.Commands) -> None:
    """Adds the command."""
    command = parser.add_command(
        commands, "doctor", run, help="what was found: devices, models, folders; and what to do"
    )
    command.add_argument("--json", action="store_true", help="print JSON")
    command.add_argument(
        "--self-test", action="store_true", help="also try every part once (takes a few seconds)"
    )


def run(arguments: argparse.Namespace) -> int:
    """Runs the command: 0 if nothing is wrong."""
    from desktop_app import doctor
    from desktop_app.cli.main import FAILED, compose

    findings = doctor.examine(compose(arguments), self_test=arguments.self_test)
    if arguments.json:
        output.json_value(doctor.plain(findings))
    else:
        for section in findings.sections:
            print(f"{section.title}")
            for line in section.lines:
                print(f"  {'!' if line.problem else ' '} {line.name:<22} {line.value}")
                if line.todo:
                    print(f"      -> {line.todo}")
        print("\nSomething needs attention." if findings.problems else "\nEverything is in order.")
    return FAILED if findings.problems else 0
