"""The small parts of an answer: what is sent, how it begins, what may be shown, what is cited."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rag import answer, citations, evidence, honesty, phrase, prompt
from rag.lines import LEFT_OUT
from rag.numerals import numbers_of
from rag.off_topic import off_topic, unnamed
from rag.opening import opening
from rag.protocols import PastTurn
from rag.quote import Quote, locate
from rag.types import Chunk, Hit, Page, Span

TEXT = "9.1 The warranty lasts 24 months.\n9.2 It is void after misuse."


def quote(
    text: str = "The warranty lasts 24 months.", score: float = 1.0, number: int = 1
) -> Quote:
    chunk = Chunk(number, "supply.pdf", 0, text, "9 Warranty", (Span(4, 10, 10 + len(text)),))
    return Quote(text, chunk, 0, len(text), score)


def words(text: str) -> int:
    return len(text.split())


class TestEvidence:
    def test_sends_the_best_that_fit(self) -> None:
        ranked = [quote("a b c", 1.0, 1), quote("d " * 100, 0.9, 2), quote("e f", 0.8, 3)]
        chosen = evidence.choose(ranked, [], 50, words, most=3)
        assert [q.chunk.id for q in chosen.new] == [1, 3]

    def test_sends_the_best_even_where_nothing_fits(self) -> None:
        chosen = evidence.choose([quote("word " * 500)], [], 10, words)
        assert len(chosen.new) == 1

    def test_does_not_send_again_what_the_model_still_sees(self) -> None:
        first = evidence.choose([quote()], [], 100, words)
        turns = [PastTurn({"sent": first.record}, in_window=True)]
        again = evidence.choose([quote(), quote("It ends soon.", 0.9, 2)], turns, 100, words)
        assert [q.chunk.id for q in again.known] == [1]
        assert [q.chunk.id for q in again.new] == [2]

    def test_sends_again_what_was_trimmed_away(self) -> None:
        first = evidence.choose([quote()], [], 100, words)
        turns = [PastTurn({"sent": first.record}, in_window=False)]
        assert len(evidence.choose([quote()], turns, 100, words).new) == 1

    def test_leaves_out_what_is_far_below_the_best(self) -> None:
        chosen = evidence.choose([quote("a b", 1.0), quote("c d", 0.3, 2)], [], 100, words)
        assert len(chosen.new) == 1

    @pytest.mark.parametrize(
        ("speed", "left", "expected"),
        [(100, 4000, 200), (5, 4000, 120), (9000, 4000, 1200), (500, 60, 60)],
    )
    def test_the_budget_follows_the_machine(self, speed: float, left: int, expected: int) -> None:
        assert evidence.budget(speed, left) == expected


class TestPhrase:
    QUOTE = "The warranty lasts 24 months from acceptance of the Goods."

    def test_keeps_what_the_quotation_bears_out(self) -> None:
        text = phrase.checked("The warranty lasts 24 months.", [self.QUOTE], "How long is it?")
        assert text == "The warranty lasts 24 months."

    def test_an_unfinished_sentence_and_one_that_goes_in_circles_are_withdrawn(self) -> None:
        whole = "The warranty lasts 24 months."
        text = phrase.checked(f"{whole} It runs from accept", [self.QUOTE], "How long?", cut=True)
        assert text == whole
        assert phrase.checked("The warranty lasts", [self.QUOTE], "How long?", cut=True) == ""
        circles = ", and the warranty lasts 24 months" * 4
        assert phrase.checked(f"So{circles}.", [self.QUOTE], "How long?") == ""

    @pytest.mark.parametrize(
        "made_up",
        [
            "The warranty lasts 36 months.",
            "Our friendly team would love to hear from anybody anywhere.",
            "",
            "The warranty.",
            "The warranty doesn't last 24 months.",
            "The warranty cannot be long.",
            "The Goods.",
            "It is seven hundred and ninety-nine months from acceptance.",
        ],
    )
    def test_withdraws_what_it_does_not(self, made_up: str) -> None:
        assert phrase.checked(made_up, [self.QUOTE], "How long is the warranty?") == ""

    @pytest.mark.parametrize(
        ("said", "clause", "shown"),
        [
            ("The tenant may assign the lease.", "The Tenant may not assign this Lease.", False),
            ("The tenant may not assign the lease.", "The Tenant may not assign this Lease.", True),
            ("Liability is limited to the fees.", "Liability shall not exceed the fees.", True),
            ("The seller is an agent.", "Nothing makes the Seller an agent.", False),
            (
                "It ends on 30 days notice.",
                "It ends, with or without cause, on 30 days notice.",
                True,
            ),
            ("The lease runs five years.", "The Lease runs five years.", True),
            ("承租人可以转租房屋。", "承租人不得转租房屋。", False),
            ("承租人不得转租房屋。", "承租人不得转租房屋。", True),
        ],
    )
    def test_a_not_must_be_the_document_s(self, said: str, clause: str, shown: bool) -> None:
        assert bool(phrase.checked(said, [clause], "What is the rule?")) == shown

    def test_takes_spelled_numbers_for_digits(self) -> None:
        evidence_text = "upon giving thirty (30) days notice"
        assert phrase.checked("It is thirty days notice.", [evidence_text], "How long is it?")

    def test_drops_the_lead_and_repetitions(self) -> None:
        said = "The answer is: 24 months from acceptance. 24 months from acceptance."
        text = phrase.checked(said, [self.QUOTE], "How long does the warranty last?")
        assert text.startswith("24 months")
        assert text.count("from acceptance") == 1

    def test_does_not_say_a_long_quotation_again(self) -> None:
        long = "The Supplier shall repair or replace defective Goods at its own cost within 15 days"
        assert phrase.checked(long + ".", [f"9.3 {long} of notice."], "Who repairs goods?") == ""

    def test_needs_the_kind_of_thing_asked_for(self) -> None:
        assert phrase.checked("The warranty lasts.", [self.QUOTE], "How many months is it?") == ""

    @given(st.text(max_size=80))
    def test_never_shows_a_number_of_its_own(self, said: str) -> None:
        shown = phrase.checked(said, [self.QUOTE], "How long?")
        assert numbers_of(shown) <= {"24"}


@pytest.mark.parametrize(
    ("question", "begins"),
    [
        ("What is the consultant's monthly fee?", "The consultant's monthly fee is"),
        ("How is payment made?", "Payment is made"),
        ("How is liability for breach determined?", "Liability for breach is determined"),
        ("How many days does the customer have to pay?", "The customer"),
        ("What are the main terms?", ""),
        ("And then?", ""),
        ("租赁期限最长是多少年？", ""),
    ],
)
def test_an_answer_begins_with_the_subject(question: str, begins: str) -> None:
    assert opening(question) == begins


class TestPrompt:
    def test_puts_the_best_passage_next_to_the_question(self) -> None:
        text = prompt.user_turn("How long?", [quote("best words here"), quote("second", 0.5, 2)])
        assert text.index("second") < text.index("best words") < text.index("Question: How long?")

    def test_points_back_at_what_was_read(self) -> None:
        text = prompt.user_turn("How long?", [], [quote("one two three " * 20)])
        assert "(above)" in text
        assert len(text) < 150

    def test_the_gist_is_a_whole_sentence_without_its_number(self) -> None:
        found = [quote("9.1 The warranty lasts 24 months."), quote("(a) no end", 0.9, 2)]
        assert prompt.gist(found) == "The warranty lasts 24 months."


class TestHonesty:
    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("Which airline transports the goods?", True),
            ("Which warranty is given?", False),
            ("What licence is granted?", False),
            ("How long is the flight?", False),
        ],
    )
    def test_a_named_kind_of_thing_that_no_passage_speaks_of(
        self, question: str, expected: bool
    ) -> None:
        assert unnamed(question, [Hit(quote().chunk, 1.0)]) is expected

    @pytest.mark.parametrize(
        ("question", "expected"),
        [
            ("What about the weather there?", True),
            ("And the parking spaces?", True),
            ("How many months does it last?", False),
            ("And when would the acceptance months end?", False),
            ("And for how much?", False),
            ("Can they end it early?", False),  # a known kind of clause, in other words
            ("那天气呢？", False),
        ],
    )
    def test_a_follow_up_off_the_topic(self, question: str, expected: bool) -> None:
        text = "The warranty lasts 24 months from acceptance by the customer and then ends."
        assert off_topic(question, [Hit(quote(text).chunk, 1.0)]) is expected

    def test_of_many_words_a_third_must_be_spoken_of(self) -> None:
        hits = [Hit(quote("The contractor commits 6,000 labor hours.").chunk, 1.0)]
        assert not off_topic("How many would the contractor commit to it at work?", hits)
        assert off_topic("Which colour, size and shape would the bottles have?", hits)

    def test_more_must_speak_for_it_then(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(honesty, "likelihood", lambda signs: 0.5)
        hits = [Hit(quote().chunk, 1.0)]
        assert honesty.silent("Which airline transports the goods?", hits, [quote()])
        assert not honesty.silent("Which warranty is given?", hits, [quote()])

    def test_a_figure_asked_for_must_be_there(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(honesty, "likelihood", lambda signs: 0.6)
        hits = [Hit(quote().chunk, 1.0)]
        assert honesty.silent("How much does it cost?", hits, [quote()])
        assert not honesty.silent("How many months does it last?", hits, [quote()])

    def test_words_that_only_frame_a_question_need_no_answer(self) -> None:
        hits = [Hit(quote().chunk, 1.0)]
        found = honesty.signs("How long does it last?", hits, [quote()])
        assert (found.shared, found.sentence) == honesty._SHARED
        found = honesty.signs("How long does the warranty of 12 parts last?", hits, [quote()])
        assert (found.shared, found.sentence) == (1 / 3, 1 / 3)
        found = honesty.signs("How many?", hits, [quote()])
        assert found.shared == 0.0


class TestCitations:
    def test_a_citation_is_verbatim_with_its_page(self) -> None:
        made = citations.citation(quote(), None)
        assert (made.document, made.page, made.chunk_id) == ("supply.pdf", 4, 1)
        assert made.quote == "The warranty lasts 24 months."
        assert made.spans == (Span(4, 10, 39),)

    def test_the_block_names_the_document_where_there_are_several(self) -> None:
        made = citations.citation(quote(), None)
        assert "p. 4 [2]" in citations.block(quote(), made, 2)
        assert "supply.pdf" not in citations.block(quote(), made, 2)
        assert "supply.pdf, p. 4 [2]" in citations.block(quote(), made, 2, several_documents=True)

    def test_the_number_printed_on_a_page_stands_beside_its_place_in_the_file(self) -> None:
        made = citations.citation(quote(), Page(4, "", printed="C-2"))
        assert made.place == "p. 4 (printed C-2)"
        assert "— p. 4 (printed C-2) [1]" in citations.block(quote(), made, 1)
        assert citations.citation(quote(), Page(4, "", printed="4")).place == "p. 4"
        assert citations.citation(quote(), Page(4, "")).place == "p. 4"

    def test_other_places_are_named_in_the_question_s_language(self) -> None:
        cited = [citations.citation(q, None) for q in (quote(), quote("It ends soon.", 0.9, 2))]
        assert answer._rest("", cited, chinese=False) == "\n\nSee also p. 4 [2]."
        assert answer._rest("", cited, chinese=True) == "\n\n另见第 4 页 [2]。"
        assert answer._rest("So.", cited[:1], chinese=False) == "\n\nSo. [1]"

    def test_a_quotation_over_a_page_number_is_cited_in_one_run(self) -> None:
        text = f"It makes no offer of{LEFT_OUT} employment to any former employee."
        chunk = Chunk(1, "d", 0, text, "", (Span(1, 0, len(text)),))
        over = Quote(text, chunk, 0, len(text), 1.0)
        made = citations.citation(over, None)
        assert made.quote == "employment to any former employee."
        shown = "“It makes no offer of employment to any former employee.”"
        assert shown in citations.block(over, made, 1)
        assert shown[1:-1] in prompt.user_turn("Why?", [over])

    def test_a_quotation_over_two_pages_has_a_span_on_each(self) -> None:
        chunk = Chunk(1, "d", 0, "first half\nsecond half", "", (Span(1, 90, 100), Span(2, 0, 11)))
        assert locate(chunk, 6, 17) == (Span(1, 96, 100), Span(2, 0, 6))
        made = citations.citation(Quote(chunk.text, chunk, 0, len(chunk.text), 1.0), None)
        assert (made.page, made.quote) == (1, "first half")  # a footer lies between the halves
        assert [span.page for span in made.spans] == [1, 2]

    def test_a_heading_at_the_end_of_a_page_is_not_the_page_of_its_clause(self) -> None:
        text = "8. Parties.\nNeither party is an agent of the other, and none may say that it is."
        chunk = Chunk(1, "d", 0, text, "", (Span(1, 90, 101), Span(2, 0, len(text) - 12)))
        made = citations.citation(Quote(text, chunk, 0, len(text), 1.0), None)
        assert made.page == 2
        assert made.quote.startswith("Neither party")
