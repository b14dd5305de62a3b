"""Kinds of statement in privacy policies and terms of use: how they are asked for and worded."""

from rag.concepts import Concept

_USER = r"\b(you|your|apps?|site|website|users?|privacy|phone|personal|data)\b"


def _concept(name: str, asked: str, terms: str, wording: str) -> Concept:
    """One that is meant only where a user of a service asks."""
    return Concept(name, asked, terms, wording, needs=_USER)


CONCEPTS = (
    _concept(
        "Collection of data",
        r"(collect|gather|record|log|store|stor|track|monitor|save|know"
        r"|keep)\w*.{0,60}(data|info|me\b"
        r"|my\b|i\b|about|call|message|video|use)|(what|personal|kind of) (data|info|details)"
        r"|data .{0,30}(collect|gather)",
        "collect information provide personal automatically usage device log account register"
        " receive",
        "We collect personal information that you provide when you register, and we automatically"
        " collect information about your device, usage and activity while you use the services.",
    ),
    _concept(
        "Sharing with third parties",
        r"(shar|disclos|giv|send|pass|transfer|access)\w*.{0,60}(third|other|part|compan"
        r"|anyone|info|"
        r"data|people)|who (can|has|else|will)\b|third part",
        "share third parties disclose service providers partners affiliates personal information"
        " advertisers business",
        "We may share your personal information with third parties, service providers, business"
        " partners and affiliates, who help us to provide the services.",
    ),
    _concept(
        "Sale of data",
        r"\b(sell|sells|sold|selling|sale|rent|profits?|money|monetiz\w*)\b",
        "sell rent personal information third parties advertising marketing purposes consent"
        " aggregated anonymous",
        "We do not sell or rent your personal information to third parties for their marketing"
        " purposes without your consent; we may share aggregated or anonymous data.",
    ),
    _concept(
        "Location",
        r"\blocat|\bgps\b|where (i|we) (am|are|go)|whereabouts|geo",
        "location gps geographic device ip address collect mobile permission based services wifi",
        "With your permission we collect your precise location from your mobile device's GPS,"
        " Wi-Fi or IP address; you can turn off location services in your device settings.",
    ),
    _concept(
        "Contacts",
        r"\bcontacts?\b|address book|friends|phone ?book|phone numbers?",
        "contacts address book phone numbers friends invite import upload names",
        "We may access and store the contacts and address book on your device, names and phone"
        " numbers, to connect you with friends and to let you invite them.",
    ),
    _concept(
        "Security",
        r"\bsecur|\bsafe|protect|encrypt|hack|(data|security) breach|stolen|privacy measures",
        "security measures protect technical administrative physical encryption unauthorized access"
        " safeguard guarantee ssl transmission",
        "We use reasonable administrative, technical and physical security measures, such as"
        " encryption, to protect your information; however, no method of transmission or storage is"
        " completely secure.",
    ),
    _concept(
        "Retention and deletion",
        r"(how long|retain|retention|keep|delet|remov|eras|sav)\w*.{0,60}(data|info|account|record"
        r"|my\b)"
        r"|delet|retention"
        r"|deactivat|uninstall|clos(e|ing) (my|your|the) account",
        "retain delete account information period deactivate remove request long necessary",
        "We retain your information for as long as your account is active or as needed; you may ask"
        " us to delete your account and personal information at any time.",
    ),
    _concept(
        "Advertising and cookies",
        r"\bads?\b|advert|cookie|targeted|marketing|promotion|spam",
        "advertising ads targeted interest-based cookies third party networks opt out marketing"
        " behavioral tracking",
        "We and third-party advertising networks use cookies and similar technologies to show you"
        " targeted, interest-based advertising; you may opt out.",
    ),
    _concept(
        "Choices and access",
        r"opt[- ]?out|\b(control|choose|choice|change|update|correct|access|limit|refuse|stop)\b"
        r".{0,40}(data|info|settings|shar|collect|my\b)|my rights|settings|unsubscrib",
        "opt out choice settings update correct access request preferences control unsubscribe",
        "You can access, update and correct your information, change your settings and opt out of"
        " promotional messages and of certain collection.",
    ),
    _concept(
        "Law enforcement",
        r"law enforcement|police|government|subpoena|court|legal|authorities",
        "law enforcement subpoena court order legal process comply disclose required government"
        " request rights",
        "We may disclose information where required by law, subpoena, court order or a lawful"
        " request by law enforcement or government authorities.",
    ),
    _concept(
        "Children",
        r"child|kid|minor|under (13|16|18)|\bage\b|parent",
        "children under age 13 parental consent knowingly collect parent",
        "Our services are not directed to children under 13 and we do not knowingly collect"
        " personal information from them without parental consent.",
    ),
    _concept(
        "Content of messages and calls",
        r"message|chat|call|video|photo|content|listen|read (my|our|your)|conversation|microphone",
        "messages content calls read listen store delivered photos video chat end-to-end encrypted"
        " servers",
        "We do not read or listen to the content of your messages and calls, which are end-to-end"
        " encrypted and are not stored on our servers after delivery.",
    ),
    _concept(
        "Account and sign-in",
        r"\baccount|log ?in|sign ?(in|up)|register|registration|facebook|social (network|media)"
        r"|password|profile|username|email",
        "account register name email profile social network facebook password login public",
        "When you create an account we ask for your name, email address and profile information; if"
        " you sign in through a social network such as Facebook, we receive your profile from it.",
    ),
    _concept(
        "Payment data",
        r"\bpay|credit card|bank|purchase|financial|billing|transaction",
        "payment credit card financial account billing purchase information processor transaction",
        "When you make a purchase we collect payment information, such as your credit card number"
        " and billing address, which is handled by our payment processor.",
    ),
    _concept(
        "Place of storage",
        r"(where|which country|how).{0,40}(stored|store|processed|held|kept|servers?)"
        r"|transfer.{0,30}"
        r"(abroad|countr|international)",
        "stored processed servers countries transfer united states international jurisdiction",
        "Your information may be stored and processed on servers in the United States or other"
        " countries, and transferred across borders.",
    ),
    _concept(
        "Changes of the policy",
        r"(chang|updat|modif|amend)\w*.{0,40}(policy|terms|notice)|notif\w*.{0,40}chang",
        "changes policy update notify posting effective revised continued use",
        "We may change this privacy policy from time to time; we will notify you of material"
        " changes by posting the revised policy.",
    ),
)
