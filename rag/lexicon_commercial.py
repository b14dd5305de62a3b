"""Kinds of clause about the deal itself: price, exclusivity, licences, delivery, warranty."""

from rag.concepts import Concept

CONCEPTS = (
    Concept(
        "Size of a loan",
        r"how much (?!(prior )?(notice|time|warning)).{0,30}\b(borrow|lend|lent)"
        r"|\b(size|amount|total) of.{0,20}(facility|loan|credit)"
        r"|(total|maximum) (commitment|facility|loan|borrowing)"
        r"|(loan|facility|credit) (size|amount)",
        "credit facility loan agreement aggregate commitments principal amount dollars",
        "U.S. $250,000,000 Credit Agreement. The Lenders agree to make loans in an aggregate"
        " principal amount not to exceed their total Commitments of $250,000,000.",
        "start",
    ),
    Concept(
        "Maturity of a loan",
        r"\b(repaid|repay(ment|able|s)?|paid back|pay back|matur(e|es|ity)"
        r"|(loan|note|debt|principal|advance)s?\b.{0,20}\bfalls? due)\b",
        "maturity date repay repayment principal outstanding termination date closing",
        '"Maturity Date" means the date that is five years after the Closing Date. The Borrower'
        " shall repay the outstanding principal amount of the Loans on the Maturity Date.",
    ),
    Concept(
        "Interest rate",
        r"interest rates?|rates? of interest|\binterest\b.{0,40}\b(loan|principal|advance)"
        r"|\b(loan|advance)s?\b.{0,30}\binterest\b",
        "interest rate per annum base rate margin applicable percentage loans bear",
        "Each Loan shall bear interest at a rate per annum equal to the Base Rate plus the"
        " Applicable Margin.",
        needs=r"\A(?!.*\b(late|overdue|past due|unpaid|default|delinquen))",
        over="Late payment",
    ),
    Concept(
        "Prepayment",
        r"\bpre-?pa(y|id)\w*|\brepa(y|id)\w* .{0,20}\b(early|before)|\bearly repay"
        r"|\bpa(y|id) .{0,9}early",
        "prepay prepayment loans whole part notice business days premium penalty principal",
        "The Borrower may prepay the Loans in whole or in part on three business days' notice,"
        " without premium or penalty, together with accrued interest.",
        over="Liquidated damages",
    ),
    Concept(
        "Commitment fee",
        r"\b(undrawn|unused|not (yet )?(drawn|used|borrowed))\b|commitment fee",
        "commitment fee rate unused undrawn per annum daily commitment",
        '"Commitment Fee Rate" means 0.50% per annum. The Borrower shall pay a commitment fee on'
        " the daily average unused amount of the Commitment.",
    ),
    Concept(
        "Minimum borrowing",
        r"(smallest|minimum|least).{0,40}\b(borrow\w*|draw\w*|loans?|advances?)\b",
        "borrowing aggregate amount less integral multiple excess thereof minimum",
        "Each Borrowing shall be in an aggregate amount of not less than $5,000,000 or an integral"
        " multiple of $1,000,000 in excess thereof.",
    ),
    Concept(
        "Most favoured customer",
        r"most[ -]favou?red|best price|better (price|terms)|favou?red (nation|customer)|\bmfn\b",
        "favorable price terms less lower than other customer offer third party reduce",
        "The prices shall be no less favorable than the lowest prices and best terms offered to any"
        " other customer for similar products in similar quantities.",
    ),
    Concept(
        "Non-competition",
        r"\bcompet(e|es|ing|ition|itor|itors|itive)\b|non-?compet",
        "compete competing competitive competitor business directly indirectly engage own operate"
        " sell during term territory restricted",
        "During the term and for two years thereafter, the party shall not directly or indirectly"
        " engage in, own, manage or have an interest in any business that competes with the"
        " business of the other party in the territory.",
    ),
    Concept(
        "Exclusivity",
        r"exclusiv(e|ely|ity)|sole (supplier|distributor|provider)|only (supplier|from)",
        "exclusive exclusively sole only territory appoint other not purchase sell third"
        " party right",
        "Company hereby appoints Distributor as its sole and exclusive distributor of the Products"
        " in the Territory, and shall not appoint any other distributor or sell such products to"
        " any third party therein.",
    ),
    Concept(
        "Non-solicitation of customers",
        r"solicit.{0,40}(customer|client|business)|(customer|client)s?\b.{0,40}solicit",
        "solicit customer client divert induce business indirectly",
        "shall not directly or indirectly solicit, divert or take away any customer or client of"
        " the other party.",
    ),
    Concept(
        "Non-solicitation of employees",
        r"(solicit|hire|hiring|recruit|employ|poach)\w*.{0,60}(employee|staff|personnel|worker|people"
        r"|representative)"
        r"|no-?solicit|non-?solicit",
        "solicit hire employ employee induce recruit leave employment personnel indirectly",
        "Neither party shall, during the term and for one year thereafter, directly or indirectly"
        " solicit, recruit, hire or induce any employee of the other party to leave its"
        " employment.",
    ),
    Concept(
        "Non-disparagement",
        r"disparag|defam|negative statement|criticis|reputation|goodwill",
        "disparage disparaging statement derogatory reputation goodwill image negative comment",
        "Neither party shall make any disparaging, derogatory or negative statement about the"
        " other party, its products or its reputation.",
    ),
    Concept(
        "Revenue and profit sharing",
        r"(share|sharing|split|percentage|portion) .{0,25}(revenue|profit|proceeds|sales|income)"
        r"|(revenue|profit)s?.{0,25}shar|royalt|commission",
        "royalty percent percentage net sales revenue profit share pay commission fee gross",
        "Company shall pay a royalty equal to five percent (5%) of net sales, and the parties shall"
        " share the revenue and net profits as follows; a commission shall be paid on gross"
        " revenues.",
    ),
    Concept(
        "Price restrictions",
        r"(price|pricing|rate|fee)s?.{0,40}(increase|raise|restrict|change|adjust|limit|cap|reduce)"
        r"|(increase|raise|restrict|adjust|change)\w*.{0,30}(price|fee|rate)"
        r"|\b(price|fee|rate|cost)s?\b.{0,15}\b(go|goes|going|gone) (up|down)",
        "price increase percent exceed adjustment year consumer index raise notice fee rate",
        "Prices may be increased not more than once a year, by no more than the increase in the"
        " consumer price index or five percent, upon ninety days' written notice.",
    ),
    Concept(
        "Minimum commitment",
        r"minimum|at least .{0,30}(buy|purchase|order)|(order|purchase|payment|volume) commitment"
        r"|take[- ]or[- ]pay",
        "minimum purchase quantity order least units annual guarantee quota shall commit amount"
        " during year",
        "Distributor shall purchase at least the following minimum annual quantity of Products"
        " during each contract year; the minimum purchase commitment and minimum guaranteed payment"
        " are set forth below.",
    ),
    Concept(
        "Volume restriction",
        r"(maximum|limit|restrict|cap|excess).{0,40}(volume|quantity|usage|units|number|amount)"
        r"|volume (restriction|limit)|usage limit",
        "exceed maximum number limit additional fee excess volume units per users",
        "usage shall not exceed the maximum number of units; use in excess of that volume is"
        " subject to an additional fee.",
    ),
    Concept(
        "Ownership of intellectual property",
        r"(who )?owns?\b.{0,50}(intellectual|property|invention|work|result|ip\b|software|patent)"
        r"|ownership of|(intellectual property|\bip\b).{0,30}(own|assign|belong|vest|creat)"
        r"|work (made )?for hire|joint(ly)? own",
        "own ownership title assign intellectual property inventions work hire exclusive"
        " vest rights"
        " interest patent copyright jointly developed",
        "All inventions, works of authorship and intellectual property created in the course of the"
        " services shall be the sole and exclusive property of the Company, and Consultant hereby"
        " assigns all right, title and interest therein; joint inventions shall be jointly owned.",
    ),
    Concept(
        "Licence grant",
        r"licen[cs](es?|ed|ing)\b|right to use|permission to use|sublicen[cs]e",
        "grant license hereby non-exclusive nontransferable right use royalty-free worldwide"
        " sublicense limited revocable licensee licensor",
        "Licensor hereby grants to Licensee a non-exclusive, non-transferable, royalty-free,"
        " worldwide license, with the right to sublicense, to use, reproduce and distribute the"
        " licensed materials during the term.",
    ),
    Concept(
        "Perpetual licence",
        r"perpetual|irrevocable|unlimited (licen|use)|all[- ]you[- ]can[- ]eat",
        "perpetual irrevocable license unlimited grant fully paid-up enterprise",
        "a perpetual, irrevocable, fully paid-up, unlimited license to use and reproduce the"
        " software for any purpose.",
    ),
    Concept(
        "Affiliates under the licence",
        r"affiliate|subsidiar",
        "affiliate subsidiary license grant include extend control parent",
        "The license extends to the affiliates and subsidiaries of the Licensee, and Licensor on"
        " behalf of itself and its affiliates grants the rights.",
    ),
    Concept(
        "Source code escrow",
        r"escrow|source code",
        "source code escrow agent deposit release",
        "Licensor shall deposit the source code of the software with an escrow agent, to be"
        " released to the Licensee upon bankruptcy or failure to support.",
    ),
    Concept(
        "Audit",
        r"\baudit|(inspect|examine|access).{0,40}(books|records|accounts)|(books|records).{0,40}"
        r"(inspect|examin|access|kept|keep)|record[- ]keeping",
        "audit books records inspect examine accountant independent access reasonable"
        " notice maintain"
        " business hours accurate",
        "Party shall keep complete and accurate books and records, and the other party may, upon"
        " reasonable notice and during normal business hours, inspect and audit such books and"
        " records through an independent accountant to verify the amounts payable.",
    ),
    Concept(
        "Liquidated damages",
        r"liquidated|termination fee|penalt|late delivery|early termination (fee|charge)|break fee",
        "liquidated damages penalty termination fee pay sum equal amount delay early",
        "shall pay as liquidated damages and not as a penalty a sum equal to the remaining fees; a"
        " termination fee shall be paid upon early termination.",
    ),
    Concept(
        "Warranty",
        r"warrant|guarantee(s|d)?\b|defect",
        "warrant warranty defects materials workmanship period months days free conform repair"
        " replace date delivery remedy",
        "Supplier warrants that the Products shall be free from defects in materials and"
        " workmanship for a period of twelve (12) months from the date of delivery, and shall"
        " repair or replace any defective Product.",
    ),
    Concept(
        "Insurance",
        r"insur",
        "insurance maintain coverage liability policy commercial general occurrence insured"
        " certificate workers compensation aggregate additional",
        "Each party shall obtain and maintain, at its own expense, commercial general liability"
        " insurance with limits of not less than $1,000,000 per occurrence, naming the other party"
        " as an additional insured, and furnish certificates of insurance.",
        over="Minimum commitment",
    ),
    Concept(
        "Payment",
        r"\bpa(y|id)(s|able|ment|ments|ing)?\b|\binvoic|\bfees?\b|\bprice\b|\bcharges?\b|compensation"
        r"|remunerat|\bcosts?\b",
        "pay payment invoice days receipt due fee amount price net monthly compensation rate",
        "Customer shall pay each undisputed invoice within thirty (30) days after receipt; in"
        " consideration of the services the fee shall be paid monthly in the amount of $10,000.",
    ),
    Concept(
        "Late payment",
        r"\blate\b|overdue|interest\b.{0,30}(rate|late|pay)|unpaid|non-?payment|past due",
        "late interest overdue unpaid per month rate past due suspend maximum law",
        "Any amount not paid when due shall bear interest at the rate of one and one-half percent"
        " per month or the maximum rate permitted by law; services may be suspended.",
    ),
    Concept(
        "Delivery",
        r"deliver|shipment|shipping|incoterm|risk of loss|lead time",
        "delivery deliver ship shipment date days risk loss title carrier order",
        "Supplier shall deliver the Products to the delivery point within the delivery period;"
        " title and risk of loss pass upon delivery to the carrier.",
    ),
    Concept(
        "Acceptance",
        r"\baccept(ance|ed)?\b|inspection|reject|test(s|ing)",
        "acceptance inspect reject test days conform specifications notice criteria"
        " deemed accepted",
        "Customer shall inspect and test the deliverables within ten days after delivery and may"
        " reject those which do not conform to the specifications; otherwise they are deemed"
        " accepted.",
    ),
    Concept(
        "Service levels",
        r"uptime|availab|service level|\bsla\b|response time|support hours|downtime",
        "availability uptime percent service level response time support credit hours",
        "The service shall be available 99.9% of the time each month; response times and service"
        " credits are set out in the service level agreement.",
    ),
    Concept(
        "Data protection and deletion",
        r"(delet|destr|return)\w*.{0,40}(data|content)|(data|content).{0,40}(delet|destr|return)"
        r"|personal data|data protection|get .{0,20}\b(data|content|files)\b.{0,10} back"
        r"|what (happens|becomes|will happen) (to|of|with) .{0,20}\b(data|content|files)\b",
        "data delete return personal processing customer content security breach notify days",
        "After termination the provider shall, on request, delete or return all customer data and"
        " content within thirty days, and shall notify any personal data breach without delay.",
    ),
    Concept(
        "Notice of a data breach",
        r"\b(data|security|privacy)\b.{0,20}\b(breach|incident|leak)\w*"
        r"|\b(breach|incident|leak)\w*\b.{0,20}\b(data|security|privacy)\b",
        "notify without undue delay becoming aware breach incident personal data security hours",
        "Provider shall notify the Customer without undue delay, and within seventy-two hours,"
        " after becoming aware of a breach of security or another personal data incident.",
    ),
    Concept(
        "Infringement by others",
        r"\binfring\w*",
        "infringement infringe third party notify action suit proceeding enforce defend right",
        "Each party shall promptly notify the other of any infringement of the patents or marks by"
        " a third party; the owner has the first right, but no obligation, to bring an action.",
    ),
    Concept(
        "Facility amount",
        r"(size|amount|value|total) of (the|this) (credit|loan|revolving|facility|financing)\w*"
        r"|how (large|big|much) is the (loan|credit|facility)",
        "credit agreement facility loan aggregate commitments principal amount million",
        "CREDIT AGREEMENT for a credit facility in the aggregate principal amount of $100,000,000.",
        "start",
    ),
    Concept(
        "Loan terms",
        r"\b(loan|credit facility|facility|borrow(?!er)|commitment fee|maturity)",
        "loan facility commitment aggregate amount principal borrower lender maturity date interest"
        " rate per annum advance",
        "The Lenders agree to make loans to the Borrower in an aggregate principal amount not"
        " exceeding the commitment until the Maturity Date, bearing interest per annum.",
    ),
)
