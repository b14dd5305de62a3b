"""Kinds of clause in non-disclosure agreements: how they are asked for and how they are worded."""

from rag.concepts import Concept

CONCEPTS = (
    Concept(
        "Definition of confidential information",
        r"confidential information (is|means|includ|shall only|only|defin)|(defin|mean)\w*"
        r".{0,20}confidential|what (is|counts as|information is).{0,20}confidential|only include"
        r"|technical information|non-?technical",
        "confidential information means includes information technical business financial data"
        " marketing trade secrets know-how customers plans",
        '"Confidential Information" means any technical, financial, business, marketing or other'
        " information, including trade secrets, know-how, customer lists and business plans,"
        " disclosed by the Disclosing Party.",
    ),
    Concept(
        "Marking of confidential information",
        r"\bmark(ed|ing)?\b|expressly identif|identified|label|legend|designat|stamp",
        "marked identified confidential proprietary legend designated writing stamped time"
        " disclosure",
        "information that is clearly marked, labelled or designated in writing as confidential or"
        " proprietary at the time of disclosure, or which the recipient should reasonably"
        " understand to be confidential.",
    ),
    Concept(
        "Oral disclosure",
        r"\boral|verbal|spoken|visual|conversation|tangible",
        "oral orally verbal verbally visual written tangible form disclosed electronic recorded"
        " preserved",
        "all information, however recorded, preserved or disclosed: orally, visually, in writing,"
        " electronically or in any other form, and if disclosed orally reduced to writing within"
        " thirty days.",
    ),
    Concept(
        "Use of confidential information",
        r"\buse\b.{0,50}(purpose|confidential|information)|(purpose|restrict).{0,40}\buse\b|misuse",
        "use solely purpose confidential information other than only permitted evaluating",
        "The Receiving Party shall use the Confidential Information solely for the Purpose and"
        " shall not use it for any other purpose or for its own benefit.",
    ),
    Concept(
        "Sharing with employees",
        r"(shar|disclos|reveal|show|give|provid)\w*.{0,70}(employee|staff|personnel"
        r"|director|officer)"
        r"|employees?\b.{0,40}(confidential|information)|need[- ]to[- ]know",
        "employees need know officers directors disclose bound obligations representatives"
        " confidentiality",
        "may disclose the Confidential Information only to those of its employees, officers and"
        " directors who need to know it for the Purpose and who are bound by obligations of"
        " confidentiality.",
    ),
    Concept(
        "Sharing with third parties and advisers",
        r"(shar|disclos|reveal|show|give|provid)\w*.{0,70}(third[- ]part|consultant|advis|agent|"
        r"contractor|affiliate|representative|lawyer|attorney|other people|others)",
        "third party consultants agents advisors attorneys accountants representatives affiliates"
        " disclose need know contractors",
        "may disclose Confidential Information to its representatives, including affiliates,"
        " agents, consultants, attorneys, accountants and professional advisers, who need to know"
        " it and are bound by like obligations; it shall not be disclosed to any third party.",
    ),
    Concept(
        "Compelled disclosure",
        r"(required|compelled|obliged|ordered|forced) (by|to)\b.{0,40}(law|court|disclos|regulat)"
        r"|\bcompel|subpoena|court order|legal(ly)? (process|requirement|required)"
        r"|notif.{0,60}(required|law|regulation|court|judicial)",
        "required law court order subpoena prompt notice protective legal process regulation"
        " governmental judicial disclose",
        "If the Receiving Party is required by law, regulation, subpoena or court order to disclose"
        " any Confidential Information, it shall give prompt written notice to the Disclosing"
        " Party so that it may seek a protective order.",
    ),
    Concept(
        "Secrecy of the agreement itself",
        r"(fact that|existence|terms) .{0,40}(agreement|negotiat|discussion)|(agreed|negotiated)"
        r"|disclos\w* the (fact|existence)|publicity|press release|announcement",
        "existence terms fact agreement negotiations discussions disclose taking place transaction"
        " publicity announcement public statement approval",
        "Neither party shall disclose to any person the existence or terms of this Agreement, the"
        " fact that discussions or negotiations are taking place, or that Confidential Information"
        " has been made available.",
    ),
    Concept(
        "Reverse engineering",
        r"reverse[- ]engineer|decompil|disassembl|\banaly[sz]e",
        "reverse engineer decompile disassemble analyze prototype software sample composition",
        "The Receiving Party shall not reverse engineer, decompile, disassemble or analyse any"
        " prototypes, software, samples or other tangible objects which embody the Confidential"
        " Information.",
    ),
    Concept(
        "Independent development",
        r"independent(ly)? (develop|creat|deriv)|similar .{0,40}(develop|information)"
        r"|develop.{0,40}similar",
        "independently developed without use reference recipient exclusion not include information"
        " which",
        "Confidential Information shall not include information which is independently developed by"
        " the Receiving Party without use of or reference to the Confidential Information.",
    ),
    Concept(
        "Receipt from third parties",
        r"(acquir|receiv|obtain|get)\w*.{0,70}(from|by|through) (a |another )?(third|other)"
        r"|third part\w*.{0,40}(source|lawfully)|already known|public domain|publicly (known|avail)"
        r"|exception|exclu(ded|sion)",
        "third party rightfully received lawfully obtained without restriction public domain known"
        " prior obligation confidentiality exclusion not include",
        "Confidential Information does not include information which is or becomes publicly known"
        " through no fault of the recipient, was already known to it, or is lawfully received from"
        " a third party without restriction on disclosure.",
    ),
    Concept(
        "No licence",
        r"\bgrant\w*\b.{0,70}(right|licen|title|interest)|no (licen|right)|ownership of (the )?conf"
        r"|remain\w* the property|any rights? to",
        "license right title interest granted property remain ownership nothing construed implied"
        " patent copyright no",
        "Nothing in this Agreement shall be construed as granting any license, right, title or"
        " interest in the Confidential Information, which remains the sole property of the"
        " Disclosing Party.",
    ),
    Concept(
        "Return or destruction",
        r"(?<!in )\b(return|destroy|destruction|erase|give back)\b",
        "return destroy request termination copies materials promptly certify written documents"
        " confidential information",
        "Upon termination or at the written request of the Disclosing Party, the Receiving Party"
        " shall promptly return or destroy all Confidential Information and all copies thereof and"
        " certify such destruction in writing.",
    ),
    Concept(
        "Copies",
        r"\bcop(y|ies|ying)\b|reproduc|duplicat|photocop",
        "copy copies reproduce reproduction duplicate necessary written consent notes",
        "The Receiving Party shall not copy or reproduce the Confidential Information except as"
        " necessary for the Purpose, and all copies shall bear the same proprietary notices.",
    ),
    Concept(
        "Retention",
        r"\bretain|\bretention|keep .{0,40}(copy|copies|information)|(after|post).{0,30}(return|"
        r"destruction|agreement).{0,30}(possess|keep|retain)",
        "retain copy archival backup legal counsel records compliance required law notwithstanding"
        " return destroy electronic",
        "Notwithstanding the return or destruction, the Receiving Party may retain one archival"
        " copy with its legal counsel, and copies required by law or created by automatic backup,"
        " subject to continuing confidentiality.",
    ),
    Concept(
        "Survival of secrecy",
        r"\bsurviv|(obligation|confidential).{0,60}(after|continue|last|beyond|termination|expir)"
        r"|how long.{0,50}(confidential|secret)",
        "survive termination expiration obligations years period continue remain confidentiality"
        " indefinitely",
        "The obligations of confidentiality shall survive the termination or expiration of this"
        " Agreement for a period of five years, or for as long as the information remains"
        " confidential.",
    ),
    Concept(
        "Duty of care",
        r"protect|safeguard|\bcare\b|degree of care|unauthori[sz]ed",
        "protect care reasonable degree same own confidential safeguard unauthorized"
        " prevent strict",
        "shall protect the Confidential Information with the same degree of care as it uses for its"
        " own, but not less than reasonable care, and prevent unauthorised use or disclosure.",
    ),
    Concept(
        "Injunction",
        r"injunct|irreparable|equitable|remed(y|ies)",
        "injunctive relief irreparable harm equitable remedies damages inadequate breach specific",
        "The parties acknowledge that a breach would cause irreparable harm for which damages are"
        " inadequate, and that injunctive relief and specific performance may be sought.",
    ),
)
