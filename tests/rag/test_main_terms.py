"""Which sentence states a main term, and that none is better than a wrong one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from rag import main_terms
from rag.clause_topics import topic
from rag.fake_embedder import FakeEmbedder
from rag.library import Library
from rag.quote import Quote
from tests.rag.libraries import library_of

LEASE = """LEASE

This lease is made on 3 May 2021 between:
Oak Estates Ltd (the Landlord) and Fern Bakery Ltd (the Tenant).

1. Term
1.1 The term of this lease is six years from 1 June 2021.
1.2 Before the expiry of the term the Tenant shall remove its signs and lasts.

2. Rent
2.1 Interest is due on rent that is paid late.
2.2 The Tenant shall pay the rent of 4,000 euros on the first day of each month.

3. End
3.1 After termination the Tenant shall return the keys, and may terminate its accounts.
3.2 The Landlord may terminate this lease by six months' notice.
3.3 "Notice" means a letter by which a party may terminate this lease.
"""

EXPECTED = {
    "Parties": "Fern Bakery",
    "Term": "1.1 The term of this lease is six years",
    "Price and payment": "2.2 The Tenant shall pay the rent",
    "Termination": "3.2 The Landlord may terminate",
}


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Library]:
    folder = tmp_path_factory.mktemp("terms")
    opened = library_of(folder, "lease.txt", LEASE, FakeEmbedder())
    yield opened
    opened.close()


def find(library: Library, name: str) -> Quote | None:
    return main_terms.find(topic(name), library, ["lease.txt"], library.chunks("lease.txt"))


@pytest.mark.parametrize("name", EXPECTED)
def test_the_sentence_that_states_the_rule(library: Library, name: str) -> None:
    found = find(library, name)
    assert found is not None
    assert EXPECTED[name] in " ".join(found.text.split())


def test_a_sentence_that_ends_in_a_colon_goes_on(library: Library) -> None:
    found = find(library, "Parties")
    assert found is not None
    assert "between:" in found.text
    assert found.chunk.text[found.start : found.stop] == found.text


@pytest.mark.parametrize("name", ["Warranty", "Liability", "Confidentiality"])
def test_what_the_document_does_not_say_has_no_sentence(library: Library, name: str) -> None:
    assert find(library, name) is None


def test_what_the_search_missed_is_looked_for_in_the_whole_document(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Library, "search", lambda self, question, documents=(), k=5: [])
    found = find(library, "Termination")
    assert found is not None
    assert found.text.startswith("3.2")
