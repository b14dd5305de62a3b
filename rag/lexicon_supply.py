"""Kinds of clause about goods, orders and costs, and about the place they are sold or used in."""

from rag.concepts import Concept

CONCEPTS = (
    Concept(
        "Title and risk",
        r"\b(title|ownership)\b.{0,30}\b(pass|transfer|go(es)?|vest)|\brisk\b.{0,25}\b(loss|damage"
        r"|pass|transfer)\w*|who (bears|carries|has) the risk",
        "title risk loss pass transfer delivery carrier fob shipment upon",
        "Title to the Products and the risk of loss or damage shall pass to the Buyer upon delivery"
        " to the carrier, FOB Seller's facility.",
    ),
    Concept(
        "Return of goods",
        r"\b(goods|products?|items?|units?|merchandise)\b.{0,25}\b(returned|sent back)"
        r"|\b(return|send back|sending back)\w*\b.{0,25}\b(goods|products?|items?|units?)",
        "return returned products defective non-defective authorization refund credit restocking",
        "Products may be returned only with the Seller's prior authorization; defective Products"
        " are returned for repair, replacement or credit.",
    ),
    Concept(
        "Remaining stock",
        r"\b(unsold|remaining|leftover|existing|excess)\b.{0,15}\b(stock|inventory|goods|products?)"
        r"|\b(stock|inventory)\b.{0,40}\b(end|terminat|expir|left|over)\w*|sell[- ]off",
        "upon termination expiration inventory remaining repurchase sell off products stock",
        "Upon expiration or termination of this Agreement the Company may repurchase the"
        " Distributor's remaining inventory, or the Distributor may sell off its remaining stock.",
    ),
    Concept(
        "Changing an order",
        r"\b(cancel|reschedul|postpone|withdraw|chang)\w*\b.{0,30}\borders?\b"
        r"|\borders?\b.{0,30}\b(cancel|reschedul|postpone|withdraw|chang)\w*",
        "purchase order cancel reschedule change notice prior shipment delivery date charge",
        "Buyer may cancel or reschedule a purchase order upon written notice before the scheduled"
        " shipment date, subject to a cancellation charge.",
    ),
    Concept(
        "Discount",
        r"discount|rebate|\bmark-?up\b|\bmargin\b",
        "discount rebate percent list price less margin",
        "Distributor shall purchase the Products at a discount of thirty percent off the then"
        " current list price.",
    ),
    Concept(
        "Bearing of costs",
        r"who (pays?|bears?|covers?|is paying|will pay) for\b|\bat (whose|who's) (cost|expense)"
        r"|who (bears?|covers?) (the )?.{0,30}\b(costs?|expenses?|freight|taxes|duties)",
        "cost costs expense expenses bear borne sole responsible own responsibility",
        "Each party shall bear its own costs and expenses; the Company shall be solely responsible"
        " for, and shall pay, all costs of the work at its own expense.",
        over="Payment",
    ),
    Concept(
        "Property of a party",
        r"\bwho owns (the |any )?(tool|mou?ld|die|equipment|material|machine|document|record"
        r"|drawing|design|plan)\w*"
        r"|\b(tool|mou?ld|equipment|material|record|drawing|plan)\w*\b.{0,20}"
        r"\b(belong|owned|property)",
        "property owned title tools tooling equipment materials remain furnished paid",
        "All tools, equipment and materials furnished or paid for by the Buyer are and shall remain"
        " the sole property of the Buyer.",
    ),
    Concept(
        "Security for payment",
        r"\bsecurity\b.{0,40}\b(pay|payments?|obligations?|performance|price|debts?|loans?)\b"
        r"|letters? of credit|collateral|\bliens?\b|security (deposit|interest)",
        "security letter credit irrevocable collateral lien interest guarantee deposit secure",
        "As security for its payment obligations the Buyer shall deliver an irrevocable letter of"
        " credit, and grants the Seller a security interest in the goods.",
    ),
    Concept(
        "Milestones",
        r"milestone",
        "milestone event payment upon achievement completion first amount",
        "Licensee shall pay the following milestone payments upon the first achievement of each"
        " milestone event set out below.",
    ),
    Concept(
        "Territory",
        r"\bterritor(y|ies)\b|\b(which|what) (countries|regions|states|area|markets?)\b"
        r"|\bwhere (may|can|must|is|are) .{0,30}\b(sell|sold|operate|market|distribute)",
        "territory market means countries states worldwide protected exclusive area",
        '"Territory" means the United States of America and Canada; the Distributor may sell the'
        " Products in the Territory only.",
    ),
    Concept(
        "Upkeep of premises",
        r"\b(renovat|refurbish|remodel|redecorat|modernis|moderniz)\w*|\b(repair|maintain|upkeep"
        r"|maintenance)\b.{0,30}\b(premises|location|store|shop|building|propert|equipment)",
        "premises location maintain repair refurbish remodel upgrade condition equipment standards",
        "You shall maintain the premises in good condition and repair, and shall remodel, refurbish"
        " or upgrade them at your expense when we require it.",
    ),
    Concept(
        "Training",
        r"\btrain(ed|ing|s)?\b",
        "training program attend complete hours days personnel initial",
        "You and your personnel shall attend and complete our initial training program of five"
        " days, at the place that we designate.",
    ),
)
