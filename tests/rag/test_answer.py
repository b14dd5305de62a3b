"""The answerer over a real library with fakes for the models."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest

from rag.answer import NOT_FOUND, NOT_FOUND_ZH, Answerer
from rag.errors import InvalidQuestion, UnknownDocument
from rag.fake_embedder import FakeEmbedder
from rag.fake_generator import FakeGenerator
from rag.history import History
from rag.library import Library
from rag.types import (
    Answer,
    AnswerDelta,
    AnswerDraft,
    AnswerEvent,
    EvidenceFound,
    Reading,
)
from tests.rag.libraries import library_of
from tests.rag.test_whole_document import CONTRACT


@pytest.fixture
def library(tmp_path: Path) -> Iterator[Library]:
    opened = library_of(tmp_path, "supply.txt", CONTRACT, FakeEmbedder(dimension=512))
    yield opened
    opened.close()


def ask(
    answerer: Answerer, question: str, conversation: str = ""
) -> tuple[list[AnswerEvent], Answer]:
    events = list(answerer.ask(question, conversation=conversation))
    answer = events[-1]
    assert isinstance(answer, Answer)
    return events, answer


QUESTION = "When shall the Customer pay each invoice?"


def test_evidence_and_quotation_are_there_before_the_model_reads(library: Library) -> None:
    generator = FakeGenerator(lambda request: " shall pay each invoice within 30 days.")
    events, answer = ask(Answerer(library, generator), QUESTION)
    kinds = [type(e) for e in events]
    order = [EvidenceFound, AnswerDelta, Reading, AnswerDraft, Answer]
    assert sorted(order, key=kinds.index) == order
    quotation, rest = (e for e in events if isinstance(e, AnswerDelta))
    assert quotation.citations == answer.citations
    assert quotation.text + rest.text == answer.text


def test_drafts_grow_word_by_word(library: Library) -> None:
    generator = FakeGenerator(lambda request: " shall pay each invoice within 30 days.")
    events, _ = ask(Answerer(library, generator), QUESTION)
    drafts = [e.text for e in events if isinstance(e, AnswerDraft)]
    assert len(drafts) > 3
    assert all(b.startswith(a) for a, b in pairwise(drafts))
    assert drafts[-1] == "The Customer shall pay each invoice within 30 days."


def test_the_answer_holds_the_phrase_and_the_sentence_verbatim(library: Library) -> None:
    generator = FakeGenerator(lambda request: " shall pay each invoice within 30 days.")
    _, answer = ask(Answerer(library, generator), QUESTION)
    sentence = "The Customer shall pay each invoice within 30 days."
    assert answer.text.startswith(f"> “{sentence}”")
    assert f"\n\n{sentence} [1]" in answer.text
    assert answer.citations[0].quote == sentence
    assert answer.citations[0].page == 1
    assert answer.stats["prompt_tokens"] > 0  # type: ignore[operator]


def test_a_made_up_amount_is_withdrawn_and_the_quotation_stays(library: Library) -> None:
    generator = FakeGenerator("The Customer shall pay each invoice within 45 days.")
    _, answer = ask(Answerer(library, generator), QUESTION)
    assert "45" not in answer.text
    assert "30 days" in answer.text


def test_what_the_documents_do_not_say_is_said_without_a_citation(library: Library) -> None:
    generator = FakeGenerator("Paris.")
    for question, text in (
        ("Who won the football championship yesterday evening?", NOT_FOUND),
        ("昨天足球比赛谁赢了？", NOT_FOUND_ZH),
    ):
        _, answer = ask(Answerer(library, generator), question)
        assert (answer.found, answer.citations, answer.text) == (False, (), text)
    assert generator.requests == []


def test_a_follow_up_sends_no_passage_twice(library: Library) -> None:
    generator = FakeGenerator("It is so.")
    answerer = Answerer(library, generator)
    for question in (QUESTION, QUESTION):
        _, answer = ask(answerer, question, "c1")
        History(library.connection).begin("c1")
        History(library.connection).add("c1", question, answer)
    first, second = generator.requests
    assert "within 30 days" in first.user
    assert first.record["sent"]
    assert second.record["sent"] == []
    assert len(second.user) <= len(first.user)


def test_a_follow_up_with_a_pronoun_finds_what_it_leans_on(library: Library) -> None:
    generator = FakeGenerator("It is so.")
    answerer = Answerer(library, generator)
    history = History(library.connection)
    history.begin("c2")
    first = "With how many days of notice may a party terminate this agreement?"
    _, answer = ask(answerer, first, "c2")
    history.add("c2", first, answer)
    _, follow_up = ask(answerer, "And what must be returned after that?", "c2")
    assert any("return the tools" in c.quote.replace("\n", " ") for c in follow_up.citations)


def test_a_survey_lists_its_findings_and_keeps_the_list_out_of_the_transcript(
    library: Library,
) -> None:
    generator = FakeGenerator()
    events, answer = ask(Answerer(library, generator), "List all obligations of the Supplier", "c3")
    assert any(isinstance(e, Reading) and e.unit == "pages" for e in events)
    assert len(answer.citations) == 3
    assert "Read 1 of 1 pages." in answer.text
    assert generator.requests[0].stop_after_choice
    assert "- **" not in generator.requests[0].user


def test_a_survey_without_findings_says_so(library: Library) -> None:
    _, answer = ask(Answerer(library, FakeGenerator()), "Which clauses mention helicopters?")
    assert not answer.found
    assert answer.citations == ()


def test_a_stop_keeps_what_was_found(library: Library) -> None:
    generator = FakeGenerator("The Customer shall pay each invoice within 30 days.")
    stopped = []
    for event in Answerer(library, generator).ask(QUESTION, conversation="c4"):
        if isinstance(event, Reading):
            generator.stop("c4")
        stopped.append(event)
    assert isinstance(stopped[-1], Answer)
    assert stopped[-1].stopped
    assert stopped[-1].citations


def test_bad_questions_are_told_in_one_sentence(library: Library, tmp_path: Path) -> None:
    answerer = Answerer(library, FakeGenerator())
    with pytest.raises(InvalidQuestion, match="empty"):
        list(answerer.ask("  "))
    with pytest.raises(UnknownDocument):
        list(answerer.ask(QUESTION, documents=["other.pdf"]))
    empty = Library(tmp_path / "empty", FakeEmbedder())
    with pytest.raises(InvalidQuestion, match="add a PDF"):
        list(Answerer(empty, FakeGenerator()).ask(QUESTION))
    empty.close()


FIRST_YEAR = "How many units must it buy in the first year?"


def test_the_item_after_the_one_just_quoted(tmp_path: Path) -> None:
    text = (
        "DEALER AGREEMENT\n\n1. Quantity\nThe Dealer shall buy the following numbers of units:\n\n"
        "(A) 375 units in the first year;\n\n(B) 750 units in the second year;\n\n"
        "(C) 937 units in the third year.\n"
    )
    library = library_of(tmp_path, "sales.txt", text, FakeEmbedder())
    answerer = Answerer(library, FakeGenerator())
    _, first = ask(answerer, FIRST_YEAR, "c9")
    assert "375" in first.citations[0].quote
    history = History(library.connection)
    history.begin("c9")
    history.add("c9", FIRST_YEAR, first)
    _, then = ask(answerer, "And in the one after?", "c9")
    assert "750" in then.citations[0].quote
    library.close()


def test_a_citation_names_the_page_s_printed_number(tmp_path: Path) -> None:
    pages = ("8. Delivery\nGoods are delivered in Hamburg.", "9. Payment\nInvoices are payable.")
    text = "\f".join(f"{page}\n\n- {number} -\n" for number, page in enumerate(pages, 11))
    library = library_of(tmp_path, "filing.txt", text, FakeEmbedder())
    _, answer = ask(Answerer(library, FakeGenerator()), "Are invoices payable?")
    assert answer.citations[0].place == "p. 2 (printed 12)"
    assert "p. 2 (printed 12) [1]" in answer.text
    library.close()


def test_the_title_is_told_of_any_document(library: Library) -> None:
    answerer = Answerer(library, FakeGenerator())
    _, answer = ask(answerer, "What is the title of this document?")
    assert answer.citations[0].quote == "SUPPLY AGREEMENT"


@pytest.mark.parametrize("question", ["When was the agreement signed?", "When was it made?"])
def test_the_date_is_told_from_the_opening(tmp_path: Path, question: str) -> None:
    opening = "This Lease is made as of 3 May 1999 by Ann and Bob."
    text = f"LEASE\n\n{opening}\n\n1. Repairs\n\nThe agreement of 4 June 2001 is signed by Ann.\n"
    library = library_of(tmp_path, "lease.txt", text, FakeEmbedder())
    _, answer = ask(Answerer(library, FakeGenerator()), question)
    assert answer.citations[0].quote == opening
    library.close()


def test_after_other_questions_the_date_is_still_the_agreement_s(tmp_path: Path) -> None:
    opening = "This Lease is made as of 3 May 1999 by Ann and Bob."
    text = f"LEASE\n\n{opening}\n\n1. Repairs\n\nAnn repairs the roof within ten days.\n"
    library = library_of(tmp_path, "lease.txt", text, FakeEmbedder())
    answerer = Answerer(library, FakeGenerator())
    ask(answerer, "Who repairs the roof?", "c")
    _, answer = ask(answerer, "And when was it signed?", "c")
    assert answer.citations[0].quote == opening
    library.close()


def test_without_a_date_the_document_is_silent(tmp_path: Path) -> None:
    text = "LEASE\n\nThis agreement is signed by Ann and Bob.\n\n1. Repairs\n\nAnn repairs it.\n"
    library = library_of(tmp_path, "lease.txt", text, FakeEmbedder())
    _, answer = ask(Answerer(library, FakeGenerator()), "When was the agreement signed?")
    assert not answer.found
    assert not answer.citations
    library.close()


def test_the_parties_are_told_from_the_opening(library: Library) -> None:
    _, answer = ask(Answerer(library, FakeGenerator()), "Who are the parties?")
    assert "Northgate Ltd" in answer.citations[0].quote
