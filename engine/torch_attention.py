"""Attention over the workspace: for the rows of a block, or for one token.

Query heads that share a key head are folded together, so grouped-query attention needs neither
repeated keys nor a kernel that knows about groups. Masks are built once a forward, not once a
layer, and only where something is to be hidden.
Shapes: T tokens, H query heads, K key heads, G = H / K, D head size, P rows of a block, S visible
slots.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as F  # noqa: N812
from torch import Tensor

from engine.torch_cells import Cells
from engine.torch_config import DecoderConfig
from engine.torch_flash import two_part_attention
from engine.torch_workspace import Workspace

_MANY_SLOTS = 1024  # before a block: from here on it is computed in two parts


@dataclass(slots=True)
class _View:
    """What one layer reads: keys and values (K, S, D), and what is added to its scores (T, S)."""

    keys: Tensor
    values: Tensor
    mask: Tensor | None


def _views(
    config: DecoderConfig, workspace: Workspace, spans: Sequence[tuple[slice, Tensor | None]]
) -> list[_View]:
    """Each layer's view; the last span is that of the local layers, the first of the others."""
    found = [
        [_View(*pair, mask) for pair in zip(*workspace.sources(slots), strict=True)]
        for slots, mask in spans
    ]
    return [found[-1 if config.is_local(at) else 0][at] for at in range(config.layers)]


class BlockAttention:
    """Attention for the P rows of one block, of which `rows` are new.

    All P rows are computed whatever the range: the same position is then always computed in the
    same row of the same shapes, and a prompt read in pieces gives the bits of one read whole. The
    other rows' results are dropped; their keys and values aren't written.

    Args:
        number: which of the entries of `cells`; those before it are seen.
        dtype: in which it is computed.
    """

    def __init__(
        self,
        config: DecoderConfig,
        workspace: Workspace,
        cells: Cells,
        number: int,
        rows: slice,
        dtype: torch.dtype,
    ) -> None:
        self._config, self._workspace, self._dtype = config, workspace, dtype
        self._rows, size = rows, workspace.block
        slot, first = number * size, cells.entries[number].index * size
        self._targets = workspace.targets(slice(slot + rows.start, slot + rows.stop))
        self.positions = torch.arange(first, first + size, device=workspace.device)  # (P,)
        in_parts = workspace.device.type == "cpu" and slot >= _MANY_SLOTS and not cells.has_holes
        everything: tuple[slice, Tensor | None] = (slice(0, slot + size), None)
        spans = [everything if in_parts else self._span(slot, 0, 0)]
        if any(config.local_layers):
            oldest = first - config.sliding_window + 1  # that the block's first row sees
            earlier = cells.entries[:number]
            skipped = sum((entry.index + 1) * size <= oldest for entry in earlier)
            spans.append(self._span(slot, skipped * size, config.sliding_window))
        self._views = _views(config, workspace, spans)

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (P, H, D), (P, K, D), (P, K, D) to (P, H D)."""
        return self.mixed(layer, queries, keys, values).flatten(1)

    def mixed(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """The same as (P, K, G, D), which may not lie so in memory."""
        config, view = self._config, self._views[layer]
        self._workspace.write(self._targets[layer], keys[self._rows], values[self._rows])
        groups, size = config.heads // config.kv_heads, config.head_dim
        folded = queries.view(-1, config.kv_heads, groups, size).permute(1, 2, 0, 3)
        all_keys, all_values = view.keys.to(self._dtype), view.values.to(self._dtype)
        if view.mask is None:  # nothing is hidden but what comes later in the block itself
            mixed = two_part_attention(folded, all_keys, all_values, config.scale)
        else:
            mixed = F.scaled_dot_product_attention(  # (K, G, P, D)
                folded,
                all_keys[:, None].expand(-1, groups, -1, size),
                all_values[:, None].expand(-1, groups, -1, size),
                attn_mask=view.mask,
                scale=config.scale,
            )
        return mixed.permute(2, 0, 1, 3)

    def _span(self, slot: int, oldest: int, window: int) -> tuple[slice, Tensor]:
        """The slots from `oldest` to the block's end, and the mask (P, S)."""
        slots = slice(oldest, slot + self._workspace.block)
        seen, own = self._workspace.positions[slots], self.positions[:, None]
        visible = seen <= own  # (P, S)
        if window:
            visible &= seen > own - window
        # A row that isn't computed may see nothing at all; its own slot keeps it a number.
        visible[:, slot - oldest :].diagonal().fill_(True)
        mask = torch.zeros(visible.shape, dtype=self._dtype, device=visible.device)
        return slots, mask.masked_fill_(~visible, float("-inf"))


class BlockwiseAttention:
    """Attention for several blocks, each by itself: with the bits of one read after the other."""

    def __init__(self, blocks: Sequence[BlockAttention]) -> None:
        self._blocks = blocks
        self.positions = torch.cat([block.positions for block in blocks])  # (T,)

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (T, H, D), (T, K, D), (T, K, D) to (T, H D)."""
        size = len(queries) // len(self._blocks)
        result = queries.new_empty(len(queries), queries[0].numel())  # (T, H D)
        for number, block in enumerate(self._blocks):
            rows = slice(number * size, (number + 1) * size)
            mixed = block.mixed(layer, queries[rows], keys[rows], values[rows])
            result[rows].view(mixed.shape).copy_(mixed)
        return result


class TokenAttention:
    """Attention for one token, the newest: exactly the cells it sees, without padding."""

    def __init__(self, config: DecoderConfig, workspace: Workspace, cells: Cells, row: int) -> None:
        self._config, self._workspace = config, workspace
        self._groups = config.heads // config.kv_heads
        size = workspace.block
        slot = (len(cells.entries) - 1) * size + row
        position = cells.entries[-1].index * size + row
        self._targets = workspace.targets(slice(slot, slot + 1))
        self.positions = torch.tensor([position], device=workspace.device)  # (1,)
        spans = [self._span(cells, 0, slot + 1)]
        if any(config.local_layers):
            oldest = first_slot(cells, position - config.sliding_window + 1, size)
            spans.append(self._span(cells, oldest, slot + 1))
        self._views = _views(config, workspace, spans)

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (1, H, D), (1, K, D), (1, K, D) to (1, H D)."""
        config, view = self._config, self._views[layer]
        self._workspace.write(self._targets[layer], keys, values)
        mixed = F.scaled_dot_product_attention(  # (1, K, G, D)
            queries.view(1, config.kv_heads, self._groups, config.head_dim),
            view.keys[None],
            view.values[None],
            attn_mask=view.mask,
            scale=config.scale,
        )
        return mixed.flatten(1)

    def _span(self, cells: Cells, oldest: int, stop: int) -> tuple[slice, Tensor | None]:
        mask = hole_mask(self._workspace, cells, oldest, stop, self.positions)
        if mask is not None:
            mask = mask.to(self._workspace.dtype).expand(self._groups, -1)
        return slice(oldest, stop), mask


def hole_mask(
    workspace: Workspace, cells: Cells, oldest: int, stop: int, position: Tensor
) -> Tensor | None:
    """What hides removed cells among these slots, fp32 (S,); None where there are none."""
    if not cells.has_holes:
        return None
    absent = workspace.positions[oldest:stop] > position  # (S,)
    mask = torch.zeros(absent.shape, device=absent.device)
    return mask.masked_fill_(absent, float("-inf"))


def first_slot(cells: Cells, position: int, size: int) -> int:
    """The first slot whose position is at least `position`."""
    for number, entry in enumerate(cells.entries):
        if (entry.index + 1) * size > position:
            return number * size + max(0, position - entry.index * size)
    return len(cells.entries) * size
