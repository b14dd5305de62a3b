"""Everything that is measured against questions with known answers: `make evaluate`."""

from __future__ import annotations

import importlib.util

from tests.evaluation import search


def main() -> None:
    print(search.measure(halves=True))
    if importlib.util.find_spec("tests.evaluation.ask"):
        importlib.import_module("tests.evaluation.ask").main()


if __name__ == "__main__":
    main()
