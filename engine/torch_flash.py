"""Attention of a block in two parts, past and own, each without a mask.

torch's kernel for processors knows no mask that is causal from an offset on: with a mask of all
slots it reads a number for every score and computes those that are hidden. But where nothing is
missing, a block sees everything before it and itself causally, and the kernel has both. The parts
are joined by the logarithms of their sums of weights (Milakov and Gimelshein 2018), which the
public function drops; so it is called below.
Shapes: K key heads, G query heads of each, P rows, S slots before the block, D head size.
"""

from __future__ import annotations

import torch
from torch import Tensor

_kernel = torch.ops.aten._scaled_dot_product_flash_attention_for_cpu


def two_part_attention(queries: Tensor, keys: Tensor, values: Tensor, scale: float) -> Tensor:
    """Each row sees the S slots and its block up to itself.

    Args:
        queries: (K, G, P, D). keys, values: (K, S + P, D) with S > 0.

    Returns:
        The mixed values (K, G, P, D), in the type of the queries.
    """
    heads, groups, rows, size = queries.shape
    slots = keys.shape[1] - rows
    # The heads of a group are rows of one: the past is read once for all of them.
    folded = queries.reshape(1, heads, groups * rows, size)
    past, past_sums = _kernel(folded, keys[None, :, :slots], values[None, :, :slots], scale=scale)
    shape = (-1, groups, -1, size)
    own, own_sums = _kernel(
        queries,
        keys[:, None, slots:].expand(shape),
        values[:, None, slots:].expand(shape),
        is_causal=True,
        scale=scale,
    )
    share = torch.sigmoid(past_sums.view(own_sums.shape) - own_sums)[..., None]
    return torch.lerp(own, past.view(queries.shape), share.to(own.dtype))
