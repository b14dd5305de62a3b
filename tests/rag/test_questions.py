import pytest

from rag.concepts import Concept, _compiled, expand
from rag.questions import understand


@pytest.mark.parametrize(
    ("question", "text"),
    [
        (
            "Consider the Mutual NDA between Alpha and Beta; Does the document indicate that copies"
            " are allowed?",
            "copies are allowed",
        ),
        ("Consider \"Acme\"'s privacy policy; is my data safe?", "is my data safe"),
        ("Regarding the lease: who pays for repairs?", "who pays for repairs"),
        ("Does the agreement contain a clause about insurance?", "insurance"),
        ("I want information about the Efforts on Antitrust", "Efforts on Antitrust"),
        ("Where is the Specific Performance clause?", "Specific Performance"),
        ("What about the penalty?", "penalty"),
        ("Which law governs the agreement?", "Which law governs the agreement"),
        ("违约金是多少？", "违约金是多少？"),
        ("Does the document mention?", "Does the document mention"),
    ],
)  # fmt: skip
def test_preamble_and_frame_are_taken_off(question: str, text: str) -> None:
    assert understand(question).text == text


@pytest.mark.parametrize(
    ("question", "exact"),
    [
        ("What does Section 12.3(b) say?", "Section 12.3(b)"),
        ("What does 12.3(b) say?", "12.3(b)"),
        ("第十二条是什么？", "第十二条"),
        ("Is $500,000 a cap?", "$500,000"),
        ("What is due in 2019?", "2019"),
        ("What does \"Knowledge\" mean?", "Knowledge"),
        ("When is the Maturity Date?", "Maturity Date"),
    ],
)  # fmt: skip
def test_exact_things_are_picked_out(question: str, exact: str) -> None:
    assert exact in understand(question).exact


def test_a_question_for_a_meaning_is_known() -> None:
    assert understand('What is the definition of "Knowledge"?').defines
    assert understand("“知识产权”的定义是什么？").defines
    assert not understand("Who pays?").defines


@pytest.mark.parametrize(
    ("question", "concept"),
    [
        ("Which state's law governs?", "Governing law"),
        ("Can I get out of this without a reason?", "Termination for convenience"),
        ("Can either party end the agreement early?", "Early termination"),
        ("Can it be ended early?", "Early termination"),
        ("Who is liable if something goes wrong?", "Indemnity"),
        ("May the contract be assigned?", "Assignment"),
        ("Is the supplier's liability capped?", "Limitation of liability"),
        ("Who owns the inventions?", "Ownership of intellectual property"),
        ("May the recipient keep a copy afterwards?", "Copies"),
        ("What if disclosure is required by a court?", "Compelled disclosure"),
        ("What is the definition of superior proposal?", "Superior proposal"),
        ("Does the app track my location?", "Location"),
        ("逾期付款的违约金？", "违约责任"),
        ("Why can the landlord terminate the lease?", "Termination for breach"),
        ("What are the grounds for termination?", "Termination for breach"),
        ("What happens if the contract is breached?", "Remedies for breach"),
        ("When does the agreement end?", "Term and expiry"),
        ("How can the contract be changed?", "Amendment and waiver"),
        ("Is there a limit on damages?", "Limitation of liability"),
        ("Where can I sue them?", "Jurisdiction and venue"),
        ("Can prices go up?", "Price restrictions"),
        ("How is the agent paid?", "Payment"),
        ("When does title pass?", "Title and risk"),
        ("Who bears the risk of loss?", "Title and risk"),
        ("Can goods be returned?", "Return of goods"),
        ("What happens to unsold stock when it ends?", "Remaining stock"),
        ("Can I cancel a purchase order?", "Changing an order"),
        ("What discount does the dealer get?", "Discount"),
        ("Who pays for the freight?", "Bearing of costs"),
        ("Who owns the tooling?", "Property of a party"),
        ("What milestones are there?", "Milestones"),
        ("Which countries does it cover?", "Territory"),
        ("Do I have to renovate the shop?", "Upkeep of premises"),
        ("How much training do I get?", "Training"),
        ("How long does the warranty last?", "Warranty"),
        ("Who are the parties?", "Parties"),
        ("When can you terminate my franchise?", "Termination for breach"),
        ("When was it signed?", "Agreement date"),
        ("When did they enter into the contract?", "Agreement date"),
        ("Since when is it in force?", "Effective date"),
        ("When must we give notice to renew?", "Notice of renewal"),
        ("How many days' notice before renewal?", "Notice of renewal"),
        ("What notice prevents automatic renewal?", "Notice of non-renewal"),
        ("How do we stop the lease renewing?", "Notice of non-renewal"),
        ("What is the interest rate on the loans?", "Interest rate"),
        ("How much notice must the borrower give to prepay?", "Prepayment"),
        ("When does the loan fall due?", "Maturity of a loan"),
        ("How long does it last?", "Term and expiry"),
        ("May I sell my shop?", "Assignment"),
    ],
)  # fmt: skip
def test_the_kind_of_clause_is_recognised(question: str, concept: str) -> None:
    assert concept in expand(question, most=3).names


@pytest.mark.parametrize(
    "question", ["When is payment made?", "When can I assign the agreement?", "When is delivery?"]
)
def test_not_every_when_asks_for_the_date_of_the_agreement(question: str) -> None:
    assert "Agreement date" not in expand(question, most=3).names


def test_to_stop_a_renewal_is_not_to_ask_for_one() -> None:
    asked = expand("How much notice is needed to stop it from renewing?", most=3).names
    assert "Notice of non-renewal" in asked
    assert "Notice of renewal" not in asked


def test_the_end_of_an_agreement_is_not_its_date() -> None:
    assert "Agreement date" not in expand("When does the agreement end?").names
    assert "Agreement date" in expand("When was the agreement signed?").names


def test_concepts_of_users_need_a_user() -> None:
    assert "Sale of data" in expand("do you sell it?").names
    assert "Sale of data" not in expand("Where may the distributor sell the goods?").names
    assert "Location" not in expand("Do I have to renovate my location?").names
    assert "Payment data" not in expand("Can I cancel a purchase order?").names
    assert "Location" in expand("location", "Consider the privacy policy; location").names


@pytest.mark.parametrize(
    ("question", "meant", "not_meant"),
    [
        ("What royalties does the licensee pay?", "Revenue and profit sharing", "Licence grant"),
        ("Which employees are transferred to the supplier?", "", "Assignment"),
        ("Which law governs the transfer of data to us?", "Governing law", "Assignment"),
        ("Who pays for the trials?", "Bearing of costs", "Payment"),
        ("Can they use subprocessors?", "Subcontracting", "Data protection and deletion"),
        (
            "How fast must a data breach be reported?",
            "Notice of a data breach",
            "Remedies for breach",
        ),
        ("What happens to our data when we cancel?", "Data protection and deletion", ""),
        ("What does he get in return?", "", "Return or destruction"),
        ("When do payments fall due?", "Payment", "Maturity of a loan"),
        ("What is the interest rate on overdue invoices?", "Late payment", "Interest rate"),
        ("How much notice does the borrower give?", "", "Size of a loan"),
        ("Is there a penalty for early repayment of the loan?", "Prepayment", "Liquidated damages"),
        ("How long does the collaboration run?", "Term and expiry", ""),
        ("What if someone infringes the patents?", "Infringement by others", ""),
    ],
)
def test_one_kind_of_clause_is_meant_and_another_not(
    question: str, meant: str, not_meant: str
) -> None:
    names = expand(question).names
    assert not meant or meant in names
    assert not_meant not in names


def test_an_expansion_holds_words_wording_and_place() -> None:
    concepts = [
        Concept("Cats", r"\bcats?\b", "cat feline", "A cat may be kept."),
        Concept("Title", r"title", "title", "LEASE", "start"),
    ]
    found = expand("The title of the cats", concepts=concepts)
    assert found.names == ("Title", "Cats")
    assert found.terms == ("title", "cat", "feline")
    assert found.wordings == ("LEASE", "A cat may be kept.")
    assert found.place == "start"
    assert expand("Dogs?", concepts=concepts).names == ()
    assert expand("The title of the cats", concepts=concepts, most=1).names == ("Title",)


def test_every_concept_is_whole_and_finds_its_own_name() -> None:
    concepts = [concept for concept, _ in _compiled()]
    assert len({concept.name for concept in concepts}) > 90
    for concept, pattern in _compiled():
        assert concept.terms.split(), concept.name
        assert len(concept.wording) > 10, concept.name
        assert not pattern.search(""), concept.name
        assert not pattern.search("xyzzy"), concept.name
