"""From logits to the next token, the same for every backend. It knows numbers and no model.

The order is llama.cpp's: repetition penalty, top-k, top-p, min-p, temperature. So which tokens
are candidates does not depend on the temperature, and temperature 0 is the most likely token.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from engine.backend import Logits
from engine.errors import EngineError
from engine.types import SamplingOptions, TokenId

Ids = NDArray[np.int64]
Scores = NDArray[np.float64]
Allowed = NDArray[np.bool_] | NDArray[np.int64] | None
# Sorting 150,000 numbers costs 10 ms; the tokens that matter are nearly always among these.
_FEW = 512


class Sampler:
    """Chooses tokens one at a time, and remembers what it chose.

    The repetition penalty counts the tokens of this answer only (and those given as `seen`): a
    quotation needs the prompt's own words.
    """

    def __init__(self, options: SamplingOptions, seen: Iterable[TokenId] = ()) -> None:
        self.options = options
        self._generator = np.random.Generator(np.random.PCG64(options.seed))
        self._seen = dict.fromkeys(seen)

    def sample(self, logits: Logits, allowed: Allowed = None) -> TokenId:
        """The next token; call `accept` with it once it is kept.

        Args:
            logits: shape (V,).
            allowed: the ids to choose from, or a mask of shape (V,); None allows all.

        Raises:
            EngineError: no token is allowed, or the logits are not numbers.
        """
        ids, scores = self._candidates(logits, allowed)
        if self.options.temperature == 0:
            return _token(ids, int(np.argmax(scores)))
        ids, scores = _top_k(ids, scores, self.options.top_k)
        ids, scores = _top_p(ids, scores, self.options.top_p)
        if self.options.min_p > 0:
            keep = scores >= scores.max() + np.log(self.options.min_p)
            ids, scores = _take(ids, scores, np.flatnonzero(keep))
        heat = (scores - scores.max()) / self.options.temperature
        ladder = np.cumsum(np.exp(heat))
        at = np.searchsorted(ladder, self._generator.random() * ladder[-1], side="right")
        # Rounding must neither pass the end nor land on a token whose chance is nil.
        at = min(int(at), int(np.searchsorted(ladder, ladder[-1])))
        return _token(ids, at)

    def accept(self, token: TokenId) -> None:
        """Counts `token` as a part of the answer."""
        self._seen[token] = None

    def state(self) -> dict[str, Any]:
        """What `restore` needs to go on with the same choices; plain numbers and strings."""
        return {"generator": dict(self._generator.bit_generator.state), "seen": list(self._seen)}

    def restore(self, state: Mapping[str, Any]) -> None:
        """Goes on where `state` was taken. Raises ValueError if it isn't such a state."""
        try:
            self._generator.bit_generator.state = state["generator"]
            self._seen = dict.fromkeys(int(token) for token in state["seen"])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"this is not a sampler's state: {error!r}") from error

    def _candidates(self, logits: Logits, allowed: Allowed) -> tuple[Ids | None, Scores]:
        """Candidate ids (None: all) and their scores as float64, -inf where impossible."""
        ids: Ids | None = None
        if allowed is not None:
            ids = np.flatnonzero(allowed) if allowed.dtype == np.bool_ else allowed.astype(np.int64)
        scores = (logits if ids is None else logits[ids]).astype(np.float64)
        if ids is None or len(ids):
            scores[np.isnan(scores)] = -np.inf
            self._penalise(ids, scores)
            if np.isfinite(scores.max()):
                return ids, scores
        raise EngineError(
            "The model's output holds no usable next token; check the model file or choose another."
        )

    def _penalise(self, ids: Ids | None, scores: Scores) -> None:
        """Makes tokens of the answer less likely (Keskar et al. 2019, CTRL)."""
        penalty = self.options.repetition_penalty
        if penalty == 1.0 or not self._seen:
            return
        seen = np.fromiter(self._seen, dtype=np.int64)
        at = seen[seen < len(scores)] if ids is None else np.flatnonzero(np.isin(ids, seen))
        scores[at] = np.where(scores[at] > 0, scores[at] / penalty, scores[at] * penalty)


def log_probability(logits: Logits, token: TokenId) -> float:
    """Natural logarithm of the chance of `token` under softmax of `logits`, shape (V,)."""
    scores = logits.astype(np.float64)
    top = scores.max()
    return float(scores[token] - top - np.log(np.exp(scores - top).sum()))


def _token(ids: Ids | None, at: int) -> TokenId:
    return at if ids is None else int(ids[at])


def _take(ids: Ids | None, scores: Scores, at: Ids) -> tuple[Ids, Scores]:
    return (at if ids is None else ids[at]), scores[at]


def _best(scores: Scores, count: int) -> Ids:
    """Places of the `count` highest scores, highest first, equal ones by place."""
    if count < len(scores):
        edge = np.partition(scores, len(scores) - count)[len(scores) - count]
        at = np.flatnonzero(scores >= edge)
    else:
        at = np.arange(len(scores))
    return at[np.argsort(-scores[at], kind="stable")][:count]


def _top_k(ids: Ids | None, scores: Scores, k: int) -> tuple[Ids | None, Scores]:
    if k == 0 or k >= len(scores):
        return ids, scores
    return _take(ids, scores, _best(scores, k))


def _top_p(ids: Ids | None, scores: Scores, p: float) -> tuple[Ids | None, Scores]:
    """The fewest likeliest tokens whose chances add up to `p` (Holtzman et al. 2020)."""
    if p >= 1:
        return ids, scores
    total = np.exp(scores - scores.max()).sum()
    for count in (min(_FEW, len(scores)), len(scores)):
        at = _best(scores, count)
        mass = np.cumsum(np.exp(scores[at] - scores.max()))
        enough = int(np.searchsorted(mass, p * total))
        if enough < count:
            break
    return _take(ids, scores, at[: enough + 1])
