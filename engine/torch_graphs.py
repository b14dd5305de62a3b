"""CUDA graphs: a token's kernels, captured once a bucket and launched as one.

Launching the kernels of a small model one by one takes longer than running them. It knows nothing
of what the kernels compute; that is `torch_static`.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from engine.torch_model import Decoder
from engine.torch_static import StaticDecoder
from engine.torch_workspace import Workspace

_WARM_UPS = 3


class GraphDecoder(StaticDecoder):  # pragma: no cover - needs a GPU
    """A `StaticDecoder` whose steps are replayed.

    Args:
        decoder: the model. workspace: a bucketed one.
        compiled: let torch.compile fuse the small kernels first; takes minutes the first time.
    """

    def __init__(self, decoder: Decoder, workspace: Workspace, *, compiled: bool = False) -> None:
        super().__init__(decoder, workspace)
        self._kernels: Callable[[], Tensor] = self._compute
        if compiled:
            self._kernels = torch.compile(self._compute, dynamic=False)
        self._graphs: dict[int, tuple[torch.cuda.CUDAGraph, Tensor]] = {}
        self._pool = torch.cuda.graph_pool_handle()

    def _run(self, bucket: int) -> Tensor:
        if bucket not in self._graphs:
            self._graphs[bucket] = self._capture()
        graph, logits = self._graphs[bucket]
        graph.replay()
        return logits

    def _capture(self) -> tuple[torch.cuda.CUDAGraph, Tensor]:
        """Warms up beside the current stream, as capturing wants it, and captures.

        The warm-ups write the token's own keys and values again and again: nothing else changes.
        """
        stream = torch.cuda.Stream()  # type: ignore[no-untyped-call]
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UPS):
                self._kernels()
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph, pool=self._pool):
            logits = self._kernels()
        return graph, logits
