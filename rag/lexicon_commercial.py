"""Kinds of clause in commercial contracts: how they are asked for and how they are worded."""

from rag.concepts import Concept

CONCEPTS = (
    Concept(
        "Title",
        r"\b(title|name|kind|type) of (this|the) (document|agreement|contract)|document name"
        r"|what (document|agreement|contract) is this",
        "agreement contract",
        "THIS AGREEMENT, title of the agreement, Exhibit",
        "start",
    ),
    Concept(
        "Parties",
        r"\b(who|which|names? of)\b.{0,30}\bpart(y|ies)\b|parties (to|of|in)\b|contracting parties"
        r"|who (signed|made|entered)",
        "between party corporation company hereinafter referred inc llc ltd",
        'This Agreement is made by and between Alpha Inc., a Delaware corporation ("Company"),'
        ' and Beta LLC ("Distributor"), each a party and collectively the parties.',
        "start",
    ),
    Concept(
        "Agreement date",
        r"\b(date|when).{0,30}\b(agreement|contract|document)\b.{0,20}(made|dated|signed|executed)?"
        r"|\bdate of (this|the) (agreement|contract)|agreement date|signing date",
        "dated made entered day date",
        "This Agreement is made and entered into as of this 1st day of January, 2015, by and"
        " between the parties.",
        "start",
    ),
    Concept(
        "Effective date",
        r"\beffective date|(become|becomes|take|takes|come|comes|is) (in(to)?\s)?(effect|force)\w*"
        r"|commencement date|\bstart(s|ing)? date|when does .{0,30}\b(start|begin|commence)",
        "effective date commence day",
        'This Agreement is entered into and is effective as of January 1, 2015 (the "Effective'
        ' Date"). This Agreement shall become effective on the date of the last signature.',
    ),
    Concept(
        "Term and expiry",
        r"\b(initial|length|duration|end) (of )?(the )?term|\bterm\b.{0,20}\b(expire|end|last)"
        r"|expir(y|e|es|ation)|how long (is|does|will|do).{0,30}(term|agreement|contract|last|run)"
        r"|\bduration\b|termination date",
        "term commence expire continue period year initial until unless earlier terminated effect",
        "The initial term of this Agreement shall commence on the Effective Date and shall continue"
        " in full force and effect for a period of five (5) years, unless earlier terminated as"
        " provided herein.",
    ),
    Concept(
        "Renewal",
        r"\brenew|\bextension of the term|extend(ed)? (the )?(term|agreement)|successive",
        "renew automatically successive additional period extend year unless notice term"
        " expiration",
        "This Agreement shall automatically renew for successive one-year periods unless either"
        " party gives written notice of non-renewal at least sixty days before the end of the"
        " then-current term.",
    ),
    Concept(
        "Notice of non-renewal",
        r"(notice|stop|prevent|avoid|cancel|terminate).{0,60}\brenew(al|ing|ed)?|non-?renewal"
        r"|opt out of renewal",
        "renew notice written prior days expiration unless either party intention not terminate",
        "unless either party notifies the other in writing of its intention not to renew at least"
        " ninety (90) days prior to the expiration of the initial or any renewal term.",
    ),
    Concept(
        "Governing law",
        r"govern\w*\b.{0,20}\blaws?\b|\blaws?\b.{0,30}\b(govern|appl|control)|applicable law"
        r"|choice of law|which (state|country)('s)?.{0,20}\blaws?\b",
        "governed construed accordance laws state conflict principles interpreted",
        "This Agreement shall be governed by and construed in accordance with the laws of the State"
        " of New York, without regard to its conflict of laws principles.",
    ),
    Concept(
        "Jurisdiction and venue",
        r"\bjurisdiction|\bvenue\b|\bcourts?\b|where .{0,30}\b(sue|suit|litigat)|forum",
        "jurisdiction venue courts exclusive submit consent county state federal action proceeding",
        "Each party irrevocably submits to the exclusive jurisdiction and venue of the state and"
        " federal courts located in that county for any action arising out of this Agreement.",
    ),
    Concept(
        "Dispute resolution",
        r"\bdisputes?\b|arbitrat|mediat|how .{0,40}(resolved|settled)"
        r"|resolution of (claims|disputes)",
        "dispute arbitration arbitrator rules association mediation negotiate good faith binding",
        "Any dispute, controversy or claim arising out of or relating to this Agreement shall be"
        " finally settled by binding arbitration under the rules of the arbitration association.",
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
        "compete competing competitive business directly indirectly engage own operate interest"
        " during term territory restricted",
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
        r"(solicit|hire|hiring|recruit|employ|poach).{0,40}(employee|staff|personnel|worker|people)"
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
        "Termination for convenience",
        r"(terminat|cancel|end)\w*.{0,40}(without cause|convenience|any reason|no reason|at will)"
        r"|(without cause|for convenience|any time|at will).{0,40}(terminat|cancel|end)|walk away"
        r"|how much notice.{0,30}terminat|notice.{0,30}(needed|required).{0,20}terminat",
        "terminate time without cause convenience reason notice written prior days either party",
        "Either party may terminate this Agreement at any time, with or without cause, for any"
        " reason or no reason, upon thirty (30) days' prior written notice to the other party.",
    ),
    Concept(
        "Termination for breach",
        r"terminat\w*.{0,40}(breach|default|cause|cure)|material breach|\bcure\b|events? of default"
        r"|default\b|remed(y|ies) (for|of) breach",
        "terminate breach material default cure days notice written remedy fails"
        " insolvency bankruptcy",
        "Either party may terminate this Agreement if the other party materially breaches any"
        " provision and fails to cure such breach within thirty days after written notice.",
    ),
    Concept(
        "Effects of termination",
        r"(after|upon|following|effects?|consequences?|end) (of )?(the )?(termination|expir)"
        r"|post-?termination|wind[- ]?down|transition (service|assistance)|survive",
        "upon termination expiration survive cease return continue obligations accrued"
        " sell inventory"
        " transition period",
        "Upon expiration or termination of this Agreement for any reason, all rights granted shall"
        " cease, the party may sell off its remaining inventory for ninety days, shall provide"
        " transition services, and accrued obligations shall survive.",
    ),
    Concept(
        "Right of first refusal",
        r"first (refusal|offer|negotiation)|\brof[rno]\b|pre-?empt",
        "first refusal offer negotiation option right notice third party terms days negotiate",
        "The party shall have a right of first refusal and right of first negotiation: before"
        " offering to any third party, the other shall first offer in writing on the same terms.",
    ),
    Concept(
        "Change of control",
        r"change (of|in) control|merg(er|e|es)\b|acquir(ed|es)|ownership changes?|takeover",
        "change control merger consolidation acquisition sale substantially all assets voting"
        " ownership majority terminate",
        "In the event of a change in control of a party, including a merger, consolidation or sale"
        " of all or substantially all of its assets or a majority of its voting stock, the other"
        " party may terminate this Agreement.",
    ),
    Concept(
        "Assignment",
        r"\bassign(s|ed|ing|able|ment|ments)?\b|transfer(s|red|ring)? (this|the|its|their) "
        r"(agreement|contract|rights|obligations)|delegat",
        "assign assignment transfer delegate consent prior written without successors"
        " permitted void"
        " party rights obligations affiliate",
        "Neither party may assign, transfer or delegate this Agreement or any of its rights or"
        " obligations hereunder without the prior written consent of the other party, and any"
        " attempted assignment shall be void.",
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
        r"|(increase|raise|restrict|adjust|change)\w*.{0,30}(price|fee|rate)",
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
        r"licen[cs]e|licen[cs]ed|right to use|permission to use|sublicen[cs]e",
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
        "Limitation of liability",
        r"liab(le|ility|ilities).{0,40}(cap|capped|limit|maximum|exclu)|(limit|cap|maximum)\w*"
        r"\b.{0,40}liab|consequential|indirect damages|(how is )?liability\b",
        "liability limited event exceed aggregate consequential incidental indirect"
        " special punitive"
        " damages lost profits shall liable total",
        "In no event shall either party be liable for any indirect, incidental, special,"
        " consequential or punitive damages or lost profits, and the total aggregate liability"
        " shall not exceed the amounts paid under this Agreement.",
    ),
    Concept(
        "Uncapped liability",
        r"uncapped|unlimited liab|without limit|exception\w* .{0,30}liab"
        r"|liab.{0,40}(unlimited|except)",
        "except limitation apply liability indemnification confidentiality gross negligence willful"
        " misconduct fraud shall not limit",
        "The foregoing limitations shall not apply to liability arising from gross negligence,"
        " willful misconduct, fraud, breach of confidentiality or indemnification obligations.",
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
        "Disclaimer of warranties",
        r"disclaim|as[- ]is|implied warrant|merchantab|no warrant",
        "disclaims warranties implied merchantability fitness particular purpose express as-is",
        "EXCEPT AS EXPRESSLY PROVIDED, ALL WARRANTIES, EXPRESS OR IMPLIED, INCLUDING"
        " MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE, ARE DISCLAIMED.",
    ),
    Concept(
        "Insurance",
        r"insur",
        "insurance maintain coverage liability policy commercial general occurrence insured"
        " certificate workers compensation aggregate additional",
        "Each party shall obtain and maintain, at its own expense, commercial general liability"
        " insurance with limits of not less than $1,000,000 per occurrence, naming the other party"
        " as an additional insured, and furnish certificates of insurance.",
    ),
    Concept(
        "No challenge",
        r"(challeng|contest|dispute|attack|question)\w*.{0,50}(validity|ownership|intellectual|"
        r"patent|mark|title|right)|covenant not to sue|not (to )?sue",
        "challenge contest validity ownership attack claim sue covenant title marks"
        " intellectual not",
        "Licensee shall not at any time contest, challenge or attack the validity, enforceability"
        " or ownership of the Licensor's intellectual property or marks, and covenants not to sue.",
    ),
    Concept(
        "Third-party beneficiaries",
        r"third[- ]part(y|ies)('s)?.{0,30}(beneficiar|benefit|enforce|right)|beneficiar",
        "third party beneficiary benefit enforce rights intended solely person successors",
        "This Agreement is intended solely for the benefit of the parties and nothing herein"
        " confers any right on any other person; the following are express third-party"
        " beneficiaries entitled to enforce it.",
    ),
    Concept(
        "Indemnity",
        r"indemni|hold harmless|third[- ]party claim|defend",
        "indemnify defend hold harmless claims losses damages arising third party"
        " expenses attorneys",
        "Each party shall indemnify, defend and hold harmless the other party from and against any"
        " and all claims, losses, liabilities, damages and expenses, including reasonable"
        " attorneys' fees, arising out of any breach.",
    ),
    Concept(
        "Payment",
        r"\bpay(s|able|ment|ments|ing)?\b|\binvoic|\bfees?\b|\bprice\b|\bcharges?\b|compensation"
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
        "Force majeure",
        r"force majeure|act of god|beyond (its|the|their) control|unforeseen",
        "force majeure beyond reasonable control act god delay failure excused war strike",
        "Neither party shall be liable for any failure or delay caused by events beyond its"
        " reasonable control, including acts of God, war, strikes and natural disasters.",
    ),
    Concept(
        "Notices",
        r"\bnotices?\b.{0,30}(sent|address|given|deliver|how|form)|how .{0,20}notif|address for",
        "notice writing address delivered mail courier facsimile deemed received attention",
        "All notices under this Agreement shall be in writing and delivered by hand, courier or"
        " certified mail to the addresses set out below.",
    ),
    Concept(
        "Amendment and waiver",
        r"\bamend|modif|variation|waive",
        "amendment modify writing signed parties waiver no effective unless",
        "No amendment, modification or waiver of this Agreement shall be effective unless in"
        " writing and signed by both parties.",
    ),
    Concept(
        "Subcontracting",
        r"sub-?contract",
        "subcontract subcontractor consent prior written responsible",
        "Supplier shall not subcontract any of its obligations without prior written consent and"
        " remains responsible for its subcontractors.",
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
        r"|personal data|data (breach|protection)|sub-?processor",
        "data delete return personal processing customer content security breach notify days",
        "After termination the provider shall, on request, delete or return all customer data and"
        " content within thirty days, and shall notify any personal data breach without delay.",
    ),
    Concept(
        "Loan terms",
        r"\b(loan|credit facility|facility|borrow|commitment fee|maturity|prepay|lender)",
        "loan facility commitment aggregate amount principal borrower lender maturity date interest"
        " rate per annum advance",
        "The Lenders agree to make loans to the Borrower in an aggregate principal amount not"
        " exceeding the commitment until the Maturity Date, bearing interest per annum.",
    ),
)
