"""The kinds of clause that a reader of a contract asks for first, as data.

Each topic has a name, a question that finds it, and words that its sentences use. English and
Chinese. It knows no document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of clause: its name in English and Chinese, a search text, and a telling pattern."""

    name: str
    name_zh: str
    query: str
    query_zh: str
    pattern: re.Pattern[str]


def _topic(name: str, name_zh: str, query: str, query_zh: str, pattern: str) -> Topic:
    return Topic(name, name_zh, query, query_zh, re.compile(pattern, re.IGNORECASE))


MAIN_TERMS = (
    _topic(
        "Parties",
        "当事人",
        "This agreement is made between the parties, supplier, customer, buyer",
        "甲方 乙方 买方 卖方 签订本合同",
        r"\b(between|by and between|made (on|as of|by)|entered into)\b|买方|卖方|甲方|乙方",
    ),
    _topic(
        "Subject",
        "标的",
        "goods, services and works to be supplied; scope of the agreement",
        "合同标的 产品名称 规格 数量",
        r"\b(suppl(y|ies)|provide|deliver|perform|purchase|licen[sc]e|sell)\b|标的|产品|货物|数量",
    ),
    _topic(
        "Term",
        "期限",
        "term and duration of the agreement, commencement and expiry, renewal",
        "合同期限 有效期 生效",
        r"\b(term|commence[sd]?|expire[sd]?|renew|years?|months?)\b|期限|有效期|生效",
    ),
    _topic(
        "Price and payment",
        "价款与付款",
        "payment terms: price, fees, invoices, due date, within days after receipt of invoice",
        "合同价款 付款方式 支付",
        r"\b(pay(s|ment|able)?|invoices?|price|fees?|charges)\b|支付|付款|价款|发票",
    ),
    _topic(
        "Delivery and acceptance",
        "交付与验收",
        "delivery, inspection, acceptance tests and criteria, period for acceptance",
        "交货 交付 验收",
        r"\b(deliver(y|ed|ies)?|accept(ance|ed)?|inspect(ion)?)\b|交货|交付|验收",
    ),
    _topic(
        "Warranty",
        "质量保证",
        "warranty period, warranty that goods are free from defects, remedy",
        "质量保证期 保修",
        r"\b(warrant(y|ies|s)?|defects?)\b|质保|保修|质量保证",
    ),
    _topic(
        "Liability",
        "违约责任",
        "limitation of liability, liability cap, damages for breach, liquidated damages, delay",
        "违约责任 违约金 赔偿",
        r"\b(liab(le|ility)|damages|indemnif)\w*|违约|赔偿|责任",
    ),
    _topic(
        "Confidentiality",
        "保密",
        "confidential information, non-disclosure obligations",
        "保密 商业秘密",
        r"\bconfidential(ity)?\b|保密",
    ),
    _topic(
        "Termination",
        "解除与终止",
        "termination of the agreement for breach, convenience, insolvency; notice period",
        "解除合同 终止",
        r"\bterminat(e|ed|ion)\b|解除|终止",
    ),
    _topic(
        "Governing law and disputes",
        "法律适用与争议解决",
        "governing law, jurisdiction, courts, arbitration, dispute resolution",
        "法律适用 争议解决 仲裁 法院",
        r"\b(governed by|governing law|laws of|jurisdiction|courts?|arbitrat)\w*|仲裁|法院|争议",
    ),
)
