"""The rows of the documents list: what is in the library, what is being read, what failed.

It turns the worker's records into rows. It draws nothing and sends nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from PySide6.QtCore import QAbstractListModel, QModelIndex, QPersistentModelIndex, Qt, Signal

from desktop_app import records
from desktop_app.window.wording import plural
from rag.types import Document

Status = Literal["ready", "waiting", "reading", "failed", "locked"]
ROW = Qt.ItemDataRole.UserRole + 1
Index = QModelIndex | QPersistentModelIndex
STAGES = {"reading": "Reading page", "embedding": "Indexing passage", "saving": "Saving"}


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the list. `key` is the document's name, or the path of a file not yet in it."""

    key: str
    name: str
    path: str
    status: Status
    detail: str
    pages: int = 0
    progress: float = -1.0
    ticked: bool = True
    job: int = 0

    @property
    def in_library(self) -> bool:
        return self.status == "ready"


class DocumentModel(QAbstractListModel):
    """Rows in the order of the library; files on their way in come first."""

    ticks_changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._incoming: dict[str, Row] = {}
        self._library: dict[str, Row] = {}
        self._unticked: set[str] = set()
        self._rows: list[Row] = []
        self.loaded = False

    # reading

    def rows(self) -> Sequence[Row]:
        return self._rows

    def row(self, key: str) -> Row | None:
        """The row of a document's name or a file's path."""
        return self._incoming.get(key) or self._library.get(key)

    def document_names(self) -> list[str]:
        """Every document of the library."""
        return list(self._library)

    def scope(self) -> list[str]:
        """The documents that are ticked."""
        return [name for name in self._library if name not in self._unticked]

    def path_of(self, name: str) -> str:
        """The file of a document; empty if it isn't in the library."""
        row = self._library.get(name)
        return row.path if row else ""

    # changing

    def set_documents(self, documents: Iterable[Document]) -> None:
        """What is in the library now."""
        self.loaded = True
        self._library = {
            d.name: Row(
                d.name, d.name, d.path, "ready", plural(d.pages, "page"), d.pages,
                ticked=d.name not in self._unticked,
            )
            for d in documents
        }  # fmt: skip
        self._unticked &= set(self._library)
        self._rebuild()
        self.ticks_changed.emit()

    def add_waiting(self, paths: Iterable[str], job: int) -> None:
        """Files that were just handed over; folders show their files as they are read."""
        for path in paths:
            if not Path(path).is_dir():
                name = Path(path).name
                self._incoming[path] = Row(path, name, path, "waiting", "Waiting", job=job)
        self._rebuild()

    def set_progress(self, progress: records.Progress) -> None:
        """Where the reading of a file is."""
        path = progress.path
        stage = STAGES.get(progress.stage, progress.stage.capitalize())
        done, total = progress.done, progress.total
        detail = f"{stage} {min(done + 1, total)} of {total}" if total > 1 else f"{stage} …"
        if progress.stage == "saving":
            detail = "Saving …"
        known = path in self._incoming
        self._incoming[path] = Row(
            path, Path(path).name, path, "reading", detail,
            progress=done / total if total else -1.0, job=progress.job,
        )  # fmt: skip
        if known:
            self._touch(path)
        else:
            self._rebuild()

    def set_result(self, result: records.Ingested) -> None:
        """What became of a file."""
        what = result.result
        if what.status in ("ready", "unchanged"):
            self._incoming.pop(what.path, None)
        else:
            locked = what.status == "needs_password"
            detail = what.error or ("It is locked." if locked else "It could not be read.")
            name = Path(what.path).name
            status: Status = "locked" if locked else "failed"
            self._incoming[what.path] = Row(what.path, name, what.path, status, detail)
        self._rebuild()

    def job_ended(self, job: int, message: str) -> None:
        """A job is over: what it never got to is gone, or failed with it."""
        for path, row in list(self._incoming.items()):
            if row.job == job and row.status in ("waiting", "reading"):
                if message:
                    self._incoming[path] = replace(
                        row, status="failed", detail=message, progress=-1.0, job=0
                    )
                else:
                    del self._incoming[path]
        self._rebuild()

    def dismiss(self, key: str) -> None:
        """Takes a file that failed out of the list."""
        self._incoming.pop(key, None)
        self._rebuild()

    def set_ticked(self, name: str, ticked: bool) -> None:
        """Whether questions look into this document."""
        if name in self._library:
            (self._unticked.discard if ticked else self._unticked.add)(name)
            self._library[name] = replace(self._library[name], ticked=ticked)
            self._touch(name)
            self.ticks_changed.emit()

    def tick_only(self, names: Iterable[str]) -> None:
        """Ticks exactly these documents."""
        wanted = set(names)
        self._unticked = set(self._library) - wanted
        self._library = {n: replace(r, ticked=n in wanted) for n, r in self._library.items()}
        self._rebuild()
        self.ticks_changed.emit()

    # Qt's side

    def rowCount(self, parent: Index | None = None) -> int:  # noqa: N802
        return 0 if parent is not None and parent.isValid() else len(self._rows)

    def flags(self, index: Index) -> Qt.ItemFlag:
        flags = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable
        if index.isValid() and self._rows[index.row()].in_library:
            flags |= Qt.ItemFlag.ItemIsUserCheckable
        return flags

    def data(self, index: Index, role: int = Qt.ItemDataRole.DisplayRole) -> Any:
        if not index.isValid() or index.row() >= len(self._rows):
            return None
        row = self._rows[index.row()]
        if role == ROW:
            return row
        if role == Qt.ItemDataRole.DisplayRole:
            return row.name
        if role == Qt.ItemDataRole.ToolTipRole:
            return f"{row.path}\n{row.detail}"
        if role == Qt.ItemDataRole.AccessibleTextRole:
            asked = ("asked" if row.ticked else "not asked") if row.in_library else row.status
            return f"{row.name}, {row.detail}, {asked}"
        if role == Qt.ItemDataRole.CheckStateRole and row.in_library:
            return Qt.CheckState.Checked if row.ticked else Qt.CheckState.Unchecked
        return None

    def setData(self, index: Index, value: Any, role: int = Qt.ItemDataRole.EditRole) -> bool:  # noqa: N802
        row = self._rows[index.row()]
        if role != Qt.ItemDataRole.CheckStateRole or not row.in_library:
            return False
        self.set_ticked(row.key, Qt.CheckState(value) == Qt.CheckState.Checked)
        return True

    def _touch(self, key: str) -> None:
        for number, row in enumerate(self._rows):
            if row.key == key:
                fresh = self.row(key)
                if fresh is not None:
                    self._rows[number] = fresh
                    index = self.index(number)
                    self.dataChanged.emit(index, index)
                return

    def _rebuild(self) -> None:
        self.beginResetModel()
        self._rows = [*self._incoming.values(), *self._library.values()]
        self.endResetModel()
