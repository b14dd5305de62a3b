"""Clauses as they are commonly worded bear the hallmark of their kind, and others don't."""

from __future__ import annotations

import pytest

from rag import hallmarks

CLAUSES = {
    "Governing law": "This Agreement is governed by the laws of England.",
    "Agreement date": "This Lease is made and entered into this 3rd day of May, 1999.",
    "Effective date": "“Effective Date” means January 5, 2010, on which it becomes effective.",
    "Renewal": "The term shall be extended for further years unless a party objects.",
    "Notice of renewal": "We may renew it by notice of our intention to do so.",
    "Notice of non-renewal": "It renews unless either party gives notice sixty days before.",
    "Termination for convenience": "A party may terminate on three (3) months' written notice.",
    "Early termination": "We may terminate the licence if you do not pay.",
    "Right of first refusal": "The tenant has a right of first refusal.",
    "Change of control": "Upon a merger or the sale of a majority of its voting stock, …",
    "Assignment": "No party may transfer its rights hereunder.",
    "Limitation of liability": "In no event shall the Carrier be liable for lost profits.",
    "No challenge": "The licensee shall not contest the validity of the Marks.",
    "Third-party beneficiaries": "There are no third-party beneficiaries.",
    "Most favoured customer": "on prices no less favourable than those given to anyone else",
    "Non-competition": "The Agent shall not handle competing products.",
    "Exclusivity": "is appointed the exclusive dealer in the territory",
    "Non-solicitation of employees": "shall not hire any employee of the other",
    "Non-disparagement": "do nothing to harm the reputation of the brand",
    "Revenue and profit sharing": "shall receive four percent of net sales",
    "Price restrictions": "Fees may be increased once a year.",
    "Minimum commitment": "shall order at least 500 units a year",
    "Ownership of intellectual property": "Title to all results shall vest in the Customer.",
    "Licence grant": "Owner grants a licence to use the name.",
    "Source code escrow": "The source code is deposited with an escrow agent.",
    "Audit": "may inspect the books of the Dealer",
    "Liquidated damages": "as liquidated damages and not as a penalty",
    "Warranty": "warrants the goods for two years",
    "Insurance": "shall maintain product liability insurance",
    "Termination for breach": "We may terminate it if you do not pay.",
    "Remedies for breach": "The owner is entitled to injunctive relief.",
    "Delivery": "The goods are shipped FOB Hamburg.",
    "Title and risk": "Title passes when the goods are handed to the carrier.",
    "Return of goods": "No goods may be returned without our consent.",
    "Remaining stock": "After termination the Dealer may sell its inventory.",
    "Changing an order": "The Buyer may cancel a purchase order.",
    "Discount": "at a rebate of five percent",
    "Property of a party": "The moulds remain the sole property of the Customer.",
    "Milestones": "for each milestone reached",
    "Territory": "in Norway and the other countries listed",
    "Upkeep of premises": "shall keep the shop in good repair and condition",
    "Training": "The staff shall be trained by us.",
    "Subcontracting": "Sub-processors are engaged with the customer's consent.",
    "Notice of a data breach": "The provider shall inform the customer of a security incident.",
    "Infringement by others": "The owner may sue whoever infringes the patents.",
}


@pytest.mark.parametrize("name", CLAUSES)
def test_a_clause_bears_the_hallmark_of_its_kind(name: str) -> None:
    assert hallmarks.borne([name], CLAUSES[name]) is True


@pytest.mark.parametrize(
    ("name", "other"),
    [
        ("Exclusivity", "The courts of Ohio have exclusive jurisdiction."),
        ("Exclusivity", "a non-exclusive licence"),
        ("Revenue and profit sharing", "neither party is liable for lost profits or fees"),
        ("Termination for convenience", "may terminate upon 30 days' notice of a breach not cured"),
        ("Change of control", "Words in the singular include the plural."),
        ("Insurance", "This Agreement may be signed in counterparts."),
        ("Most favoured customer", "The price list may be changed by the Company."),
        ("Termination for breach", "The tenant agrees not to terminate the lease if it is sold."),
        (
            "Termination for breach",
            "He pays within five days after termination if he is in default.",
        ),
        ("Termination for breach", "Upon termination the Fee is payable in case of breach."),
        (
            "Change of control",
            "“Affiliate” means a company in which it has the majority of shares.",
        ),
        ("Change of control", "For the purposes of this definition a merger is a transfer."),
        ("Minimum commitment", "shall pay each invoice at least ten (10) days before delivery"),
        ("Notice of non-renewal", "notice of the non-renewal of its insurance"),
        ("Exclusivity", "shall not be bound by terms in the Purchase Orders"),
        ("Licence grant", "all permits and licences of the seller are valid"),
        ("Licence grant", "It may use the tools under a separate licence agreement."),
        ("Licence grant", "Upon termination all licences granted here shall end."),
        ("Termination for convenience", "5 Termination for Cause. A party may end it on 30 days'"),
        ("Termination for convenience", "It ends 30 days after notice that such breach goes on."),
        ("Renewal", "Renewals for further years, if any, are made in writing."),
        ("Agreement date", "The term shall end as of December 31, 2000."),
        ("Agreement date", "This Agreement is made by and between the Parties."),
        ("Effective date", "It commences on delivery and ends on February 19, 2013."),
        ("Assignment", "If it makes an assignment for the benefit of creditors, it is in default."),
        ("Exclusivity", "It is governed exclusively by the laws of Ohio."),
        ("Non-competition", "Nothing here limits a party's right to market competing products."),
        ("Minimum commitment", "insurance in an amount of at least $1,000,000"),
        ("Licence grant", "No licence is granted by implication or estoppel."),
        ("Renewal", "It expires in May unless extended by mutual agreement."),
        ("Notice of non-renewal", "He must give notice of his intention to renew by March."),
        ("Notice of non-renewal", "The tenant shall exercise its option to extend in May."),
        ("Notice of non-renewal", "upon notice of any default that keeps us from renewing"),
        ("Licence grant", "This provision is not a licence to use the Marks."),
        ("Licence grant", "WHEREAS, the Owner wishes to grant a licence;"),
        ("Assignment", "It supersedes all prior assignments and agreements."),
        ("Revenue and profit sharing", "a worldwide, royalty-free right"),
    ],
)
def test_another_clause_does_not(name: str, other: str) -> None:
    assert hallmarks.borne([name], other) is False


def test_what_is_of_the_opposite_kind_says_more_than_silence() -> None:
    kind = ["Termination for convenience"]
    assert hallmarks.denied(kind, "4 Termination for Cause. It may be ended on notice.")
    assert hallmarks.denied(kind, "WHEREAS, it may be terminated at any time;")
    assert not hallmarks.denied(kind, "It may be terminated at any time.")
    assert not hallmarks.denied(kind, "The price is due at the end of the month.")
    assert not hallmarks.denied(["Parties"], "WHEREAS, the parties have met;")


def test_all_kinds_asked_for_must_be_borne() -> None:
    text = "The term ends in May."
    assert hallmarks.borne(["Term and expiry", "Renewal"], text) is False
    assert hallmarks.borne(["Term and expiry", "Renewal"], "It renews.") is True


def test_a_kind_without_a_hallmark_says_nothing() -> None:
    assert hallmarks.borne(["Parties"], "anything") is None
    assert hallmarks.borne([], "anything") is None


def test_every_hallmark_belongs_to_a_kind_of_clause() -> None:
    from rag.concepts import _compiled

    known = {concept.name for concept, _ in _compiled()}
    assert set(hallmarks._HALLMARKS) <= known
    assert set(hallmarks._OPPOSITES) <= set(hallmarks._HALLMARKS)
