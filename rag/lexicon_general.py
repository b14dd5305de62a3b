"""Kinds of clause that any contract has: parties, term, law, termination, liability."""

from rag.concepts import Concept

CONCEPTS = (
    Concept(
        "Title",
        r"\b(title|name|kind|type) of (this|the) (document|agreement|contract)|document name"
        r"|what (document|agreement|contract) is this"
        r"|what('s| is) (this|the) (document|file|paper|contract|agreement)( called)?\s*\??$",
        "agreement contract",
        "THIS AGREEMENT, title of the agreement, Exhibit",
        "start",
    ),
    Concept(
        "Parties",
        r"\b(who|names? of)\b.{0,30}\bpart(y|ies)\b|parties (to|of|in)\b|contracting parties"
        r"|who (signed|made|entered)|\bwho('s| is| are| was| were) (the )?"
        r"(borrower|lender|buyer|seller|purchaser|vendor|supplier|customer|client|contractor|landlord|tenant|lessor|lessee|licensor"
        r"|licensee|distributor|franchisor|franchisee|employer|employee|guarantor|agent|arranger"
        r"|company|owner|consultant|provider|manufacturer|publisher|author|sponsor)s?\b",
        "between party corporation company hereinafter referred inc llc ltd",
        'This Agreement is made by and between Alpha Inc., a Delaware corporation ("Company"),'
        ' and Beta LLC ("Distributor"), each a party and collectively the parties.',
        "start",
    ),
    Concept(
        "Agreement date",
        r"\bdate (of|on) (this|the|that|our|my) (agreement|contract|document|lease|licen[cs]e|deed"
        r"|policy|plan|amendment|letter)|(agreement|signing|signature) date"
        r"|date of (signing|signature)|\bdate\b.{0,40}\b(signed|executed|entered|concluded)\b"
        r"|\bwhen (was|were|is|did)\b.{0,40}\b(sign(ed)?|dated|executed?|enter(ed)?|concluded?)\b"
        r"|what date (is|was) (on )?(this|the) (agreement|contract|lease|document)"
        r"|\bwhen was (it|(this|the) (agreement|contract|lease|document)) made",
        "dated made entered day date",
        "This Agreement is made and entered into as of this 1st day of January, 2015, by and"
        " between the parties.",
        "start",
    ),
    Concept(
        "Effective date",
        r"\beffective date|(become|becomes|take|takes|come|comes|is) (in(to)?\s)?(effect|force)\w*"
        r"|\bin force (since|from)|since when|commencement date|\bstart(s|ing)? date"
        r"|when does .{0,30}\b(start|begin|commence)",
        "effective date commence day",
        'This Agreement is entered into and is effective as of January 1, 2015 (the "Effective'
        ' Date"). This Agreement shall become effective on the date of the last signature.',
        "start",
    ),
    Concept(
        "Term and expiry",
        r"\b(initial|length|duration|end) (of )?(the )?term|\bterm\b.{0,20}\b(expire|end|last)"
        r"|expir(y|e|es|ation)|how long (is|does|will|do).{0,30}(term|agreement|contract)"
        r"|how long (does|will|do|is) (it|this|they) (last|run|valid|in force)"
        r"|how long (does|will|do) (the|this|my|our) (franchise|licen[cs]e|lease|policy|tenancy"
        r"|appointment|employment|engagement|loan|collaboration|cooperation|partnership|project)\b.{0,20}\b(last|run|continue)"
        r"|\bduration\b|termination date|\bwhen (does|do|will|is|are|must) .{0,40}"
        r"\b(end|ends|expire|over|run out)\b",
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
        r"(notice.{0,40})?\b((stop|prevent|avoid|cancel|terminat)\w*|not|against"
        r"|opt(ing)? out of)\b.{0,60}\brenew(al|ing|ed)?|non-?renewal",
        "renew notice written prior days expiration unless either party intention not terminate",
        "unless either party notifies the other in writing of its intention not to renew at least"
        " ninety (90) days prior to the expiration of the initial or any renewal term.",
        over="Notice of renewal",
    ),
    Concept(
        "Notice of renewal",
        r"notice.{0,60}\brenew(al|ing|ed)?|\brenew.{0,60}\bnotice",
        "renew notice written prior days expiration intention elect option extend",
        "may renew this Agreement by written notice of its intention to renew, given at least six"
        " months before the expiration of the initial term.",
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
        r"\bjurisdiction|\bvenue\b|\bcourts?\b|\b(where|can|may) .{0,30}\b(sue|sued|suit|litigat)"
        r"|forum",
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
        "Termination for convenience",
        r"(terminat|cancel|end)\w*.{0,40}(without cause|convenience|any reason|no reason|at will)"
        r"|(without cause|for convenience|any time|at will).{0,40}(terminat|cancel|end)|walk away"
        r"|without a reason",
        "terminate time without cause convenience reason notice written prior days either party",
        "Either party may terminate this Agreement at any time, with or without cause, for any"
        " reason or no reason, upon thirty (30) days' prior written notice to the other party.",
    ),
    Concept(
        "Early termination",  # for whatever reason
        r"get out (of|early)|leave early|\b(can|may|could)\b.{0,40}\bend (it|this|the) ?"
        r"|\b(end(ed)?|terminated?|cancel(l?ed)?|stop(ped)?)\b.{0,25}\bearl(y|ier)\b"
        r"|how can.{0,30}(ended|terminated)|how much notice.{0,30}terminat"
        r"|notice.{0,30}(needed|required).{0,20}terminat",
        "terminate time cause convenience notice written prior days either party",
        "Either party may terminate this Agreement at any time upon thirty (30) days' prior written"
        " notice to the other party; we have the right to terminate it effective upon notice if you"
        " fail to perform.",
    ),
    Concept(
        "Termination for breach",
        r"terminat\w*.{0,40}(breach|default|for cause|\bcure)|material breach|\bcure\b"
        r"|events? of default|default\b|remed(y|ies) (for|of) breach"
        r"|\b(terminat|remov|dismiss)\w*\b.{0,30}\b(why|when|grounds?|reasons?|what for)\b"
        r"|\b(why|grounds?|reasons?)\b.{0,50}\bterminat"
        r"|\b(when|what)\b.{0,40}\b(be (terminated|removed|dismissed|replaced)"
        r"|terminate (me|us|it|(the|this|my|our) (agreement|contract|franchise|lease|licen[cs]e)))",
        "terminate breach material default cure days notice written remedy fails"
        " insolvency bankruptcy",
        "Either party may terminate this Agreement if the other party materially breaches any"
        " provision and fails to cure such breach within thirty days after written notice; we have"
        " the right to terminate it effective upon notice if you fail to perform.",
    ),
    Concept(
        "Remedies for breach",
        r"\b(covenant|agreement|contract|promise|restriction|obligation|term)s?\b.{0,20}"
        r"\b(broken|breach|violat)\w*|\b(break|breach|violat)\w*\b.{0,20}\b(covenant|agreement"
        r"|contract|promise|restriction|obligation|terms?)\b|injuncti",
        "breach injunctive relief irreparable harm remedies equitable damages violation entitled",
        "A breach would cause irreparable harm for which damages are no adequate remedy; the other"
        " party shall be entitled to injunctive relief and specific performance in addition to any"
        " other remedies.",
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
        r"(agreement|contract|rights|obligations)|delegat"
        r"|\bsell (the|my|our|this|his|her|its|their) (whole )?(business|restaurant|store|shop"
        r"|practice|franchise|company|unit|outlet|location)\b"
        r"|\b(sell|give|hand|pass)\b.{0,40}\b(to|over|on to) (someone|somebody|anyone|others?"
        r"|a third)"
        r"|(?<!are )(?<!is )transfer(red)?\b(?! of (the |personal |our )?data).{0,40}"
        r"\b(to|franchise|licen[cs]e|lease|business)",
        "assign assignment transfer delegate consent prior written without successors"
        " permitted void"
        " party rights obligations affiliate",
        "Neither party may assign, transfer or delegate this Agreement or any of its rights or"
        " obligations hereunder without the prior written consent of the other party, and any"
        " attempted assignment shall be void.",
    ),
    Concept(
        "Limitation of liability",
        r"liab(le|ility|ilities).{0,40}(cap|capped|limit|maximum|exclu)|(limit|cap|maximum)\w*"
        r"\b.{0,40}(liab|damages)|consequential|indirect damages|(how is )?liability\b"
        r"|go(es)? wrong|\bwho('s| is| will be) (liable|responsible)",
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
        "Disclaimer of warranties",
        r"disclaim|as[- ]is|implied warrant|merchantab|no warrant",
        "disclaims warranties implied merchantability fitness particular purpose express as-is",
        "EXCEPT AS EXPRESSLY PROVIDED, ALL WARRANTIES, EXPRESS OR IMPLIED, INCLUDING"
        " MERCHANTABILITY AND FITNESS FOR A PARTICULAR PURPOSE, ARE DISCLAIMED.",
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
        r"indemni|hold harmless|third[- ]party claim|defend|go(es)? wrong"
        r"|\bwho('s| is| will be) (liable|responsible)",
        "indemnify defend hold harmless claims losses damages arising third party"
        " expenses attorneys",
        "Each party shall indemnify, defend and hold harmless the other party from and against any"
        " and all claims, losses, liabilities, damages and expenses, including reasonable"
        " attorneys' fees, arising out of any breach.",
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
        r"\bamend|modif|variation|waive|\b(agreement|contract|terms)\b.{0,20}\b(changed|altered)"
        r"|\b(change|alter)\b.{0,20}\b(agreement|contract|terms)\b",
        "amendment modify writing signed parties waiver no effective unless",
        "No amendment, modification or waiver of this Agreement shall be effective unless in"
        " writing and signed by both parties.",
    ),
    Concept(
        "Subcontracting",
        r"sub-?contract|sub-?process",
        "subcontract subcontractor subprocessor consent prior written responsible",
        "Supplier shall not subcontract any of its obligations without prior written consent and"
        " remains responsible for its subcontractors.",
    ),
)
