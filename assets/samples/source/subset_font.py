"""Cuts the Chinese font down to the characters that the sample contract uses.

    python subset_font.py /usr/share/fonts/truetype/wqy/wqy-microhei.ttc

Needed only when the Chinese text gains characters; Debian's package fonts-wqy-microhei has the
whole font (WenQuanYi Micro Hei, Apache-2.0 or GPL-3 with font exception). fontTools comes with
matplotlib.
"""

from __future__ import annotations

import sys
from pathlib import Path

from fontTools import subset

HERE = Path(__file__).parent


def main() -> None:
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    text = (HERE / "purchase_contract_zh.txt").read_text(encoding="utf8")
    characters = {ord(c) for c in text if c.isprintable()} | set(range(0x20, 0x7F))
    characters |= {ord(c) for c in "第页共　"}
    options = subset.Options(layout_features=[], hinting=False, notdef_outline=True)
    options.font_number = 0
    font = subset.load_font(sys.argv[1], options)
    missing = characters - set(font.getBestCmap())
    if missing:
        sys.exit("The font lacks: " + "".join(sorted(map(chr, missing))))
    tool = subset.Subsetter(options)
    tool.populate(unicodes=characters)
    tool.subset(font)
    target = HERE / "fonts" / "WenQuanYiMicroHei-subset.ttf"
    target.parent.mkdir(exist_ok=True)
    subset.save_font(font, str(target), options)
    print(f"{target.name}: {len(characters)} characters, {target.stat().st_size} bytes")


if __name__ == "__main__":
    main()
