"""Everything that is measured against questions with known answers: `make evaluate`."""

from __future__ import annotations

from tests.evaluation import search, turns


def main() -> None:
    print(search.measure(halves=True))
    print(turns.measure())


if __name__ == "__main__":
    main()
