"""The kinds of clause that a reader of a contract asks for first, as data.

Each topic has a name, a question that finds it, and words that its sentences use. English and
Chinese. It knows no document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of clause.

    Attributes:
        name, name_zh: in English and Chinese.
        query, query_zh: words of such clauses. question: how one asks for it.
        pattern: what its sentences hold.
        opens: it stands at the beginning of a document, and the first that fits is it.
    """

    name: str
    name_zh: str
    query: str
    query_zh: str
    pattern: re.Pattern[str]
    question: str
    opens: bool = False


def _topic(
    name: str,
    name_zh: str,
    query: str,
    query_zh: str,
    pattern: str,
    question: str,
    *,
    opens: bool = False,
) -> Topic:
    return Topic(
        name, name_zh, query, query_zh, re.compile(pattern, re.IGNORECASE), question, opens
    )


MAIN_TERMS = (
    _topic(
        "Parties",
        "当事人",
        "This agreement is made between the parties, supplier, customer, buyer",
        "甲方 乙方 买方 卖方 签订本合同",
        r"\b(made|entered|dated|effective|agreement)\b.{0,300}\b(between|among)\b|(买方|卖方|甲方|乙方)",
        "Who are the parties to this agreement?",
        opens=True,
    ),
    _topic(
        "Subject",
        "标的",
        "goods, services and works to be supplied; scope of the agreement",
        "合同标的 产品名称 规格 数量",
        r"\b(suppl(y|ies)|provide|deliver|perform|purchase|licen[sc]e|sell)\b|标的|产品|货物|数量",
        "Which goods or services shall be supplied under this agreement?",
    ),
    _topic(
        "Term",
        "期限",
        "term and duration of the agreement, commencement and expiry, renewal",
        "合同期限 有效期 生效",
        r"\b(term|commence[sd]?|expire[sd]?|renew|years?|months?)\b|期限|有效期|生效",
        "What is the term of this agreement, and when does it expire?",
    ),
    _topic(
        "Price and payment",
        "价款与付款",
        "payment terms: price, fees, invoices, due date, within days after receipt of invoice",
        "合同价款 付款方式 支付",
        r"\b(pay(s|ment|able)?|invoices?|price|fees?|charges)\b|支付|付款|价款|发票",
        "How and when is payment made, within how many days of an invoice?",
    ),
    _topic(
        "Delivery and acceptance",
        "交付与验收",
        "delivery, inspection, acceptance tests and criteria, period for acceptance",
        "交货 交付 验收",
        r"\b(deliver(y|ed|ies)?|accept(ance|ed)?|inspect(ion)?)\b|交货|交付|验收",
        "When is delivery, and how is it inspected and accepted?",
    ),
    _topic(
        "Warranty",
        "质量保证",
        "warranty period, warranty that goods are free from defects, remedy",
        "质量保证期 保修",
        r"\b(warrant(y|ies|s)?|defects?)\b|质保|保修|质量保证",
        "How long is the warranty, and what is warranted?",
    ),
    _topic(
        "Liability",
        "违约责任",
        "limitation of liability, liability cap, damages for breach, liquidated damages, delay",
        "违约责任 违约金 赔偿",
        r"\b(liab(le|ility)|damages|indemnif)\w*|违约|赔偿|责任",
        "Is liability limited, and how much is the cap?",
    ),
    _topic(
        "Confidentiality",
        "保密",
        "confidential information, non-disclosure obligations",
        "保密 商业秘密",
        r"\bconfidential(ity)?\b|保密",
        "What must be kept confidential?",
    ),
    _topic(
        "Termination",
        "解除与终止",
        "termination of the agreement for breach, convenience, insolvency; notice period",
        "解除合同 终止",
        r"\bterminat(e|ed|ion)\b|解除|终止",
        "How can the agreement be terminated, with how much notice?",
    ),
    _topic(
        "Governing law and disputes",
        "法律适用与争议解决",
        "governing law, jurisdiction, courts, arbitration, dispute resolution",
        "法律适用 争议解决 仲裁 法院",
        r"\b(governed by|governing law|laws of|jurisdiction|courts?|arbitrat)\w*|仲裁|法院|争议",
        "Which law governs the agreement?",
    ),
)
