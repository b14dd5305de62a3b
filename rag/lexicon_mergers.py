"""Kinds of clause in merger and acquisition agreements: how they are asked for and worded."""

from rag.concepts import Concept

CONCEPTS = (
    Concept(
        "Merger consideration",
        r"consideration|(price|paid|cash) per share|exchange ratio",
        "converted right receive cash share merger consideration exchange ratio stock outstanding"
        " effective time without interest cancelled",
        "At the Effective Time each issued and outstanding share of Company Common Stock shall be"
        " cancelled and converted into the right to receive an amount in cash per share, without"
        ' interest (the "Merger Consideration").',
    ),
    Concept(
        "Condition: accuracy of representations",
        r"(accura|bring[- ]?down|true and correct)\w*.{0,50}(represent|warrant)?"
        r"|closing conditions?:? .{0,30}represent",
        "representations warranties true correct respects closing date as though made material"
        " adverse effect conditions obligations",
        "The representations and warranties of the Company shall be true and correct as of the"
        " Closing Date as though made on such date, except where the failure would not have a"
        " Company Material Adverse Effect.",
    ),
    Concept(
        "Condition: compliance with covenants",
        r"compliance with covenants|(perform|compl)\w*.{0,40}covenants|covenants? .{0,30}(perform|"
        r"compl)",
        "performed complied material respects covenants obligations agreements required prior"
        " closing conditions",
        "Conditions to the obligations of Parent: the Company shall have performed and complied in"
        " all material respects with all covenants and obligations required to be performed by it"
        " at or prior to the Closing.",
    ),
    Concept(
        "Condition: regulatory approvals",
        r"regulatory (approval|consent|filing|matter)|antitrust (approval|clearance)|hsr",
        "regulatory approvals antitrust hsr act filings waiting period expired"
        " terminated governmental"
        " consents authority condition",
        "Any waiting period under the HSR Act shall have expired or been terminated and all"
        " required regulatory approvals obtained; each party shall use reasonable best efforts to"
        " make filings with governmental entities.",
    ),
    Concept(
        "Condition: no material adverse effect",
        r"closing condition.{0,40}(adverse|mae)|no material adverse (effect|change)|absence of "
        r"(certain )?changes|\bmae\b",
        "material adverse effect not occurred since date absence changes event"
        " circumstance ordinary"
        " course",
        "Absence of certain changes: since the balance sheet date through the date of this"
        " Agreement there has not been any event that has had a Material Adverse Effect.",
    ),
    Concept(
        "Definition of material adverse effect",
        r"defin\w*.{0,30}(material adverse|mae)|material adverse effect. (mean|defin)",
        "material adverse effect means event change effect circumstance business"
        " financial condition"
        " results operations provided excluding general economic",
        '"Material Adverse Effect" means any event, change, effect or circumstance that is'
        " materially adverse to the business, financial condition or results of operations,"
        " excluding general economic conditions and changes in law.",
    ),
    Concept(
        "Definition of knowledge",
        r"(defin|mean)\w*.{0,30}knowledge|knowledge.{0,20}(defin|mean)",
        "knowledge means actual knowledge after reasonable inquiry persons individuals officers",
        '"Knowledge" means, with respect to the Company, the actual knowledge, after reasonable'
        " inquiry, of the individuals listed in the disclosure schedule.",
    ),
    Concept(
        "No-shop",
        r"no[- ]?shop|non-?solicitation|(solicit|compet)\w* (acquisition|takeover|proposal)",
        "solicit initiate knowingly encourage facilitate acquisition proposal inquiries discussions"
        " negotiations information representatives shall not",
        "No Solicitation. The Company shall not, and shall cause its Representatives not to,"
        " directly or indirectly solicit, initiate, knowingly encourage or facilitate any"
        " Acquisition Proposal, or participate in discussions or furnish non-public information.",
    ),
    Concept(
        "Breach of the no-shop",
        r"(liab|breach|standard)\w*.{0,50}(no[- ]?shop|representative)"
        r"|no[- ]?shop.{0,40}(breach|liab)",
        "representatives breach deemed company violation solicitation restrictions action any",
        "any breach of the non-solicitation restrictions by a Representative of the Company shall"
        " be deemed a breach by the Company.",
    ),
    Concept(
        "Fiduciary exception to the no-shop",
        r"fiduciary.{0,30}(exception|out)\b|exception.{0,40}no[- ]?shop|window[- ]shop",
        "notwithstanding prior stockholder approval unsolicited bona fide written"
        " acquisition proposal"
        " board determines good faith superior fiduciary furnish information",
        "Notwithstanding the foregoing, if prior to the stockholder approval the Company"
        " receives an"
        " unsolicited bona fide written Acquisition Proposal which the Board determines in good"
        " faith, after consulting counsel, could lead to a Superior Proposal, it may furnish"
        " information and enter into discussions.",
    ),
    Concept(
        "Superior proposal",
        r"superior (proposal|offer)",
        "superior proposal means bona fide written acquisition proposal board determines good faith"
        " favorable stockholders financial point view",
        '"Superior Proposal" means a bona fide written Acquisition Proposal that the Board'
        " determines in good faith is more favorable to the stockholders from a financial point of"
        " view and is reasonably likely to be completed.",
    ),
    Concept(
        "Intervening event",
        r"interv\w+ing event|change in circumstance",
        "intervening event means material development change not known reasonably foreseeable board"
        " date agreement prior stockholder approval",
        '"Intervening Event" means any material event, development or change in circumstances'
        " that was not known or reasonably foreseeable to the Board as of the date of this"
        " Agreement and becomes known before the stockholder approval.",
    ),
    Concept(
        "Change of board recommendation",
        r"(change|withdraw|adverse).{0,30}recommendation|\bcor\b",
        "adverse recommendation change withhold withdraw modify board superior proposal intervening"
        " event fiduciary duties inconsistent",
        "the Board may make an Adverse Recommendation Change in response to a Superior Proposal or"
        " an Intervening Event if failure to do so would be inconsistent with its"
        " fiduciary duties.",
    ),
    Concept(
        "Matching rights",
        r"match(ing)? right|right to match",
        "notice business days negotiate good faith adjustments terms parent superior proposal"
        " revised prior written",
        "the Company shall give Parent at least four business days' prior written notice and"
        " negotiate in good faith with Parent to adjust the terms so that the proposal ceases to be"
        " a Superior Proposal.",
    ),
    Concept(
        "Fiduciary termination right",
        r"fiduciary termination|(trigger|right)\w* .{0,20}terminat"
        r"|terminat\w*.{0,30}(trigger|superior)",
        "terminated abandoned company prior stockholder approval superior proposal enter definitive"
        " agreement termination fee section",
        "This Agreement may be terminated by the Company at any time prior to obtaining the"
        " stockholder approval in order to enter into a definitive agreement for a Superior"
        " Proposal, provided that it pays the termination fee.",
    ),
    Concept(
        "Termination fee tail",
        r"\btail\b|termination fee|break[- ]?up fee",
        "termination fee pay twelve months after termination acquisition proposal"
        " consummated enters"
        " definitive agreement parent",
        "if this Agreement is terminated and within twelve months after such termination the"
        " Company enters into or consummates an Acquisition Proposal, it shall pay Parent the"
        " termination fee.",
    ),
    Concept(
        "Antitrust efforts",
        r"antitrust|regulatory efforts|divest|hell or high water",
        "reasonable best efforts antitrust divest hold separate license litigate restrictions hsr"
        " required remedy burdensome condition shall not",
        "shall use reasonable best efforts to obtain clearance under antitrust laws, provided that"
        " Parent shall not be required to divest, hold separate, license or litigate.",
    ),
    Concept(
        "Operating covenants",
        r"ordinary course|interim (operating )?covenant|operating covenant"
        r"|conduct of (the )?business"
        r"|negative covenant",
        "conduct business ordinary course consistent past practice between date agreement closing"
        " shall not without consent parent subsidiaries",
        "From the date of this Agreement until the Effective Time, the Company shall conduct its"
        " business in the ordinary course consistent with past practice, and shall not, without"
        " Parent's prior written consent, do any of the following.",
    ),
    Concept(
        "Specific performance",
        r"specific(ally)? (performance|enforce)",
        "specific performance irreparable damage injunction enforce specifically equity entitled"
        " remedy bond",
        "Irreparable damage would occur if this Agreement were not performed; the parties shall be"
        " entitled to an injunction and to enforce specifically its terms, without proof of damages"
        " or posting a bond.",
    ),
    Concept(
        "Representation",
        r"representations? (&|and) warrant",
        "represents warrants company parent except disclosure schedule section",
        "The Company represents and warrants to Parent that, except as set forth in the disclosure"
        " schedule:",
    ),
)
