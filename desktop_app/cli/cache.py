"""`clausebook cache list|show|clear|verify`: what is kept of conversations, without a model."""

from __future__ import annotations

import argparse
import dataclasses
import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from desktop_app.cli import output, parser

if TYPE_CHECKING:
    from engine.cache_inspection import KeptCache


def register(commands: parser.Commands) -> None:
    """Adds the command and its verbs."""
    command = parser.add_command(
        commands, "cache", show_all, help="list, show, verify or clear what is kept on disk"
    )
    command.set_defaults(json=False)
    verbs = command.add_subparsers(metavar="VERB")
    for verb, run, text in (
        ("list", show_all, "conversations and their caches"),
        ("show", show, "one conversation, turn by turn"),
        ("verify", verify, "read every cache file and say which are damaged"),
        ("clear", clear, "remove keys and values; the conversations stay"),
    ):
        one = parser.add_command(verbs, verb, run, help=text)
        one.add_argument("--json", action="store_true", help="print JSON")
        if verb == "show":
            one.add_argument("conversation", metavar="ID")
        elif verb != "list":
            one.add_argument("conversation", metavar="ID", nargs="*", help="default: all")


def show_all(arguments: argparse.Namespace) -> int:
    """Lists conversations and shared beginnings."""
    from engine.cache_inspection import list_caches

    caches = list_caches(_root(arguments))
    if arguments.json:
        output.json_value([dataclasses.asdict(one) for one in caches])
        return 0
    if not caches:
        print("Nothing is kept.")
        return 0
    print(f"{'last used':<16}  {'turns':>5}  {'tokens':>7}  {'cached':>7}  {'on disk':>9}  id")
    for one in caches:
        print(_line(one))
    total = sum(one.cache_bytes + one.words_bytes + one.aside_bytes for one in caches)
    print(f"\n{len(caches)} entries, {_size(total)} on disk")
    return 0


def show(arguments: argparse.Namespace) -> int:
    """Shows one conversation."""
    from engine.cache_inspection import show_cache

    details = show_cache(_root(arguments), arguments.conversation)
    if arguments.json:
        output.json_value(dataclasses.asdict(details))
        return 0
    one = details.cache
    print(f"{one.conversation}: {one.turns} turns, {one.tokens:,} tokens")
    print(f"  model      {one.model[:16]}")
    print(f"  made with  {one.layout or 'nothing is cached'}")
    print(f"  cached     {one.cached_tokens:,} tokens, {one.exact_tokens:,} of them exact")
    print(f"  on disk    {_size(one.words_bytes)} of words, {_size(one.cache_bytes)} of cache")
    if one.key:
        print(f"  builds on  {one.key}")
    if one.problem:
        print(f"  ! {one.problem}; it will be read again")
    for turn in details.turns:
        seen = "in view" if turn.in_window else "out of view"
        print(f"  turn {turn.index + 1:>3}  {turn.tokens:>6,} tokens  {seen}")
    return 0


def verify(arguments: argparse.Namespace) -> int:
    """Checks cache files: 0 if all are good."""
    from desktop_app.cli.main import FAILED
    from engine.cache_inspection import verify_caches

    found = list(verify_caches(_root(arguments), arguments.conversation))
    bad = [(name, problem) for name, problem in found if problem]
    if arguments.json:
        output.json_value([{"conversation": name, "problem": text} for name, text in found])
    else:
        for name, problem in bad:
            print(f"! {name}: {problem}; it will be set aside and read again")
        print(f"{len(found) - len(bad)} of {len(found)} caches are good.")
    return FAILED if bad else 0


def clear(arguments: argparse.Namespace) -> int:
    """Removes caches: 0 if none was in use."""
    from desktop_app.cli.main import FAILED
    from engine.cache_inspection import clear_caches

    freed, busy = clear_caches(_root(arguments), arguments.conversation)
    if arguments.json:
        output.json_value({"freed_bytes": freed, "in_use": busy})
    else:
        print(f"Freed {_size(freed)}; the conversations will be read again when they go on.")
        for name in busy:
            print(f"! {name} is open in Clausebook; close it there first.")
    return FAILED if busy else 0


def _root(arguments: argparse.Namespace) -> Path:
    from desktop_app import paths
    from desktop_app.cli.main import compose

    return paths.conversations_folder(compose(arguments).library_folder)


def _line(one: KeptCache) -> str:
    used = datetime.datetime.fromtimestamp(one.last_used).strftime("%Y-%m-%d %H:%M")
    size = _size(one.cache_bytes + one.words_bytes + one.aside_bytes)
    name = one.conversation or f"(shared by {one.users}) {one.key}"
    turns = f"{one.turns:,}" if one.conversation else ""
    tokens = f"{one.tokens:,}" if one.conversation else ""
    mark = " (in use)" if one.in_use else ""
    problem = f"  ! {one.problem}" if one.problem else ""
    cached = f"{one.cached_tokens:,}"
    return f"{used:<16}  {turns:>5}  {tokens:>7}  {cached:>7}  {size:>9}  {name}{mark}{problem}"


def _size(count: int) -> str:
    return f"{count / 1e6:,.1f} MB" if count >= 100_000 else f"{count / 1e3:,.1f} kB"
