"""Markdown, wording, theme, figures, settings: what the parts say."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from PySide6.QtCore import QByteArray, Qt, QUrl
from PySide6.QtGui import QColor, QFont, QTextFragment
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from desktop_app import records
from desktop_app.settings import Settings
from desktop_app.window import icons, wording
from desktop_app.window.cache_panel import report_lines, stats_lines
from desktop_app.window.dialogs import Dialog
from desktop_app.window.markdown_view import MarkdownView, linked
from desktop_app.window.settings_dialog import SettingsDialog, minutes
from desktop_app.window.shortcuts import shortcuts_text
from desktop_app.window.status_line import figures, short_name
from desktop_app.window.stylesheet import stylesheet
from desktop_app.window.theme import DARK, LIGHT, Theme, suited
from desktop_app.window.window_state import WindowState
from tests.desktop_app.window_harness import STATS, Harness, answer


@pytest.fixture
def markdown(qtbot: QtBot, harness: Harness) -> MarkdownView:
    view = MarkdownView(harness.window.theme)
    qtbot.addWidget(view)
    view.resize(400, 200)
    view.show()
    return view


# Markdown


def test_only_marks_with_a_citation_are_links() -> None:
    assert "(cite:1)" in linked("As said [1].", 1)
    assert linked("As said [2].", 1) == "As said [2]."
    assert linked("As said [1].", None) == "As said [1]."
    assert linked("[1](http://x) and \\[1]", 1) == "[1](http://x) and \\[1]"


def test_a_mark_reports_its_number(markdown: MarkdownView, qtbot: QtBot) -> None:
    markdown.show_markdown("Paid in advance [1].", 1)

    with qtbot.waitSignal(markdown.cited) as signal:
        markdown.anchorClicked.emit(QUrl("cite:1"))

    assert signal.args == [1]


def test_html_pictures_and_outside_links_of_a_model_are_dead(
    markdown: MarkdownView, tmp_path: Path
) -> None:
    picture = tmp_path / "x.png"
    icons.pixmap("check", "#ff0000").save(str(picture))
    seen: list[int] = []
    markdown.cited.connect(seen.append)

    markdown.show_markdown(
        f"<b>bold</b> ![p](file://{picture}) [site](https://example.com/?q=secret)", 0
    )
    markdown.anchorClicked.emit(QUrl("https://example.com"))

    assert "<b>bold</b>" in markdown.toPlainText()
    assert markdown.document().resource(2, QUrl(f"file://{picture}")) == QByteArray()
    assert not any(f.charFormat().isImageFormat() for f in fragments(markdown))
    anchors = [
        fragment.charFormat().anchorHref()
        for fragment in fragments(markdown)
        if fragment.charFormat().isAnchor()
    ]
    assert anchors == []
    assert markdown.source().isEmpty()
    assert seen == []


def fragments(view: MarkdownView) -> list[QTextFragment]:
    found: list[QTextFragment] = []
    block = view.document().begin()
    while block.isValid():
        iterator = block.begin()
        while not iterator.atEnd():
            found.append(iterator.fragment())
            iterator += 1
        block = block.next()
    return found


def test_headings_tables_and_quotations_are_calm(markdown: MarkdownView) -> None:
    markdown.show_markdown("# Terms\n\nBody.\n\n| A | B |\n|---|---|\n| 1 | 2 |\n\n> quoted [1]", 1)
    blocks = []
    block = markdown.document().begin()
    while block.isValid():
        blocks.append(block)
        block = block.next()
    by_text = {block.text().strip(): block for block in blocks}
    heading = by_text["Terms"].begin().fragment().charFormat()
    table = next(f for f in markdown.document().rootFrame().childFrames())

    assert heading.fontPointSize() <= markdown.font().pointSizeF() * 1.2
    assert table.format().borderBrush().color() == QColor(LIGHT.line)
    quoted = next(block for text, block in by_text.items() if text.startswith("quoted"))
    assert quoted.blockFormat().leftMargin() == 18
    image = markdown.grab().toImage()
    layout = markdown.document().documentLayout()
    middle = round(layout.blockBoundingRect(quoted).center().y())
    assert image.pixelColor(3, middle) == QColor(LIGHT.marker)


def test_the_view_is_as_tall_as_its_text(markdown: MarkdownView) -> None:
    markdown.show_markdown("One line.")
    short = markdown.height()

    markdown.show_markdown("One paragraph.\n\n" * 10)

    assert markdown.height() > short * 5


# wording


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (999, "999 B"), (2048, "2.0 KB"), (35_000_000, "33 MB"), (8 << 30, "8.0 GB")],
)
def test_sizes(count: int, text: str) -> None:
    assert wording.size(count) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0 ms"), (212.4, "212 ms"), (1440, "1.4 s"), (125_000, "2 min 5 s")],
)
def test_durations(milliseconds: float, text: str) -> None:
    assert wording.seconds(milliseconds) == text


@pytest.mark.parametrize(
    ("passed", "text"),
    [
        (timedelta(seconds=5), "just now"),
        (timedelta(minutes=5), "5 min ago"),
        (timedelta(hours=2), "2 h ago"),
        (timedelta(days=1), "yesterday"),
        (timedelta(days=3), "3 days ago"),
    ],
)
def test_moments(passed: timedelta, text: str) -> None:
    now = datetime(2026, 3, 12, 15, 0, tzinfo=UTC)

    assert wording.ago((now - passed).isoformat(), now) == text


def test_old_and_unreadable_moments() -> None:
    now = datetime(2026, 3, 12, 15, 0, tzinfo=UTC)

    assert wording.ago("2025-11-02T10:00:00", now) == "2 Nov 2025"
    assert wording.ago("yesterday-ish", now) == ""


def test_titles_are_one_line_cut_at_a_word() -> None:
    assert wording.title_of("How is\n it paid?") == "How is it paid?"
    long = wording.title_of("What are the obligations of the supplier " * 4)
    assert len(long) <= 60
    assert long.endswith("…")
    assert wording.title_of("违" * 100) == "违" * 59 + "…"


def test_counts_and_pages() -> None:
    assert wording.plural(1, "page") == "1 page"
    assert wording.plural(1234, "page") == "1,234 pages"
    assert wording.pages([12, 47, 12]) == "p. 12, p. 47"
    assert wording.restored("disk") == "restored from disk"
    assert wording.restored("") == ""


# figures


def test_the_status_line_names_what_was_trimmed_and_restored() -> None:
    line = figures(STATS | {"trimmed_tokens": 512, "restored_from": "disk"})

    assert "512 trimmed" in line
    assert "restored from disk" in line
    assert figures({}).startswith("0 tokens reused")
    assert short_name("/m/SmolLM2.gguf") == "SmolLM2"


def test_the_cache_panel_says_where_a_conversation_is() -> None:
    own = {"id": "c1", "tokens": 2000, "window_tokens": 1500, "window": 4096,
           "tier": "disk", "cache_bytes": 0, "disk_bytes": 1 << 20}  # fmt: skip
    report = {"conversations": [own], "disk_bytes": 3 << 20, "disk_budget": 8 << 30}

    lines = dict(report_lines(report, "c1"))

    assert lines["This conversation"] == "on disk · 1.0 MB"
    assert lines["Readable now"] == "1,500 of 4,096 tokens"
    assert lines["Trimmed so far"] == "500 tokens"
    assert lines["On disk"] == "3.0 MB of 8.0 GB"
    assert report_lines({}, "c1") == []
    assert dict(stats_lines(STATS))["Taken from the cache"] == "1,420 tokens"
    assert stats_lines({}) == []


def test_the_cache_panel_asks_for_figures_and_clears(harness: Harness) -> None:
    harness.open()
    before = len(harness.requests(records.GetCacheReport))
    harness.window.status.details.click()
    harness.settle()
    assert len(harness.requests(records.GetCacheReport)) == before + 1
    job = harness.worker.last(records.GetCacheReport).job
    own = {"id": "c1", "tier": "device", "cache_bytes": 1 << 20}
    harness.reply(records.CacheFigures(job, {"conversations": [own]}))

    harness.press("Clear this one", harness.window.cache)

    assert harness.worker.last(records.ClearCache).conversation == "c1"
    assert harness.window.status.details.text() == "Cache ready · 1.0 MB"


def test_figures_are_not_asked_for_while_an_answer_is_written(harness: Harness) -> None:
    harness.ask()
    before = len(harness.requests(records.GetCacheReport))

    harness.controller.refresh_cache()

    assert len(harness.requests(records.GetCacheReport)) == before


# theme


def test_the_theme_follows_the_setting(harness: Harness) -> None:
    theme = harness.window.theme
    assert theme.colors is LIGHT

    theme.set_appearance("dark")

    assert theme.dark
    assert QApplication.palette().window().color() == QColor(DARK.surface)
    theme.set_appearance("light")
    assert not theme.dark


def test_the_theme_follows_the_system(qtbot: QtBot) -> None:
    hints = QApplication.styleHints()
    theme = Theme(QApplication.instance(), "system")  # type: ignore[arg-type]

    hints.setColorScheme(Qt.ColorScheme.Dark)
    try:
        assert theme.dark == (hints.colorScheme() == Qt.ColorScheme.Dark)
    finally:
        hints.unsetColorScheme()
        theme.set_appearance("light")


def test_text_is_readable_on_every_surface() -> None:
    for colors in (LIGHT, DARK):
        pairs = [
            (colors.ink, colors.surface), (colors.soft, colors.side),
            (colors.faint, colors.surface),
            (colors.on_accent, colors.accent), (colors.on_mark, colors.mark),
            (colors.bad, colors.side), (colors.ink, colors.tint),
        ]  # fmt: skip
        assert min(contrast(a, b) for a, b in pairs) >= 4.4


def contrast(one: str, two: str) -> float:
    """WCAG 2's contrast ratio."""

    def luminance(name: str) -> float:
        color = QColor(name)
        parts = (color.redF(), color.greenF(), color.blueF())
        linear = [c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    low, high = sorted((luminance(one), luminance(two)))
    return (high + 0.05) / (low + 0.05)


def test_a_missing_colour_is_a_fault() -> None:
    with pytest.raises(KeyError):
        stylesheet({"ink": "#000000"})


def test_quotation_marks_fit_the_text() -> None:
    font = QFont("Noto Sans CJK SC")
    narrow = QFont.Tag("pwid")

    assert suited(font, "the “Customer’s” goods").isFeatureSet(narrow)
    assert not suited(font, "“违约责任”，如下").isFeatureSet(narrow)
    assert not suited(QFont("Inter"), "the “Customer”").isFeatureSet(narrow)


def test_icons_are_drawn_in_their_colour() -> None:
    image = icons.pixmap("stop", "#ff0000", 16, 1.0).toImage()

    assert image.pixelColor(8, 8) == QColor("#ff0000")
    with pytest.raises(FileNotFoundError):
        icons.pixmap("no-such-icon", "#ff0000")


def test_a_damaged_state_file_is_an_empty_one(tmp_path: Path) -> None:
    path = tmp_path / "window.ini"
    path.write_bytes(b"\x00\xff[layout\nwindow=nonsense")

    state = WindowState(path)

    assert state.geometry("window") is None
    assert state.text("conversation") == ""
    assert state.flag("side", default=True)


# settings and help


def settings_dialog(harness: Harness) -> SettingsDialog:
    harness.controller.preferences.open()
    harness.settle()
    assert harness.controller.preferences.dialog is not None
    return harness.controller.preferences.dialog


def test_only_changed_settings_are_saved(harness: Harness) -> None:
    dialog = settings_dialog(harness)
    dialog.window_size.setCurrentIndex(dialog.window_size.findData(8192))
    dialog.on_battery.setChecked(True)

    harness.press("Save", dialog)

    saved = harness.worker.last(records.ChangeSettings)
    assert saved.values == {"window": 8192, "idle_on_battery": True}


def test_saved_settings_are_applied_and_the_dialog_closes(harness: Harness) -> None:
    dialog = settings_dialog(harness)
    dialog.theme_choice.setCurrentIndex(dialog.theme_choice.findData("dark"))
    harness.press("Save", dialog)
    job = harness.worker.last(records.ChangeSettings).job

    harness.reply(records.SettingsChanged(job, {"theme": "dark"}), records.Finished(job))

    assert harness.window.theme.dark
    assert harness.controller.preferences.settings.theme == "dark"
    assert harness.controller.preferences.dialog is None
    harness.window.theme.set_appearance("light")


def test_settings_that_cannot_be_saved_say_why_in_the_dialog(harness: Harness) -> None:
    dialog = settings_dialog(harness)
    dialog.disk.setCurrentIndex(0)
    harness.press("Save", dialog)
    job = harness.worker.last(records.ChangeSettings).job

    harness.reply(records.Failed(job, "The settings folder is read-only.", "Check its rights."))

    assert dialog.problem.text() == "The settings folder is read-only. Check its rights."
    assert dialog.isVisible()


def test_unchanged_settings_are_not_saved(harness: Harness) -> None:
    dialog = settings_dialog(harness)

    harness.press("Save", dialog)

    assert harness.requests(records.ChangeSettings) == []


def test_models_that_can_be_used_are_offered(harness: Harness) -> None:
    dialog = settings_dialog(harness)
    job = harness.worker.last(records.ListModels).job
    models = (
        {"name": "Small", "kind": "language", "path": "/m/s.gguf", "size": 98_000_000},
        {"name": "Cut", "kind": "language", "path": "/m/c.gguf", "size": 1, "problem": "short"},
        {"name": "Far", "kind": "language", "path": "", "size": 1},
        {"name": "Finder", "kind": "embedder", "path": "/m/e", "size": 1},
    )

    harness.reply(records.ModelList(job, models))

    offered = [dialog.model.itemData(i) for i in range(dialog.model.count())]
    assert offered == ["", "Small"]
    dialog.use_model_file("/x/My Model.gguf")
    assert dialog.values()["model"] == "/x/My Model.gguf"


def test_odd_values_are_kept_as_they_are(qtbot: QtBot, harness: Harness) -> None:
    odd = Settings(window=3000, disk_mb=5000, idle_minutes=7.5, model="Mine")
    dialog = SettingsDialog(harness.window, odd, lambda values: None)
    qtbot.addWidget(dialog)

    assert dialog.changed_values() == {}
    assert minutes(7.5) == "7.5 minutes"
    assert minutes(120) == "2 hours"
    assert minutes(1) == "1 minute"


def test_help_shows_keys_and_diagnostics(harness: Harness) -> None:
    harness.controller.preferences.show_shortcuts()
    assert "Ctrl+L" in shortcuts_text()
    harness.controller.preferences.help.accept()

    harness.controller.preferences.show_diagnostics()
    job = harness.worker.last(records.Doctor).job
    harness.reply(records.DoctorFindings(job, {"python": "3.11"}))
    shown = [d for d in harness.window.findChildren(Dialog) if d.isVisible()]

    assert [d.windowTitle() for d in shown] == ["Diagnostics"]
    harness.controller.preferences.show_about()
    assert harness.controller.preferences.help.isVisible()


def test_keys_lead_where_they_say(harness: Harness) -> None:
    harness.open(records.Message(0, "What?", answer()))
    harness.controller.passages.show_document("supply-agreement.pdf")
    window = harness.window
    window.activateWindow()
    harness.qtbot.waitUntil(window.isActiveWindow)
    control = Qt.KeyboardModifier.ControlModifier

    QTest.keyClick(window, Qt.Key.Key_F, control)
    assert window.pdf.pages.find_bar.isVisible()
    QTest.keyClick(window, Qt.Key.Key_L, control)
    assert harness.chat.composer.edit.hasFocus()
    QTest.keyClick(window, Qt.Key.Key_B, control)
    assert window.side.isHidden()
    QTest.keyClick(window, Qt.Key.Key_D, control)
    assert window.pdf.isHidden()
    QTest.keyClick(window, Qt.Key.Key_N, control)

    assert harness.controller.session.current is None
    assert harness.chat.turns == []
