"""The type of embedded texts; apart from `protocols`, which is read before numpy is needed."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Vectors = NDArray[np.float32]  # shape (texts, dimension)
