"""One token's attention on a CPU as sums of table rows by weight.

Scores are a weighted sum of rows of the keys, turned so that a row is a channel; the answer is a
weighted sum of rows of the values. torch's embedding bag is such a sum; it reads 16-bit tables at
the memory's speed and shares a table among the query heads of a group, where the general kernel,
made for many queries, takes twice as long. Its plain twin is `TokenAttention`.

Bags are what threads share, and nine heads are five to one thread and four to the other: over many
slots a head's values are therefore two bags, which are added.

Scores come back in fp16: queries are scaled before, and ten bits of mantissa lose less than
rounding the queries to bf16 does.
Shapes: H query heads, K key heads, G = H / K, D head size, C tiles of T slots, S visible slots.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from torch import Tensor

from engine.torch_attention import first_slot, hole_mask
from engine.torch_cells import Cells
from engine.torch_config import DecoderConfig
from engine.torch_rows import weighted_rows
from engine.torch_workspace import Workspace

_MANY_SLOTS = 512  # from here on a bag of values is cut in two


class BagIndices:
    """Which rows of the tables belong to which bag; made once for a workspace."""

    def __init__(self, config: DecoderConfig, workspace: Workspace) -> None:
        keys, groups, size = config.kv_heads, config.heads // config.kv_heads, config.head_dim
        tiles, slots = workspace.tiles, workspace.slots * workspace.block
        rows = torch.arange(keys * tiles * size, dtype=torch.int32).view(keys, 1, tiles, size)
        self.key_rows = rows.expand(-1, groups, -1, -1)  # (K, G, C, D)
        self.key_cuts = torch.arange(tiles * config.heads + 1, dtype=torch.int32) * size
        rows = torch.arange(keys * slots, dtype=torch.int32).view(keys, 1, slots)
        self.value_rows = rows.expand(-1, groups, -1)  # (K, G, W)


@dataclass(frozen=True, slots=True)
class _Plan:
    """What one kind of layer sums up: tiles of keys, then the slots from `first` on of them."""

    tiles: int
    first: int
    stop: int
    key_rows: Tensor
    key_cuts: Tensor
    value_rows: Tensor
    value_cuts: Tensor
    mask: Tensor | None


class BagAttention:
    """Attention for one token, the newest: exactly the cells it sees."""

    def __init__(
        self,
        config: DecoderConfig,
        workspace: Workspace,
        cells: Cells,
        row: int,
        indices: BagIndices,
    ) -> None:
        self._config, self._workspace, self._indices = config, workspace, indices
        self._groups = config.heads // config.kv_heads
        size = workspace.block
        slot = (len(cells.entries) - 1) * size + row
        position = cells.entries[-1].index * size + row
        self._key_targets, self._value_targets = workspace.turned_targets(slot)
        self.positions = torch.tensor([position])  # (1,)
        self._key_tables, self._value_tables = workspace.tables()
        self._plans = [self._plan(cells, 0, slot + 1)]
        if any(config.local_layers):
            oldest = first_slot(cells, position - config.sliding_window + 1, size)
            self._plans.append(self._plan(cells, oldest, slot + 1))

    def __call__(self, layer: int, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """From (1, H, D), (1, K, D), (1, K, D) to (1, H D)."""
        config, workspace = self._config, self._workspace
        workspace.put(self._key_targets[layer], keys[0])
        workspace.put(self._value_targets[layer], values[0])
        plan = self._plans[-1 if config.is_local(layer) else 0]
        scaled = queries.to(torch.float16).mul_(config.scale).view(config.heads, 1, -1)
        repeated = scaled.expand(-1, plan.tiles, -1).reshape(-1)  # (H C D,)
        table = self._key_tables[layer]
        scores = weighted_rows(table, plan.key_rows, plan.key_cuts, repeated)  # (H C, T)
        scores = scores.view(config.heads, -1)[:, plan.first : plan.stop].float()  # (H, S)
        if plan.mask is not None:
            scores += plan.mask
        weights = torch.softmax(scores, -1).to(queries.dtype).view(-1)
        table = self._value_tables[layer]
        mixed = weighted_rows(table, plan.value_rows, plan.value_cuts, weights)  # (1 or 2 H, D)
        if len(mixed) > config.heads:
            mixed = mixed.view(config.heads, 2, -1).sum(1)
        return mixed.view(1, -1)

    def _plan(self, cells: Cells, oldest: int, stop: int) -> _Plan:
        width, indices = self._workspace.tile, self._indices
        begin, end = oldest // width, -(-stop // width)
        heads, count = self._config.heads, stop - oldest
        halves = 2 if count >= _MANY_SLOTS else 1
        return _Plan(
            tiles=end - begin,
            first=oldest - begin * width,
            stop=stop - begin * width,
            key_rows=indices.key_rows[:, :, begin:end].reshape(-1),
            key_cuts=indices.key_cuts[: heads * (end - begin) + 1],
            value_rows=indices.value_rows[:, :, oldest:stop].reshape(-1),
            value_cuts=torch.arange(heads * halves + 1, dtype=torch.int32) * count // halves,
            mask=hole_mask(self._workspace, cells, oldest, stop, self.positions),
        )
