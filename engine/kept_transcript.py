"""A conversation's transcript and window as records of a transcript file, and back.

Each turn is one record, `{"turn": …, "window": […]}`, so that it is there whole or not at all. The
window (runs of start, stop, position) stands there only where something was trimmed: without it
all is visible. It knows no keys and values.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import cast

from engine.conversation import Conversation
from engine.disk import Disk
from engine.errors import CacheFileError
from engine.transcript import CommittedTurn, Transcript
from engine.transcript_file import Record, TranscriptFile, TranscriptHeader, open_transcript
from engine.types import Turn
from engine.window import Run, Window


class KeptTranscript:
    """The file of one conversation, kept equal to what is committed of it."""

    def __init__(self, file: TranscriptFile) -> None:
        self._file = file

    @staticmethod
    def new(path: Path, header: TranscriptHeader, disk: Disk) -> KeptTranscript:
        """For a conversation that isn't on disk yet; nothing is written."""
        return KeptTranscript(TranscriptFile(path, header, disk))

    @staticmethod
    def open(path: Path, disk: Disk, *, repair: bool = True) -> KeptTranscript:
        """Raises FileNotFoundError, CacheFileError. Without `repair` nothing is changed on disk."""
        return KeptTranscript(open_transcript(path, disk, repair=repair))

    @property
    def header(self) -> TranscriptHeader:
        """Whose it is and which model's ids are in it."""
        return self._file.header

    @property
    def damaged(self) -> str:
        """Name of the original that was kept aside because its end couldn't be read, or ""."""
        return self._file.damaged

    def check(self) -> None:
        """Raises CacheFileError if the records make no sense."""
        self._read()

    def texts(self) -> list[tuple[Turn, str]]:
        """The turns and answers as texts, for a model with another tokenizer."""
        transcript = self._read()
        return [(_turn_of(turn), turn.segments[-1].text) for turn in transcript.turns]

    def load(self, conversation: Conversation) -> None:
        """Fills an empty conversation. Raises CacheFileError if the records make no sense."""
        conversation.transcript = self._read()
        places = len(conversation.transcript.ids)
        last = self._file.records[-1] if self._file.records else {}
        conversation.window = _window(cast(Sequence[Sequence[int]], last.get("window", ())), places)

    def save(self, conversation: Conversation) -> None:
        """Appends the turns that aren't in the file yet. Raises OSError."""
        known = len(self._file.records)
        new = conversation.transcript.turns[known:]
        records: list[Record] = [{"turn": turn.to_record()} for turn in new]
        if records:
            records[-1].update(_window_record(conversation))
            self._file.append(records)

    def rewrite(self, conversation: Conversation, header: TranscriptHeader | None = None) -> None:
        """Writes the file anew: after a rewind nothing of what was taken back stays in it.

        Raises:
            OSError: no space; the file is as it was.
        """
        turns = conversation.transcript.turns
        records: list[Record] = [{"turn": turn.to_record()} for turn in turns]
        if records:
            records[-1].update(_window_record(conversation))
        self._file.rewrite(records, header)

    def _read(self) -> Transcript:
        transcript = Transcript()
        try:
            for record in self._file.records:
                transcript.add(cast(Record, record["turn"]))
        except (KeyError, TypeError, ValueError) as error:
            raise CacheFileError(f"its turns make no sense: {error}") from error
        return transcript


def _turn_of(turn: CommittedTurn) -> Turn:
    before = turn.segments[:-1]
    return Turn(
        user="".join(one.text for one in before if one.role == "user" and not one.shared),
        system="".join(one.text for one in before if one.role == "system"),
        document="".join(one.text for one in before if one.role == "user" and one.shared),
        record=turn.record,
    )


def _window_record(conversation: Conversation) -> Record:
    runs = conversation.window.runs
    plain = len(runs) == 1 and (runs[0].start, runs[0].position) == (0, 0)
    return {} if plain else {"window": [[run.start, run.stop, run.position] for run in runs]}


def _window(runs: Sequence[Sequence[int]], places: int) -> Window:
    """The recorded window, or one that shows all if the record makes no sense."""
    window = Window(places)
    if not runs or not places:
        return window
    place = position = 0
    for start, stop, at in runs:
        if not (place <= start < stop <= places and at >= position):
            return window
        place, position = stop, at + stop - start
    if place != places:
        return window
    window.runs = [Run(start, stop, at) for start, stop, at in runs]
    return window
