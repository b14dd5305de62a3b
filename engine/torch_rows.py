"""Weighted sums of a table's rows: torch's embedding bag, which reads 16 bits at memory's speed.

Called below `F.embedding_bag`, whose checks of arguments take longer than a small sum.
"""

from __future__ import annotations

import torch
from torch import Tensor

_SUM = 0  # embedding_bag's number for a sum


def weighted_rows(table: Tensor, rows: Tensor, starts: Tensor, weights: Tensor) -> Tensor:
    """One sum a bag: (B, N) from a table (R, N).

    Args:
        rows: which rows of the table, bag after bag, int32 (W,).
        starts: where each bag begins in `rows`, int32 (B,).
        weights: of the rows, in the table's type, (W,).
    """
    return torch.embedding_bag(table, rows, starts, False, _SUM, False, weights, False)[0]
