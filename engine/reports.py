"""What is kept where, for people: of one conversation, and of all. It changes nothing."""

from __future__ import annotations

from engine.conversation import Conversation
from engine.errors import UnknownConversation
from engine.reader import Reader
from engine.register import Register
from engine.tier import Tier
from engine.types import CacheReport, ConversationInfo, EngineOptions, TierName


class Reports:
    """Looks at conversations; those that aren't in use are only peeked at."""

    def __init__(
        self, register: Register, tier: Tier, reader: Reader, options: EngineOptions
    ) -> None:
        self._register, self._tier, self._reader = register, tier, reader
        self._options = options

    def conversation(self, id: str) -> ConversationInfo:  # noqa: A002
        """A conversation's size and place. Raises UnknownConversation."""
        found = self._register.peek(id)
        if found is None:
            raise UnknownConversation(f"There is no conversation {id!r}.")
        return self._info(found)

    def all(self) -> CacheReport:
        """Every conversation, and the sums."""
        found = [self._register.peek(one) for one in self._register.ids()]
        infos = tuple(self._info(one) for one in found if one is not None)
        return CacheReport(
            window=self._reader.limit,
            free_cells=self._reader.device.backend.free_cells,
            device_bytes=sum(one.cache_bytes for one in infos if one.tier == "device"),
            memory_bytes=sum(self._tier.nbytes(one.id)[0] for one in infos),
            disk_bytes=sum(one.disk_bytes for one in infos),
            memory_budget=self._options.memory_budget,
            disk_budget=self._options.disk_budget,
            conversations=infos,
        )

    def _info(self, one: Conversation) -> ConversationInfo:
        memory, disk = self._tier.nbytes(one.id)
        place: TierName = "memory" if memory else "disk" if disk else "none"
        if one.held:
            place = "device"
        return ConversationInfo(
            id=one.id,
            tokens=len(one.transcript.ids),
            window_tokens=len(one.window),
            window=self._reader.limit,
            tier=place,
            cache_bytes=one.nbytes if one.held else memory or disk,
            disk_bytes=disk,
            turns=one.turn_infos(),
        )
