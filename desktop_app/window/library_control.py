"""Adding, choosing and removing documents: from the user's wish to the worker, and back."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtWidgets import QFileDialog

from desktop_app import records
from desktop_app.window.dialogs import ask_password, confirm
from desktop_app.window.document_model import DocumentModel
from desktop_app.window.jobs import Jobs
from desktop_app.window.main_window import MainWindow
from desktop_app.window.passages import Passages
from desktop_app.window.resources import samples
from desktop_app.window.wording import plural

FILE_TYPES = "Documents (*.pdf *.txt *.md *.docx);;All files (*)"


class LibraryControl(QObject):
    """Joins the documents list to its jobs. `trouble` carries a Failed that has no row."""

    trouble = Signal(object)

    def __init__(
        self, window: MainWindow, jobs: Jobs, model: DocumentModel, passages: Passages
    ) -> None:
        super().__init__(window)
        self._window = window
        self._jobs = jobs
        self._model = model
        self._passages = passages
        self._to_open: dict[str, int] = {}  # pages of documents to show once they are there
        library, welcome = window.library, window.chat.welcome
        library.add_requested.connect(self.choose_files)
        library.open_requested.connect(passages.show_document)
        library.remove_requested.connect(self._confirm_removal)
        library.stop_requested.connect(self.stop)
        library.password_requested.connect(self._unlock)
        welcome.add_requested.connect(self.choose_files)
        welcome.sample_requested.connect(self.open_sample)
        window.drop.dropped.connect(self.add)
        passages.document_shown.connect(library.list.set_current)
        passages.missing.connect(self._missing)
        jobs.documents.connect(self._listed)
        model.ticks_changed.connect(self._show_scope)
        model.modelReset.connect(self._show_scope)

    def refresh(self) -> None:
        """Asks what is in the library."""
        self._jobs.submit(records.ListDocuments, self._on_list)

    def reopen(self, name: str, page: str) -> None:
        """Shows a document at a page once the library's list is there, if it is still in it."""
        if name:
            self._to_open[name] = int(page) if page.isdigit() else 0

    def add(self, paths: Sequence[str], password: str | None = None) -> None:
        """Adds files and folders."""
        if not paths:
            return
        outcome: dict[str, int] = {}
        for path in paths:
            self._model.dismiss(path)
        job = self._jobs.submit(
            records.Ingest,
            lambda reply: self._on_ingest(reply, outcome),
            paths=tuple(paths),
            password=password,
        )
        self._model.add_waiting(paths, job)

    def stop(self, job: int) -> None:
        """Ends the adding of files; those that are done stay."""
        self._jobs.stop(job)

    def remove(self, name: str) -> None:
        """Removes a document."""
        self._jobs.submit(records.Remove, self._on_list, documents=(name,))

    def choose_files(self) -> None:
        """Lets the user choose files to add."""
        self._choose("Add documents", QFileDialog.FileMode.ExistingFiles)

    def choose_folder(self) -> None:
        """Lets the user choose a folder whose files are added."""
        self._choose("Add a folder", QFileDialog.FileMode.Directory)

    def open_sample(self) -> None:
        """Adds the sample contract that came with the program, and opens it."""
        found = samples()
        if found:
            self._to_open[found[0].name] = 0
            self.add([str(found[0])])
        else:
            self._window.chat.banners.error(
                "The sample is missing from this installation.", "Add a PDF of your own instead."
            )

    # what the user wants

    def _choose(self, title: str, mode: QFileDialog.FileMode) -> None:
        folder = self._window.state.text("folder")
        dialog = QFileDialog(self._window, title, folder, FILE_TYPES)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setFileMode(mode)
        dialog.filesSelected.connect(self._chosen)
        dialog.open()

    def _chosen(self, paths: list[str]) -> None:
        self._window.state.set_text("folder", str(Path(paths[0]).parent))
        self.add(paths)

    def _confirm_removal(self, name: str) -> None:
        confirm(
            self._window,
            f"Remove '{name}'?",
            "It leaves your library and can no longer be asked about. The file itself stays.",
            "Remove",
            lambda: self.remove(name),
        )

    def _unlock(self, path: str) -> None:
        ask_password(self._window, Path(path).name, lambda password: self.add([path], password))

    def _missing(self, name: str) -> None:
        self._window.chat.banners.error(
            f"'{name}' is no longer in your library.", "Add it again to see its pages."
        )

    # what the worker says

    def _on_list(self, reply: records.Reply) -> None:
        if isinstance(reply, records.Failed):
            self.trouble.emit(reply)
            if not self._model.loaded:
                self._model.set_documents(())

    def _on_ingest(self, reply: records.Reply, outcome: dict[str, int]) -> None:
        if isinstance(reply, records.Progress):
            self._model.set_progress(reply)
        elif isinstance(reply, records.Ingested):
            result = reply.result
            outcome[result.status] = outcome.get(result.status, 0) + 1
            self._model.set_result(reply)
            if result.status in ("ready", "unchanged") and not self._window.pdf.path:
                self._to_open[result.document] = 0
        elif isinstance(reply, records.Failed):
            self._model.job_ended(reply.job, f"{reply.message} {reply.hint}".strip())
            if not outcome:
                self.trouble.emit(reply)
        elif isinstance(reply, records.Finished):
            self._model.job_ended(reply.job, "")
            if outcome.get("unchanged"):
                count = outcome["unchanged"]
                what = "It was" if count == 1 else f"{plural(count, 'document')} were"
                self._window.chat.banners.info(
                    f"{what} in your library already; nothing was read again."
                )

    def _listed(self, reply: records.DocumentList) -> None:
        self._model.set_documents(reply.documents)
        names = self._model.document_names()
        for name, page in list(self._to_open.items()):
            if name in names:
                self._to_open.clear()
                self._passages.show_document(name, page)
        if self._passages.document and self._passages.document not in names:
            self._passages.forget_document(self._passages.document)

    def _show_scope(self) -> None:
        names, scope = self._model.document_names(), self._model.scope()
        if not names:
            text = ""
        elif len(names) == 1:
            text = f"Asking {names[0]}" if len(names[0]) < 40 else "Asking one document"
        elif len(scope) == len(names):
            text = f"Asking all {len(names)} documents"
        else:
            text = f"Asking {len(scope)} of {len(names)} documents"
        self._window.chat.composer.set_scope(text)
        coming = [row.name for row in self._model.rows() if row.status in ("waiting", "reading")]
        self._window.chat.welcome.show_state(
            documents=len(names),
            loaded=self._model.loaded,
            first=scope[0] if scope else "",
            reading=coming[0] if coming else "",
        )
