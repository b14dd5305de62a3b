"""The window's Qt style sheet, made from named colours; widgets are told apart by their `role`."""

from __future__ import annotations

from collections.abc import Mapping
from string import Template

_BASE = """
QToolTip { background: $raised; color: $ink; border: 1px solid $line; padding: 5px 8px; }
QMainWindow, QDialog { background: $surface; }
QSplitter::handle { background: $line; }
QSplitter::handle:horizontal { width: 1px; }
QSplitter::handle:vertical { height: 1px; }
QScrollArea, QScrollArea > QWidget > QWidget { background: transparent; border: none; }
QAbstractScrollArea { border: none; }
QMenuBar { background: $side; color: $soft; border-bottom: 1px solid $line; padding: 1px 6px; }
QMenuBar::item { padding: 5px 10px; border-radius: 5px; background: transparent; }
QMenuBar::item:selected { background: $hover; color: $ink; }
QMenu { background: $raised; color: $ink; border: 1px solid $line; padding: 5px; }
QMenu::item { padding: 6px 26px 6px 12px; border-radius: 5px; }
QMenu::item:selected { background: $hover; }
QMenu::item:disabled { color: $faint; }
QMenu::icon { padding-left: 8px; }
QMenu::separator { height: 1px; background: $line; margin: 5px 8px; }
QScrollBar:vertical { background: transparent; width: 12px; margin: 0; }
QScrollBar:horizontal { background: transparent; height: 12px; margin: 0; }
QScrollBar::handle { background: $pressed; border-radius: 4px; margin: 2px; }
QScrollBar::handle:vertical { min-height: 36px; }
QScrollBar::handle:horizontal { min-width: 36px; }
QScrollBar::handle:hover { background: $faint; }
QScrollBar::add-line, QScrollBar::sub-line { width: 0; height: 0; }
QScrollBar::add-page, QScrollBar::sub-page { background: transparent; }
"""

_CONTROLS = """
QPushButton { background: $raised; color: $ink; border: 1px solid $line; border-radius: 8px;
    padding: 7px 14px; }
QPushButton:hover { background: $hover; }
QPushButton:pressed { background: $pressed; }
QPushButton:focus { border: 1px solid $accent; }
QPushButton:disabled { color: $faint; background: transparent; }
QPushButton[role="primary"] { background: $accent; color: $on_accent; border: 1px solid $accent;
    font-weight: 600; }
QPushButton[role="primary"]:hover { background: $accent_hover; border-color: $accent_hover; }
QPushButton[role="primary"]:focus { border: 1px solid $ink; }
QPushButton[role="primary"]:disabled { background: $pressed; color: $faint;
    border-color: $pressed; }
QPushButton[role="danger"] { background: $bad; color: $surface; border-color: $bad;
    font-weight: 600; }
QPushButton[role="ghost"] { background: transparent; border-color: transparent; color: $soft;
    text-align: left; padding: 6px 10px; }
QPushButton[role="ghost"]:hover { background: $hover; color: $ink; }
QPushButton[role="ghost"]:focus { border-color: $accent; }
QPushButton[role="suggestion"] { background: transparent; color: $ink; border: 1px solid $line;
    border-radius: 10px; text-align: left; padding: 10px 14px; }
QPushButton[role="suggestion"]:hover { background: $tint; border-color: $accent; }
QToolButton { background: transparent; color: $soft; border: 1px solid transparent;
    border-radius: 7px; padding: 4px; }
QToolButton:hover { background: $hover; color: $ink; }
QToolButton:pressed, QToolButton:checked { background: $pressed; color: $ink; }
QToolButton:focus { border: 1px solid $accent; }
QToolButton:disabled { color: $faint; }
QToolButton::menu-indicator { image: none; width: 0; }
QToolButton[role="send"] { background: $accent; border-radius: 10px; padding: 0; }
QToolButton[role="send"]:hover { background: $accent_hover; }
QToolButton[role="send"]:focus { border: 2px solid $ink; }
QToolButton[role="send"]:disabled { background: $pressed; }
QToolButton[role="chip"] { background: $mark; color: $on_mark; border: 1px solid transparent;
    border-radius: 9px; padding: 2px 9px; font-weight: 600; }
QToolButton[role="chip"]:hover, QToolButton[role="chip"]:focus { border: 1px solid $on_mark; }
QToolButton[role="small"] { color: $soft; padding: 3px 7px; }
QLineEdit, QSpinBox, QDoubleSpinBox, QComboBox { background: $raised; color: $ink;
    border: 1px solid $line; border-radius: 7px; padding: 5px 8px; min-height: 20px;
    selection-background-color: $accent; selection-color: $on_accent; }
QLineEdit:focus, QSpinBox:focus, QDoubleSpinBox:focus, QComboBox:focus {
    border: 1px solid $accent; }
QLineEdit:disabled, QSpinBox:disabled, QComboBox:disabled { color: $faint; }
QComboBox::drop-down { border: none; width: 26px; }
QComboBox::down-arrow { image: url("$chevron"); width: 14px; height: 14px; }
QCheckBox::indicator { width: 16px; height: 16px; border: 1px solid $faint; border-radius: 4px;
    background: $raised; }
QCheckBox::indicator:checked { background: $accent; border-color: $accent;
    image: url("$check"); }
QCheckBox::indicator:disabled { border-color: $line; background: transparent; }
QCheckBox:focus { color: $accent; }
QComboBox QAbstractItemView { background: $raised; border: 1px solid $line; outline: none;
    selection-background-color: $hover; selection-color: $ink; padding: 4px; }
QCheckBox { spacing: 8px; }
QCheckBox:disabled { color: $faint; }
QListView { background: transparent; border: none; outline: none; }
QProgressBar { background: $pressed; border: none; border-radius: 2px; max-height: 4px;
    min-height: 4px; }
QProgressBar::chunk { background: $accent; border-radius: 2px; }
"""

_PARTS = """
QWidget[role="side"] { background: $side; }
QWidget[role="desk"] { background: $desk; }
QWidget[role="surface"] { background: $surface; }
QWidget[role="bar"] { background: $surface; border-bottom: 1px solid $line; }
QWidget[role="pdfbar"] { background: $side; border-bottom: 1px solid $line; }
QWidget[role="foot"] { background: $side; border-top: 1px solid $line; }
QAbstractScrollArea[role="pages"] QScrollBar { background: $desk; }
QFrame[role="rule"] { background: $line; border: none; max-height: 1px; min-height: 1px; }
QFrame[role="question"] { background: $tint; border: none; border-radius: 14px; }
QFrame[role="composer"] { background: $raised; border: 1px solid $line; border-radius: 14px; }
QFrame[role="composer"][focused="true"] { border: 1px solid $accent; }
QFrame[role="composer"] QPlainTextEdit { background: transparent; border: none; color: $ink;
    selection-background-color: $accent; selection-color: $on_accent; }
QFrame[role="citation"] { background: $raised; border: 1px solid $line; border-radius: 10px; }
QFrame[role="citation"]:hover, QFrame[role="citation"][current="true"] {
    border: 1px solid $marker; }
QFrame[role="citation"]:focus { border: 1px solid $accent; }
QLabel[role="badge"] { background: $mark; color: $on_mark; border-radius: 6px; padding: 1px 6px;
    font-weight: 700; }
QFrame[role="banner"] { background: $bad_tint; border: none; border-radius: 10px; }
QFrame[role="banner"][kind="info"] { background: $tint; }
QFrame[role="card"] { background: $raised; border: 1px solid $line; border-radius: 12px; }
QFrame[role="absent"] { background: $side; border: 1px solid $line; border-radius: 10px; }
QFrame[role="find"] { background: $side; border-bottom: 1px solid $line; }
QTextBrowser { background: transparent; color: $ink; border: none;
    selection-background-color: $accent; selection-color: $on_accent; }
QPlainTextEdit[role="page"] { background: $raised; color: $ink; border: none;
    selection-background-color: $accent; selection-color: $on_accent; }
QLabel[role="soft"] { color: $soft; }
QLabel[role="faint"] { color: $faint; }
QLabel[role="bad"] { color: $bad; }
QLabel[role="section"] { color: $soft; font-weight: 600; }
QLabel[role="strong"] { font-weight: 600; }
"""

_TEMPLATE = Template(_BASE + _CONTROLS + _PARTS)


def stylesheet(colors: Mapping[str, str]) -> str:
    """The style sheet in these colours. Raises KeyError naming a colour that is missing."""
    return _TEMPLATE.substitute(colors)
