"""The menus and the keys: every command of the window once, with its shortcut."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtGui import QAction, QKeySequence

from desktop_app.window.controller import Controller

Command = tuple[str, str, Callable[[], object]]


def add_menus(controller: Controller) -> None:
    """Fills the window's menu bar."""
    window, pdf = controller.window, controller.window.pdf
    edit = window.chat.composer.edit
    documents, preferences = controller.documents, controller.preferences
    _menu(controller, "&File", [
        ("Add documents…", "Ctrl+O", documents.choose_files),
        ("Add a folder…", "Ctrl+Shift+O", documents.choose_folder),
        ("Open the sample", "", documents.open_sample),
        None,
        ("Settings…", "Ctrl+,", preferences.open),
        None,
        ("Quit", "Ctrl+Q", window.close),
    ])  # fmt: skip
    _menu(controller, "&Conversation", [
        ("New", "Ctrl+N", controller.new_conversation),
        ("Go to the question", "Ctrl+L", edit.setFocus),
        ("Stop", "Esc", controller.escape),
        ("Copy last answer", "Ctrl+Shift+C", controller.copy_answer),
        None,
        ("Rename", "", controller.rename_conversation),
        ("Fork", "", controller.fork_conversation),
        ("Delete…", "", controller.delete_conversation),
    ])  # fmt: skip
    _menu(controller, "&Document", [
        ("Find…", "Ctrl+F", pdf.open_search),
        None,
        ("Previous page", "Alt+Up", lambda: pdf.step_page(-1)),
        ("Next page", "Alt+Down", lambda: pdf.step_page(1)),
        None,
        ("Zoom in", "Ctrl++|Ctrl+=", lambda: pdf.step_zoom(1)),
        ("Zoom out", "Ctrl+-", lambda: pdf.step_zoom(-1)),
        ("Fit width", "Ctrl+0", pdf.fit_width),
    ])  # fmt: skip
    _menu(controller, "&View", [
        ("Side bar", "Ctrl+B", window.toggle_side),
        ("Document", "Ctrl+D", window.toggle_document),
        ("Cache and figures", "", lambda: window.cache.pop_up(window.status.details)),
    ])  # fmt: skip
    _menu(controller, "&Help", [
        ("Keyboard shortcuts", "F1", preferences.show_shortcuts),
        ("Diagnostics", "", preferences.show_diagnostics),
        ("About Clausebook", "", preferences.show_about),
    ])  # fmt: skip


def _menu(controller: Controller, title: str, commands: list[Command | None]) -> None:
    """Adds a menu of (text, shortcuts, command); None is a separator."""
    window = controller.window
    menu = window.menuBar().addMenu(title)
    for command in commands:
        if command is None:
            menu.addSeparator()
            continue
        text, shortcuts, do = command
        action = QAction(text, window)
        if shortcuts:
            action.setShortcuts([QKeySequence(keys) for keys in shortcuts.split("|")])
        action.triggered.connect(lambda _=False, do=do: do())
        menu.addAction(action)
