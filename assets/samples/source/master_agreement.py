"""Puts the master agreement together from its articles and schedules.

What the table of services (services.toml) says goes into Schedules 2, 3, 4, 6, 11 and 18.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

import markup

FOLDER = Path(__file__).parent / "master_agreement"
COMMENCEMENT = {
    "S01": "8 March 2024",
    "S02": "8 March 2024",
    "S03": "2 January 2024",
    "S04": "2 January 2024",
    "S05": "29 January 2024",
    "S06": "2 January 2024",
    "S07": "25 March 2024",
    "S08": "8 April 2024",
    "S09": "2 April 2024",
    "S10": "15 April 2024",
    "S11": "29 April 2024",
    "S12": "29 April 2024",
    "S13": "13 May 2024",
    "S14": "20 May 2024",
    "S15": "27 May 2024",
    "S16": "3 June 2024",
}


def services() -> list[dict]:
    with (FOLDER / "services.toml").open("rb") as file:
        return tomllib.load(file)["service"]


def text(name: str) -> str:
    return (FOLDER / f"{name}.txt").read_text(encoding="utf8").strip()


def row(*cells: object) -> str:
    return "| " + " | ".join(map(str, cells)) + " |"


def table(rows: list[str]) -> str:
    return "\n".join(rows)


def items(sentences: list[str]) -> Iterator[str]:
    """A list with letters; the last item ends with a full stop."""
    for number, sentence in enumerate(sentences):
        end = "." if number == len(sentences) - 1 else ";"
        yield f"({chr(ord('a') + number)}) {sentence[0].lower()}{sentence[1:]}{end}"


def description(number: int, service: dict) -> Iterator[str]:
    """A service's pages in Schedule 2."""
    yield "[page]"
    yield f"# {service['code']} {service['name']}"
    yield f"{number}.1 Purpose. {service['purpose']}"
    yield f"{number}.2 Scope. The Provider shall:"
    yield from items(service["scope"])
    yield f"{number}.3 Not included in {service['code']}:"
    yield from items(service["exclusions"])
    yield f"{number}.4 Hours of service: {service['hours']}."
    yield f"{number}.5 Method. {service['method']}"
    yield f"{number}.6 Tasks of the Authority:"
    yield from items(service["tasks"])
    yield f"{number}.7 Reports and other documents that are delivered regularly:"
    yield table([row("Document", "Due"), *(row(*cells) for cells in service["deliverables"])])
    yield f"{number}.8 Volumes on which the charge is based:"
    yield table([row("Volume", "2022"), *(row(*cells) for cells in service["volumes"])])


def schedule_2() -> Iterator[str]:
    listed = [row(s["code"], s["name"], f"£{s['monthly']:,}") for s in services()]
    yield text("schedule_02_head") + "\n" + table(listed)
    for number, service in enumerate(services(), start=2):
        yield from description(number, service)


def schedule_3() -> Iterator[str]:
    yield text("schedule_03_head")
    for service in services():
        yield f"# Service levels of {service['code']} {service['name']}"
        levels = [level.split(" | ") for level in service["levels"]]
        rows = [row("Service level", "Target", "Margin", "Credit", "Measured by")]
        rows += [row(a, b, c, f"{float(d):.1f}%", e) for a, b, c, d, e in levels]
        yield table(rows)


def charges() -> str:
    rows = [row("Code", "Service", "Monthly charge", "Investment under clause 3.3")]
    rows += [
        row(s["code"], s["name"], f"{s['monthly']:,}", f"{s['investment']:,}") for s in services()
    ]
    total = [sum(s[key] for s in services()) for key in ("monthly", "investment")]
    return table([*rows, row("", "Total", *(f"{sum_:,}" for sum_ in total))])


def commencement() -> str:
    rows = [row("Code", "Service", "Service commencement date")]
    rows += [row(s["code"], s["name"], COMMENCEMENT[s["code"]]) for s in services()]
    return table(rows)


def schedule_11() -> Iterator[str]:
    yield text("schedule_11_head")
    rows = [row("Service", "Personal Data", "Data subjects", "Kept for")]
    rows += [row(f"{s['code']} {s['name']}", *s["data"]) for s in services()]
    yield table(rows)


def schedule_18() -> Iterator[str]:
    yield text("schedule_18_head")
    yield "~ Exit of the single services"
    for number, service in enumerate(services(), start=1):
        yield f"2.{number} {service['code']} {service['name']}. {service['exit']}"


def blocks() -> Iterator[str]:
    """The whole agreement in the order of its pages, as source text."""
    yield text("articles_1")
    yield text("articles_2")
    yield text("schedule_01")
    yield from schedule_2()
    yield from schedule_3()
    yield text("schedule_04").replace("[table charges]", charges())
    yield text("schedule_05")
    yield text("schedule_06").replace("[table commencement]", commencement())
    for number in range(7, 11):
        yield text(f"schedule_{number:02}")
    yield from schedule_11()
    for number in range(12, 18):
        yield text(f"schedule_{number:02}")
    yield from schedule_18()
    yield text("schedule_19")
    yield text("schedule_20")


def source() -> markup.Source:
    return markup.parse("\n\n".join(blocks()))
