"""Weighted sums of a table's rows: torch's embedding bag, which reads 16 bits at memory's speed.

Called below `F.embedding_bag`, whose checks of arguments take longer than a small sum.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SUM = 0  # embedding_bag's number for a sum


def weighted_rows(table: Tensor, rows: Tensor, cuts: Tensor, weights: Tensor) -> Tensor:
    """One sum a bag: (B, N) from a table (R, N).

    Args:
        rows: which rows of the table, bag after bag, int32 (W,).
        cuts: where each bag begins in `rows`, and where the last ends, int32 (B + 1,).
        weights: of the rows, in the table's type, (W,).
    """
    return torch.embedding_bag(table, rows, cuts, False, _SUM, False, weights, True)[0]


class RowSums:
    """One row times matrices of one shape, as sums of their rows.

    Args:
        inner: rows of a strip. strips: of which a matrix consists, one after the other.
        parts: into how many a strip's columns are cut; a part is one sum.
        dtype: of the matrices.
    """

    def __init__(self, inner: int, strips: int, parts: int, dtype: torch.dtype) -> None:
        count = strips * parts
        rows = torch.arange(inner * count, dtype=torch.int32).view(strips, inner, parts)
        self._rows = rows.transpose(1, 2).reshape(-1)
        self._cuts = torch.arange(count + 1, dtype=torch.int32) * inner
        self._repeated = torch.empty(count, inner, dtype=dtype)
        self._weights = self._repeated.view(-1)

    def table(self, strips: Tensor) -> Tensor:
        """The strips (C, in, N) as what is summed up, (C · in · parts, N / parts)."""
        return strips.view(len(self._rows), -1)

    def __call__(self, table: Tensor, states: Tensor) -> Tensor:
        """From (1, in), which is rounded to the matrix's type, to (1, out)."""
        self._repeated.copy_(states)
        return weighted_rows(table, self._rows, self._cuts, self._weights).view(1, -1)
