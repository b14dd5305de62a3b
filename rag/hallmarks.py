"""What a clause of some kind can hardly do without: "assign" for an assignment.

Where no passage bears the hallmark of the kind of clause asked for, the document is likely silent
on it. The patterns say what contract language in general looks like, in no document's words; the
kinds without one are those that clauses word too freely. Knows no index.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache

from rag.captions import is_definition
from rag.wording import near, then

_DATE = (
    r"(?:(january|february|march|april|may|june|july|august|september|october|november|december"
    r"|\b(jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b)\.? \d|\bday (of|in)\b|\b(19|20)\d\d\b"
    r"|\b\d{1,2}[/.-]\d{1,2}[/.-]\d\d|\d年)"
)
# No date of an end, nor of another agreement.
_UP_TO = r"(?:(?!\bend|terminat|expir|until|amend)[^.;]){0,100}"
# By the name of the concept (`rag.concepts`), over lower-case text with single spaces.
_HALLMARKS = {
    "Governing law": r"govern|constru|interpreted|laws? of",
    "Jurisdiction and venue": r"jurisdiction|venue|\bcourts?\b|forum",
    "Dispute resolution": r"arbitrat|mediat|disput|controvers|good faith",
    "Agreement date": r"(?:\b(?:made|entered|dated|executed|signed|effective|concluded)\b|\bdated?:"
    rf"|签订|签署){_UP_TO}{_DATE}|\bthis [^.;]{{0,12}}\bday of\b",
    "Effective date": r"(?:\beffective\b|\bcommenc|\b(?:comes?|enters?) into (?:force|effect)"
    rf"|\b(?:made|dated|entered)\b|生效){_UP_TO}{_DATE}",
    "Renewal": r"\brenew|successive|additional (term|period)|"
    + near(r"extend|extension", r"\bterm|agreement|period|year"),
    "Notice of non-renewal": r"\A(?!.*\binsur).*?(?:"
    + near(r"\brenew|non-?renew|extend|extension", r"notice|notif|unless|intent|elect|desire|wish")
    + r")",
    "Notice of renewal": near(
        r"\brenew|extend|extension", r"notice|notif|unless|intent|elect|desire|wish"
    ),
    "Termination for convenience": near(
        r"terminat|cancel",
        r"without cause|(any|no) reason|no cause|convenience|at will|at any time|any time upon"
        r"|sole discretion|without (giving )?reason",
    )
    # notice alone: nothing follows that it hangs on
    + r"|terminat\w*[^.;]{0,120}\b(days?|months?)\b[^.;]{0,40}notice[^.;]{0,30}[.;]"
    r"|terminat\w*[^.;]{0,80}notice[^.;]{0,60}\b(days?|months?)\b[^.;]{0,30}[.;]",
    "Early termination": r"terminat|cancel|\bend (this|the) ",
    "Termination for breach": near(
        r"(?<!not to )\bterminate[sd]?\b|\bcancel|\bremove[sd]?\b|\bend (this|the) ",
        r"breach|default|\bcure|remed|\bfail|\bif\b|\bcause\b|insolven|bankrupt",
    )
    + r"|events? of default|material breach",
    "Remedies for breach": r"injuncti|equitabl|specific performance|remed|damages|liable",
    "Effects of termination": near(
        r"terminat|expir", r"\bupon\b|\bafter\b|following|surviv|cease|continu"
    ),
    "Right of first refusal": r"first (refusal|offer|right|opportunity|negotiat)|pre-?empt"
    r"|right to match|matching right",
    "Change of control": r"change (of|in) (the )?(control|ownership|management)|\bmerge[rsd]?\b"
    r"|\bmerging|consolidat|substantially all|acquisition of|controlling interest|takeover"
    r"|" + near(r"majority|\d ?%|percent|ownership", r"voting|stock|shares|equity|interest"),
    "Assignment": r"\bassign|"
    + near(r"transfer|delegat", r"agreement|contract|rights?\b|obligations?|interest"),
    "Limitation of liability": near(
        r"\bliab(le|ility|ilities)\b|damages",
        r"no event|not be|shall not|exceed|limited|limitation|maximum|\bonly\b|neither|waive"
        r"|determin|consequential|\bno\b",
    )
    + r"|(sole|exclusive) remedy",
    "Disclaimer of warranties": r"disclaim|implied|as[- ]is|no (other )?(warrant|representation)",
    "No challenge": near(
        r"challeng|contest|attack|impugn|\bquestion\b",
        r"validity|ownership|\btitle|enforceab|\bmarks?\b|trademark|patent|registration|terminat",
    )
    + r"|covenants? not to sue|not (to )?(sue|challeng|contest)|jeopardi[sz]e",
    "Third-party beneficiaries": r"beneficiar|"
    + near(
        r"third part(y|ies)|(any|other) (other )?persons?|persons? other|other than the part",
        r"(any|no|confer\w*) [^.;]{0,40}(benefit|rights?|remed)|enforce",
    ),
    "Indemnity": r"indemni|h[eo]ld harmless|reimburse",
    "Force majeure": r"force majeure|acts? of god|beyond [^.;]{0,40}control",
    "Amendment and waiver": r"amend|modif|waive|vari(ed|ation)|supplement",
    "Subcontracting": r"sub-?contract|sub-?process",
    "Notice of a data breach": near(r"notif|report|inform", r"breach|incident|unauthori[sz]ed"),
    "Infringement by others": r"\binfring",
    "Most favoured customer": r"most[- ]favou?r|"
    + near(
        r"(no|not) (less|more) favou?rabl|lowe(r|st)|more favou?rabl|as favou?rabl|better|best"
        r"|no (greater|higher) than|same (terms|prices?|rates?)",
        r"\bprice|pricing|\brates?\b|\bterms\b|\bfees?\b",
    ),
    "Non-competition": r"\bcompet(e|es|ing|itive|itors?)\b|non-?compet|"
    r"(shall|will|agrees?|may) not[^.;]{0,80}\b(market|sell|distribut|promot|commerciali|engage"
    r"|operate|enter into|carry on|offer|handle|perform\b)",
    "Exclusivity": r"(?<!non-)(?<!non)(?<!and )\bexclusiv(e|ely|ity)\b"
    r"(?! (jurisdiction|venue|remed|of\b|forum|govern|propert|owner|courts?))"
    r"|\bsole (supplier|distributor|provider|source|agent|licensee)|only (supplier|source)"
    r"|(shall|will|agrees?|may) not[^.;]{0,80}\b(appoint|engage|grant|purchase(?! orders?)|obtain"
    r"|permit)",
    "Non-solicitation of customers": r"solicit|divert|entic|take away",
    "Non-solicitation of employees": near(
        r"\bsolicit|\bhir(e|es|ing)\b|recruit|entic|poach|\binduc", r"employ|staff|personnel"
    )
    + r"|offers? of employment|not[^.;]{0,40} employ ",
    "Non-disparagement": r"disparag|derogat|defam|negative|"
    + near(r"detriment|harm|damag|injur|advers|tarnish|impair|reflect", r"reputation|goodwill"),
    "Revenue and profit sharing": r"royalt(?!y[- ]free)|\bcommissions?\b"
    r"|(revenue|profit)s?[- ]shar|"
    + near(
        r"percent|\d ?%|share of|portion of|split|equally",
        r"revenue|\bsales\b|(?<!lost )\bprofits?\b|proceeds|receipts|\bincome\b|\bfees?\b",
    )
    + r"|(finder|referral|lead|placement)\S* fee|"
    + near(r"\bpay", r"each (sale|placement|referral|customer)|per (sale|unit|customer)"),
    "Price restrictions": near(
        r"increas|adjust|chang|revis|escalat|reduc|rais|\bexceed",
        r"\bpric|\brates?\b|\bfees?\b|charge",
    ),
    "Minimum commitment": near(
        r"minimum|(at least|not? (less|fewer) than)(?! [\w-]+( \(\d+\))? (business |calendar )?"
        r"(day|hour|week|month)s?\b)|guarante|commit\w* to|take[- ]or[- ]pay",
        r"purchas|order|quantit|volume|amount|unit|payment|\bfees?\b|\$|annual|royalt|spend|\bbuy"
        r"|\bpay\b|per (month|year|quarter)",
    ),
    "Volume restriction": near(
        r"maximum|exceed|more than|limit|\bcap\b|up to",
        r"number|volume|quantit|units?|users?|amount|capacity|copies|transactions?",
    ),
    "Ownership of intellectual property": r"\bown(s|ed|ership|er)?\b|\btitle\b|propert(y|ies) of"
    r"|belong|\bvest|for hire|\bassigns?\b|sole property|exclusive property",
    "Licence grant": near(
        r"\bgrant|\bgive|\bpermit(s|ted)? (the|it|you|to)\b|\bhave\b|\bhas\b|authori[sz]"
        r"|\bmay\b|entitle",
        r"licen[cs]e|right to (use|market|sell|distribut|publish)|\buse of\b",
    ),
    "Perpetual licence": r"perpetual|irrevocabl|in perpetuity",
    "Affiliates under the licence": r"affiliate|subsidiar|parent",
    "Source code escrow": near(r"source code|software", r"escrow|deposit"),
    "Audit": r"\baudit|"
    + near(
        r"inspect|examin|review|\baccess\b|available",
        r"\bbooks?\b|records|accounts|\bfiles\b|premises|facilit|statements",
    ),
    "Liquidated damages": r"liquidated|penalt|(termination|cancell?ation|break-?up|exit|late)"
    r"[- ](fee|payment|charge)|early termination|(per|each|every) (day|week) of delay"
    r"|违约金",
    "Warranty": near(
        r"\bwarrant|guarante|defect|nonconform|non-conform|claim",
        r"\b(days?|months?|years?|period)\b|\[\*",
    ),
    "Insurance": near(
        r"\binsur",
        r"maintain|carr(y|ied)|obtain|procure|\bkeep|cover|polic|effect|self|secure|provid|limits|\$",
    ),
    "Interest rate": near(r"interest", r"\brates?\b|per annum|per month|percent|\d ?%"),
    "Prepayment": r"\bpre-?pa(y|id)",
    "Late payment": r"interest|\blate\b|overdue|past due|delinquen|suspend|surcharge",
    "Service levels": r"availab|uptime|service level|respon(se|d)|percent|%",
    "Delivery": r"deliver|\bship|freight|carrier|\bfob\b|incoterm|\brisk of",
    "Title and risk": near(r"\btitle|\brisk|ownership", r"\bpass|transfer|\bloss|damage|\bvest"),
    "Return of goods": r"\breturn",
    "Remaining stock": near(
        r"inventor|\bstock|unsold|remaining|products|goods", r"terminat|expir|sell[- ]off|repurchas"
    ),
    "Changing an order": near(r"\border", r"cancel|reschedul|\bchang|postpon|push(ed)?[- ]?out"),
    "Discount": r"discount|rebate|\bmargin|mark-?up",
    "Property of a party": r"\bown(s|ed|ership|er)?\b|\btitle\b|propert(y|ies) of|belong"
    r"|(sole|exclusive|remain\w*)[^.;]{0,30} property|rights in [^.;]{0,80}\bremain",
    "Security for payment": r"letters? of credit|collateral|security (interest|deposit)|\bliens?\b"
    r"|\bguarant|" + then(r"secur(e|ed|es|ity)\b", r"\bpa(y|id)|obligation|perform", 60),
    "Milestones": r"milestone",
    "Territory": r"territor|countr|worldwide|\barea\b|\bmarket\b",
    "Upkeep of premises": r"repair|maintain|remodel|refurbish|renovat|decorat|good condition",
    "Training": r"\btrain",
}


# What takes the hallmark back: the clause is of the kind's opposite, or of another paper.
_OPPOSITES = {
    "Renewal": r"\brenew\w*[^.;]{0,40}, if any"
    r"|(unless|until) [^.;]{0,20}extended by [^.;]{0,20}mutual",
    "Notice of non-renewal": r"(notice|notif\w*)[^.;]{0,80}\b(intent\w*|desire|wish\w*|elect\w*)"
    r" to (extend|renew)|\bchoose to (extend|renew)"
    r"|exercis\w*[^.;]{0,30} options? to (extend|renew)"
    r"|notice of [^.;]{0,40}(deficien|default|breach)",
    "Interest rate": r"additional interest|events? of default",
    "Termination for breach": r"\bnot to terminate"
    r"|\b(after|following|upon) (the )?(effective date of )?(the )?(terminat|expirat)",
    "Termination for convenience": r"terminat\w* (for|with) cause\b"
    r"|deemed [^.;]{0,20}terminat\w* without cause"
    r"|\A(?!.*(without cause|(any|no) reason|convenience|at will)).*"
    r"\b(such breach|not (been )?cured)",
    "Assignment": r"assignment for the benefit of|insolven|bankrupt|\breceiver\b",
    "Exclusivity": r"jurisdiction|\bvenue\b|\bcourts?\b|\bgovern|goodwill|\binure",
    "Non-competition": r"\b(nothing|not)\b[^.;]{0,80}\b(limit|restrict|impair|prevent|prohibit)"
    r"[^.;]{0,60}\b(rights?|abilit|freedom|from)",
    "Minimum commitment": r"\binsur",
    "Licence grant": r"\bnot an? (sub)?licen[cs]e\b|\bno (implied )?licen[cs]e|implication|estop"
    r"|licen[cs]es? granted (here|in|under|by|to)|represents? and warrant"
    r"|separate (written )?(licen[cs]e )?agreement"
    r"|(licen[cs]es?|rights) granted[^.;]{0,160}\b(terminate|cease|expire|revert|end)\b"
    r"|(following|upon|after) [^.;]{0,40}(expir|terminat)",
}


# A recital grants and rules nothing, nor does a definition, but dates are stated there.
_STATED_ANYWHERE = frozenset({"Agreement date", "Effective date"})
_RECITAL = re.compile(r"\bwhereas\b")
# What supersedes other papers speaks of all kinds of clause, and is none of them.
_SUPERSEDES = re.compile(r"(supersed|cancel)\w*[^.;]{0,80}\b(prior|previous|earlier|all other)\b")


_Patterns = tuple[re.Pattern[str], re.Pattern[str] | None]


@cache
def _compiled(name: str) -> _Patterns | None:
    pattern, opposite = _HALLMARKS.get(name), _OPPOSITES.get(name)
    if not pattern:
        return None
    return re.compile(pattern), re.compile(opposite) if opposite else None


def borne(names: Sequence[str], text: str) -> bool | None:
    """Whether a text bears the hallmarks of all these kinds of clause; None if none is known.

    A definition, a recital and a clause of the opposite kind bear none.
    """
    patterns, plain = _known(names), _plain(text)
    if not patterns:
        return None
    if _rules_nothing(names, plain) or (is_definition(plain) and not dated(names)):
        return False
    return all(
        pattern.search(plain) and not (opposite and opposite.search(plain))
        for pattern, opposite in patterns
    )


def denied(names: Sequence[str], text: str) -> bool:
    """Whether a text speaks of these kinds of clause, but is of the opposite or rules nothing."""
    patterns, plain = _known(names), _plain(text)
    if patterns and _rules_nothing(names, plain):
        return True
    return any(opposite and opposite.search(plain) for _, opposite in patterns)


def dated(names: Sequence[str]) -> bool:
    """Whether a date of the agreement itself is asked for."""
    return bool(_STATED_ANYWHERE.intersection(names))


def _known(names: Sequence[str]) -> list[_Patterns]:
    """Hallmark and opposite of each kind that has one."""
    return [patterns for patterns in map(_compiled, names) if patterns is not None]


def _plain(text: str) -> str:
    return " ".join(text.lower().split())


def _rules_nothing(names: Sequence[str], plain: str) -> bool:
    recital = _RECITAL.search(plain) and not dated(names)
    return bool(recital or _SUPERSEDES.search(plain))
