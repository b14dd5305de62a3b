"""What the demonstration's worker says about the sample contracts."""

from __future__ import annotations

from pathlib import Path

from rag.types import Answer, Document
from tests.desktop_app.demo_worker import STATS, DemoWorker, canned

SAMPLES = Path(__file__).resolve().parent.parent.parent / "assets" / "samples"
PAGES = {"supply-agreement": 9, "master-agreement": 103, "purchase-contract-zh": 6}


def demo_worker(sample: str) -> DemoWorker:
    """A worker with the samples in its library and answers about one of them."""
    documents = [
        Document(f"{name}.pdf", str(SAMPLES / f"{name}.pdf"), "", pages, pages * 3, "")
        for name, pages in PAGES.items()
    ]
    script = CHINESE if sample.endswith("zh") else RICH if sample == "rich" else ENGLISH
    return DemoWorker(documents, script)


_SUPPLY = "supply-agreement.pdf"
_LONG = (
    "We have a supplier who delivered the seals five weeks late and then sent replacements that "
    "failed the tests again. Which remedies do we have, in which order, and what is the most "
    "that we could claim in this contract year?"
)
RICH: dict[str, Answer] = {
    _LONG: canned(
        _SUPPLY,
        [
            (
                3,
                "If the Supplier delivers later than the date due, it shall pay liquidated damages "
                "of 0.75% of the value of the late Goods for each full week of delay, up to 7.5% "
                "of that value. The parties agree that these sums are in proportion to the "
                "Customer's legitimate interest in punctual delivery.",
            ),
            (3, "If replacement Goods fail the tests again, the Customer may choose"),
            (6, "the total liability of each party for all breaches in a Contract Year"),
            (5, "claim damages for the loss that the breach has caused"),
            (3, "words that the page does not have"),
        ],
        "## Remedies\n\nIn this order:\n\n1. **Liquidated damages** for the delay [1].\n"
        "2. For the failed replacement, a choice [2]:\n   - a further replacement,\n"
        "   - a lower price, or\n   - a full refund.\n3. Damages for the rest [4].\n\n"
        "| Step | Clause | Limit |\n|---|---|---|\n| Delay | 4.2 | 7.5 % of the late Goods |\n"
        "| Total in a year | 12.2 | 125 % of the Price |\n\n"
        "> Nothing in clause 12 limits liability for fraud.\n\nThe cap is in `12.2` [3][5].",
    ),
    "What is the capital of France?": Answer("The documents do not say.", False, (), dict(STATS)),
}
ENGLISH: dict[str, Answer] = {
    "How is payment made?": canned(
        _SUPPLY,
        [
            (4, "Payment is made by bank transfer in pounds sterling to the account stated on the "
                "invoice. The Customer shall pay each valid invoice within 30 days of the date on "
                "which it receives it."),
            (4, "For each Order with a value over £50,000 the Customer shall pay a deposit of 20% "
                "within seven days of acceptance of the Order."),
        ],
        "Payment is made **by bank transfer in pounds sterling**, within 30 days of receiving a "
        "valid invoice [1].\n\nThree things change what is due and when:\n\n"
        "- Orders over £50,000 need a **deposit of 20 %** within seven days [2].\n"
        "- 5 % of each commissioning invoice is retained until the report is signed.\n"
        "- A disputed invoice is paid as far as it is not in dispute.",
    ),
    "How is liability for breach determined?": canned(
        _SUPPLY,
        [
            (6, "Liability for breach of this Agreement is determined by the loss that the breach "
                "has directly caused, as proved by the party that claims it, after deduction of "
                "liquidated damages already paid for the same event."),
            (6, "the total liability of each party for all breaches in a Contract Year is limited "
                "to 125% of the Price paid or payable in that Contract Year."),
        ],
        "By **the loss the breach has directly caused**, as proved by the party that claims it, "
        "less liquidated damages already paid for the same event [1]. The total in a Contract "
        "Year is capped at 125 % of the Price [2].",
    ),
}  # fmt: skip
_ZH = "purchase-contract-zh.pdf"
CHINESE: dict[str, Answer] = {
    "违约责任如何确定？": canned(
        _ZH,
        [
            (4, "9.1 违约责任按照违约方的过错程度以及违约行为给对方造成的实际损失确定"),
            (4, "乙方逾期交货的，每逾期一日，应按合同总价的 0.3‰ 支付违约金"),
        ],
        "违约责任按照**违约方的过错程度**以及违约行为给对方造成的**实际损失**确定 [1]。\n\n"
        "- 逾期交货：每逾期一日，按合同总价的 0.3‰ 支付违约金 [2]。\n"
        "- 逾期付款：每逾期一日，按逾期金额的 0.2‰ 支付违约金。",
    ),
}
