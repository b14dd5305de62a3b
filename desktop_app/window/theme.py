"""Colours and fonts of the window, light and dark, and the object that keeps them current.

It follows the system's palette unless told otherwise. It knows no widget; the style sheet is in
`stylesheet`.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Literal

from PySide6.QtCore import QObject, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontDatabase, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication

from desktop_app.window.resources import resource
from desktop_app.window.stylesheet import stylesheet

Appearance = Literal["system", "light", "dark"]

UI_FAMILIES = ("Inter", "Segoe UI Variable Text", "Segoe UI", "SF Pro Text", "Cantarell", "Ubuntu",
               "Noto Sans", "Source Sans 3", "Noto Sans CJK SC", "DejaVu Sans")  # fmt: skip
QUOTE_FAMILIES = ("Source Serif 4", "Charter", "Iowan Old Style", "Georgia", "Noto Serif",
                  "Noto Serif CJK SC", "Liberation Serif", "DejaVu Serif")  # fmt: skip
HAN_FAMILIES = ("Noto Sans CJK SC", "Microsoft YaHei UI", "PingFang SC", "WenQuanYi Micro Hei")
HAN_SERIF_FAMILIES = ("Noto Serif CJK SC", "SimSun", "Songti SC", *HAN_FAMILIES)
HAN = re.compile("[\u3000-\u303f\u4e00-\u9fff\uff00-\uffef]")
POOR_DEFAULTS = ("DejaVu Sans", "Sans Serif", "Sans", "Bitstream Vera Sans")


@dataclass(frozen=True, slots=True)
class Colors:
    """The window's colours by their role, as #RRGGBB.

    Attributes:
        desk: behind PDF pages. side: the sidebar. surface: the conversation. raised: cards, inputs.
        ink, soft, faint: text in three weights. line: hairlines.
        accent, on_accent, tint: the application's own colour, text on it, and its wash.
        mark, on_mark, marker: what stands for a citation: chips, text on them, the highlighter.
        good, bad, bad_tint: outcome colours.
    """

    desk: str
    side: str
    surface: str
    raised: str
    hover: str
    pressed: str
    ink: str
    soft: str
    faint: str
    line: str
    accent: str
    accent_hover: str
    on_accent: str
    tint: str
    mark: str
    on_mark: str
    marker: str
    good: str
    bad: str
    bad_tint: str

    def named(self) -> dict[str, str]:
        """The colours by name, for templates."""
        return {f.name: getattr(self, f.name) for f in fields(self)}


LIGHT = Colors(
    desk="#E9E7E1", side="#F5F4F0", surface="#FFFFFF", raised="#FFFFFF",
    hover="#EBE9E3", pressed="#E1DED6",
    ink="#1D2125", soft="#5A6068", faint="#6F757D", line="#DFDCD4",
    accent="#0B5F59", accent_hover="#094D48", on_accent="#FFFFFF", tint="#E6F0EE",
    mark="#FFEDB8", on_mark="#6A4A00", marker="#FFD95A",
    good="#1E7A4C", bad="#B3261E", bad_tint="#FCEDEB",
)  # fmt: skip

DARK = Colors(
    desk="#121416", side="#1A1D20", surface="#212528", raised="#292E32",
    hover="#2C3135", pressed="#363C41",
    ink="#E9EAEB", soft="#ABB2B9", faint="#8D959D", line="#353B40",
    accent="#5CC4B8", accent_hover="#7AD3C9", on_accent="#08312D", tint="#1D3B39",
    mark="#4D3F14", on_mark="#FFD978", marker="#FFD95A",
    good="#6CCB93", bad="#F2938C", bad_tint="#41221F",
)  # fmt: skip


class Theme(QObject):
    """The colours in use. `changed` is emitted after the application was repainted in new ones."""

    changed = Signal()

    def __init__(self, application: QApplication, appearance: Appearance = "system") -> None:
        super().__init__()
        self._application = application
        self._appearance: Appearance = appearance
        self.colors = LIGHT
        self._applying = False
        application.setStyle("Fusion")
        application.setFont(ui_font(application.font()))
        self.apply()
        application.styleHints().colorSchemeChanged.connect(self._system_changed)

    @property
    def appearance(self) -> Appearance:
        return self._appearance

    @property
    def dark(self) -> bool:
        return self.colors is DARK

    def set_appearance(self, appearance: Appearance) -> None:
        """Follows the system, or stays light or dark."""
        if appearance != self._appearance:
            self._appearance = appearance
            self.apply()

    def apply(self) -> None:
        """Chooses the colours and gives them to the application."""
        dark = system_is_dark() if self._appearance == "system" else self._appearance == "dark"
        self.colors = DARK if dark else LIGHT
        self._applying = True
        try:
            self._application.setPalette(palette(self.colors))
            self._application.setStyleSheet(stylesheet(self.colors.named() | pictures(dark)))
        finally:
            self._applying = False
        self.changed.emit()

    def _system_changed(self) -> None:
        if self._appearance == "system" and not self._applying:
            self.apply()


def pictures(dark: bool) -> dict[str, str]:
    """Files of the pictures that the style sheet names."""
    kind = "dark" if dark else "light"
    return {name: resource(f"icons/{name}-{kind}.svg").as_posix() for name in ("check", "chevron")}


def system_is_dark() -> bool:
    """Whether the desktop asks for a dark window."""
    return QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark


def palette(colors: Colors) -> QPalette:
    """A Qt palette of these colours, for what the style sheet doesn't reach."""
    result = QPalette()
    roles = {
        QPalette.ColorRole.Window: colors.surface,
        QPalette.ColorRole.WindowText: colors.ink,
        QPalette.ColorRole.Base: colors.raised,
        QPalette.ColorRole.AlternateBase: colors.side,
        QPalette.ColorRole.Text: colors.ink,
        QPalette.ColorRole.Button: colors.raised,
        QPalette.ColorRole.ButtonText: colors.ink,
        QPalette.ColorRole.ToolTipBase: colors.raised,
        QPalette.ColorRole.ToolTipText: colors.ink,
        QPalette.ColorRole.PlaceholderText: colors.faint,
        QPalette.ColorRole.Highlight: colors.accent,
        QPalette.ColorRole.HighlightedText: colors.on_accent,
        QPalette.ColorRole.Link: colors.accent,
        QPalette.ColorRole.Mid: colors.line,
        QPalette.ColorRole.Dark: colors.desk,
    }
    for role, color in roles.items():
        result.setColor(role, QColor(color))
    for role in (QPalette.ColorRole.Text, QPalette.ColorRole.ButtonText,
                 QPalette.ColorRole.WindowText):  # fmt: skip
        result.setColor(QPalette.ColorGroup.Disabled, role, QColor(colors.faint))
    return result


def ui_font(system: QFont) -> QFont:
    """The system's own font, or the best one installed where the system has no opinion."""
    families = QFontDatabase.families()
    font = QFont(system)
    family = system.family()
    if family in POOR_DEFAULTS or family not in families:
        family = next((f for f in UI_FAMILIES if f in families), family)
    font.setFamilies([family, *(f for f in HAN_FAMILIES if f in families and f != family)])
    font.setPointSizeF(max(10.0, system.pointSizeF()))
    return suited(font, "")


def quote_font(base: QFont, scale: float = 1.0) -> QFont:
    """A serif for what a document says, set apart from what the application says."""
    families = QFontDatabase.families()
    chosen = [f for f in (*QUOTE_FAMILIES, *HAN_SERIF_FAMILIES) if f in families]
    font = QFont(base)
    if chosen:
        font.setFamilies(list(dict.fromkeys(chosen)))
    font.setPointSizeF(base.pointSizeF() * scale)
    return font


def suited(font: QFont, text: str) -> QFont:
    """`font` with quotation marks as wide as this text wants them.

    A Chinese family draws them as wide as its characters, which tears Latin words apart; where
    the text has no Chinese, it is asked for narrow ones.
    """
    result = QFont(font)
    families = font.families() or [font.family()]
    if "CJK" in families[0]:
        narrow = QFont.Tag("pwid")
        if HAN.search(text):
            result.unsetFeature(narrow)
        else:
            result.setFeature(narrow, 1)
    return result


def scaled(base: QFont, scale: float, weight: QFont.Weight | None = None) -> QFont:
    """`base` at another size, and weight if given."""
    font = QFont(base)
    font.setPointSizeF(base.pointSizeF() * scale)
    if weight is not None:
        font.setWeight(weight)
    return font
