"""Renders jinja2 chat templates as Hugging Face does, but in a sandbox: a model file is data.

It knows messages and text, and not what the text is for.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, NoReturn

import jinja2
from jinja2.ext import loopcontrols
from jinja2.sandbox import ImmutableSandboxedEnvironment

Message = tuple[str, str]
_LONGEST_SOURCE = 1 << 18
_LARGEST_FACTOR = 1 << 12
# A fixed day: a date that changes would make every cached system prompt stale overnight.
_DAY = "26 Jul 2024"
_GENERATION = re.compile(r"(\{%[-+]?\s*)(end)?generation(\s*[-+]?%\})")


class TemplateFailed(Exception):
    """The template has an error, or refuses the messages."""


class _Sandbox(ImmutableSandboxedEnvironment):
    """Without the operators that turn a short template into a huge text or number."""

    intercepted_binops = frozenset({"*", "**", "%"})

    def call_binop(
        self, context: jinja2.runtime.Context, operator: str, left: Any, right: Any
    ) -> Any:
        whole = isinstance(left, int) and isinstance(right, int)
        small = whole and abs(left) <= _LARGEST_FACTOR and abs(right) <= _LARGEST_FACTOR
        if operator == "**" or (operator == "*" and not small) or (operator == "%" and not whole):
            raise jinja2.exceptions.SecurityError(f"the operator {operator} is not allowed here")
        return super().call_binop(context, operator, left, right)


class TemplateEngine:
    """One compiled template. Raises TemplateFailed if it doesn't compile."""

    def __init__(self, source: str, bos: str, eos: str) -> None:
        if len(source) > _LONGEST_SOURCE:
            raise TemplateFailed(f"it is longer than {_LONGEST_SOURCE} characters")
        environment = _Sandbox(trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols])
        environment.filters["tojson"] = _to_json
        environment.globals["raise_exception"] = _refuse
        self._fixed = {"bos_token": bos, "eos_token": eos, "enable_thinking": False}
        try:
            self._template = environment.from_string(_GENERATION.sub(_as_if, source))
        except (jinja2.TemplateError, RecursionError) as error:
            raise TemplateFailed(_reason(error)) from error

    def render(self, messages: Sequence[Message], *, prompt: bool = False) -> str:
        """The messages' text; with `prompt`, followed by what opens an answer.

        Raises:
            TemplateFailed: the template refuses them (an unknown role, say), or has an error.
        """
        given = [{"role": role, "content": text} for role, text in messages]
        try:
            try:
                return self._run(given, prompt)
            except jinja2.UndefinedError:
                # Most templates write no date where they can't ask for one; some insist.
                return self._run(given, prompt, strftime_now=lambda form: _DAY)
        except (
            jinja2.TemplateError,
            TypeError,
            ValueError,
            LookupError,
            AttributeError,
            ArithmeticError,
            RecursionError,
        ) as error:
            raise TemplateFailed(_reason(error)) from error

    def _run(self, messages: list[dict[str, str]], prompt: bool, **more: object) -> str:
        return self._template.render(
            messages=messages, add_generation_prompt=prompt, **self._fixed, **more
        )


def _as_if(match: re.Match[str]) -> str:
    """Hugging Face's own {% generation %} blocks mark text and change nothing."""
    opening, end, closing = match.groups()
    return f"{opening}{'endif' if end else 'if true'}{closing}"


def _refuse(message: str) -> NoReturn:
    raise jinja2.TemplateError(message)


def _to_json(value: object, indent: int | None = None) -> str:
    return json.dumps(value, ensure_ascii=False, indent=indent)


def _reason(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0][:200] if lines else type(error).__name__
