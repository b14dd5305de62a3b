"""The kinds of clause that a reader of a contract asks for first, as data.

Each topic has a name, a question that finds it, words that its sentences use, and how the sentence
that states the rule is commonly worded. English and Chinese. It knows no document.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from rag.wording import near, then


@dataclass(frozen=True, slots=True)
class Topic:
    """A kind of clause.

    Attributes:
        name, name_zh: in English and Chinese.
        query, query_zh: words of such clauses. question: how one asks for it.
        rule: how the rule is commonly stated. beside: what only sounds like it.
        opens: it stands at the beginning of a document, and the first that fits is it.
    """

    name: str
    name_zh: str
    query: str
    query_zh: str
    question: str
    rule: re.Pattern[str]
    beside: re.Pattern[str]
    opens: bool = False


def _topic(
    name: str,
    name_zh: str,
    *,
    query: str,
    query_zh: str,
    question: str,
    rule: tuple[str, ...],
    beside: str,
    opens: bool = False,
) -> Topic:
    states, sounds = (
        re.compile(one, re.IGNORECASE | re.DOTALL) for one in ("|".join(rule), beside)
    )
    return Topic(name, name_zh, query, query_zh, question, states, sounds, opens)


_DUTY = r"\b(shall|will|must|agrees?|undertakes?)\b"
_GOODS = (
    r"\b(goods|products?|deliverables?|equipment|shipments?|software|units?|materials?|works?"
    r"|deliver(y|ies))\b"
)

MAIN_TERMS = (
    _topic(
        "Parties",
        "当事人",
        query="This agreement is made between the parties, supplier, customer, buyer",
        query_zh="甲方 乙方 买方 卖方 签订本合同",
        question="Who are the parties to this agreement?",
        rule=(
            r"\b(made|entered|dated|effective|agreement)\b.{0,300}\b(between|among)\b"
            r"(.{2,300}\band\b|\s*[:\n])",
            r"\bparties to this \w+ are\b",
            r"(买方|卖方|甲方|乙方)\S*[：:]",
        ),
        beside=r"entire agreement|relationship between|dispute|signature page",
        opens=True,
    ),
    _topic(
        "Subject",
        "标的",
        query="goods, services and works to be supplied; scope of the agreement",
        query_zh="合同标的 产品名称 规格 数量",
        question="Which goods or services shall be supplied under this agreement?",
        rule=(
            then(
                r"\b(shall|will|agrees?|desires?|hereby|engages?|retains?|appoints?|wish(es)?)\b",
                r"\b(suppl(y|ies)|provide|sell|purchase|perform|licen[cs]e|lease|let|distribute"
                r"|develop|manufacture|collaborate|lend|make loans|transport|ship|grants?"
                r"|render)\b",
                90,
            ),
            r"标的|货物|产品名称",
        ),
        beside=r"reserve the right|indemnif|insur|notice|costs include|audit|terminat|employees"
        r"|\bwarrant|invention|\boption|capitali[sz]ed terms",
    ),
    _topic(
        "Term",
        "期限",
        query="term and duration of the agreement, commencement and expiry, renewal",
        query_zh="合同期限 有效期 生效",
        question="What is the term of this agreement, and when does it expire?",
        rule=(
            then(
                r"\bterm of (this|the) \w+",
                r"\b(shall (be|begin|commence|end)|will (be|begin|commence)|is|begins|commences)\b",
                80,
            ),
            then(
                r"\b(agreement|contract|lease|term)\b",
                r"\b(commence|begin|continue|remain|expire|last|end|take)s?\b"
                r"|\bbe (effective|for)\b",
                120,
            )
            + r"[^.;]{0,200}(\byears?\b|\bmonths?\b|\bdays?\b|\buntil\b|\b(19|20)\d\d\b)",
            r"\binitial term\b",
            r"期限|有效期",
        ),
        beside=r"confidential|warrant|notice of|(right to|may) terminate|\binvoice|commitment|quota"
        r"|(prior to|before|after) (the )?exp\w+|保函|质量保证|质保|保密",
    ),
    _topic(
        "Price and payment",
        "价款与付款",
        query="payment terms: price, fees, invoices, due date, days after receipt of invoice",
        query_zh="合同价款 付款方式 支付",
        question="How and when is payment made, within how many days of an invoice?",
        rule=(
            r"\b(shall|will|must|agrees? to) (promptly |also )?(pay|invoice)\b",
            then(r"\b(due|payable)\b", r"\b(within|on|days|month(ly)?)\b", 60),
            near(r"\bdays\b", r"\binvoices?\b|\breceipt of\b", 60),
            then(r"\b(price|fees?|royalt\w+|rent)\b", r"\b(is|are|shall be|equals?)\b", 60),
            r"支付|付清|付款",
        ),
        beside=r"\blate\b|interest|overdue|delinquen|\bdisput|\btax(es)?\b|refund|audit|terminat"
        r"|insur|indemnif|\bnotices?\b|subcontract|\bfail",
    ),
    _topic(
        "Delivery and acceptance",
        "交付与验收",
        query="delivery, inspection, acceptance tests and criteria, period for acceptance",
        query_zh="交货 交付 验收",
        question="When is delivery, and how is it inspected and accepted?",
        rule=(
            near(r"\b(deliver|shipp?|accept|inspect|reject)(ed|s)?\b", _GOODS),
            then(r"\bdeliver(y|ies)\b", r"\b(within|date|days|f\.?o\.?b|incoterms)\b", 80),
            r"交货|交付|验收",
        ),
        beside=r"notices?\b|deemed delivered|books|records|terminat|counterparts|insur"
        r"|confidential|\breports\b|guarantee by|\bwarrant",
    ),
    _topic(
        "Warranty",
        "质量保证",
        query="warranty period, warranty that goods are free from defects, remedy",
        query_zh="质量保证期 保修",
        question="How long is the warranty, and what is warranted?",
        rule=(
            then(
                r"\bwarrant(s|ed|y|ies)?\b",
                r"\b(free (from|of)|defects?|conform|workmanlike|period|months?|years?|days)\b",
                200,
            ),
            r"质保|保修|质量保证",
        ),
        beside=r"\bduly\b|power and authority|no (other )?warrant|disclaim|organi[sz]ed|surviv"
        r"|warranties,? (express|whether)|purchasers\b|infringe",
    ),
    _topic(
        "Liability",
        "违约责任",
        query="total liability of a party is limited, liability cap, damages for breach, delay",
        query_zh="违约责任 违约金 赔偿",
        question="Is liability limited, and how much is the cap?",
        rule=(
            near(
                r"\b(liab\w+|damages)\b",
                r"\b(exceed|limited to|no event|consequential|indirect|neither|not be liable)\b",
                160,
            ),
            r"\b(aggregate|maximum|total) liability|liquidated damages",
            r"违约金|赔偿",
        ),
        beside=r"insurance|\bmeans\b|premium|\bdamage to\b",
    ),
    _topic(
        "Confidentiality",
        "保密",
        query="confidential information, non-disclosure obligations",
        query_zh="保密 商业秘密",
        question="What must be kept confidential?",
        rule=(
            then(_DUTY, r"\b(confiden\w+|secre\w+)\b"),
            then(
                r"\bconfidential(ity)?\b",
                rf"{_DUTY}[^.;]{{0,60}}\b(disclos\w+|use|used|reveal|keep|kept|held|hold|maintain)\b",
            ),
            r"保密",
        ),
        beside=r"\bcan include|includes\b|surviv|terminat|equitable|injuncti|compelled",
    ),
    _topic(
        "Termination",
        "解除与终止",
        query="termination of the agreement for breach, convenience, insolvency; notice period",
        query_zh="解除合同 终止",
        question="How can the agreement be terminated, with how much notice?",
        rule=(
            then(
                r"\b(may|right to|entitled to|option to|can)\b",
                r"\bterminated?\b|\bend (this|the) \w+|\bcancel this",
                80,
            ),
            r"\bterminated? (by|at|upon|immediately|without)\b",
            r"(解除|终止)(本)?合同",
        ),
        beside=r"\b(upon|after|following|of) (any |the |such )?(expiration or )?termination|surviv"
        r"|not relieve|(before|prior to) termination",
    ),
    _topic(
        "Governing law and disputes",
        "法律适用与争议解决",
        query="governing law, jurisdiction, courts, arbitration, dispute resolution",
        query_zh="法律适用 争议解决 仲裁 法院",
        question="Which law governs the agreement?",
        rule=(
            then(r"\b(governed|construed|interpreted)\b", r"\blaws?\b"),
            then(r"\blaws? of\b", r"\b(appl\w+|govern\w*)", 60),
            r"仲裁|法院",
        ),
        beside=r"compl(y|iance) with|in accordance with applicable",
    ),
)


def topic(name: str) -> Topic:
    """The topic of that English name. Raises KeyError if there is none."""
    return {one.name: one for one in MAIN_TERMS}[name]
