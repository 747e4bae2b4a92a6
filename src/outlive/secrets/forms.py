"""Patterns of secrets: keys by their prefix or by a mark inside them, passwords by the words around them.

Every pattern reads a bounded number of characters before it fails, so scanning is linear. Keys without a format of
their own (32 hexadecimal digits, a UUID) are found only next to a name such as `api_key` (docs/safety.md).
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import NamedTuple

from outlive.secrets.judging import lazy

_KEYS = r"""
Anthropic API key | sk-ant- | [\w-]{16,}
OpenRouter API key | sk-or- | (?:v1-)?[\w-]{32,}
OpenAI API key | sk-proj- sk-svcacct- sk-admin- sk-None- | [\w-]{16,}
Langfuse secret key | sk-lf- | [\w-]{32,}
Helicone API key | sk-helicone- | [\w-]{20,}
OpenAI API key | sk- | (?=[A-Za-z]{0,40}\d)(?=[0-9a-z]{0,40}[A-Z]|[0-9A-Za-z]{32})[A-Za-z0-9]{20,}+(?![\w-])
Google API key | AIza | [\w-]{35}
Google OAuth token | ya29. | [\w-]{20,}
Google refresh token | 1//0 | [\w-]{30,}
Google OAuth secret | GOCSPX- | [\w-]{20,}
Firebase key | APA91b | [\w-]{100,}
AWS access key | AKIA ASIA ABIA ACCA A3TA A3TB A3TC A3TD A3TE A3TF | [A-Z0-9]{16}(?![A-Za-z0-9])
AWS session token | IQoJb3JpZ2lu FwoGZXIvYXdz FQoGZXIvYXdz | [A-Za-z0-9+/]{60,}=*
AWS Bedrock key | ABSK bedrock-api-key- | [A-Za-z0-9+/]{100,}=*
Azure storage key | AccountKey= SharedAccessKey= | [A-Za-z0-9+/]{40,}=*
Azure SAS signature | sig= | (?:[A-Za-z0-9+/]|%2[BbFf]){43}(?:%3[Dd]|=)
GitHub token | ghp_ gho_ ghu_ ghs_ ghr_ | [A-Za-z0-9]{30,}
GitHub token | github_pat_ | \w{22,}
GitLab token | glpat- gldt- glft- glsoat- glrt- glcbt- glimt- glptt- glagent- gloas- glffct- | [\w.-]{20,}
GitLab token | GR1348941 | [\w-]{20,}
Bitbucket token | ATBB | [A-Za-z0-9]{24,}
Bitbucket token | BBDC- | [A-Za-z0-9+/@_-]{40,}
Atlassian token | ATATT3 ATCTT3 ATSTT3 | [\w=-]{30,}
Slack token | xoxa- xoxb- xoxe- xoxo- xoxp- xoxr- xoxs- xoxc- xoxd- xoxe.xoxb- xoxe.xoxp- | [A-Za-z0-9%-]{10,}
Slack token | xapp- | \d-[A-Za-z0-9-]{10,}
Slack webhook | hooks.slack.com/ | (?:services|workflows|triggers)/[A-Za-z0-9+/]{20,}
Teams webhook | webhook.office.com/webhookb2/ | [\w@/-]{80,}
Discord webhook | discord.com/api/webhooks/ discordapp.com/api/webhooks/ | \d{15,25}/[\w-]{50,}
Discord bot token | MD MT Mj Mz ND NT Nj Nz OD OT | [\w-]{22,26}+\.[\w-]{6}\.[\w-]{27,}
Stripe key | sk_live_ sk_test_ sk_prod_ rk_live_ rk_test_ rk_prod_ | [A-Za-z0-9]{16,}
Stripe webhook secret | whsec_ | [A-Za-z0-9+/]{24,}=*
ElevenLabs API key | sk_ | [0-9a-f]{48}(?!\w)
Twilio key | SK | [0-9a-f]{32}(?![A-Za-z0-9])
SendGrid API key | SG. | [\w-]{16,64}+\.[\w-]{16,}
Mailgun key | key- | (?=[a-z]{0,32}[0-9])(?=[0-9]{0,32}[a-z])[0-9a-z]{32}(?![A-Za-z0-9])
Brevo API key | xkeysib- xsmtpsib- | [0-9a-f]{64}-\w{16}
MailerSend token | mlsn. | [0-9a-f]{64}
Resend API key | re_ | [A-Za-z0-9]{8}_[A-Za-z0-9]{24}
npm token | npm_ | [A-Za-z0-9]{36}
PyPI token | pypi-AgE | [\w-]{40,}
RubyGems key | rubygems_ | [0-9a-f]{48}
crates.io token | cio | (?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}(?!\w)
NuGet key | oy2 | [a-z0-9]{43}(?!\w)
Clojars token | CLOJARS_ | [a-z0-9]{60}
Docker token | dckr_pat_ dckr_oat_ | [\w-]{20,}
DigitalOcean token | dop_v1_ doo_v1_ dor_v1_ | [0-9a-f]{64}
DigitalOcean Spaces key | DO00 DO80 | [A-Z0-9]{16}(?!\w)
Heroku API key | HRKU- | [\w-]{36,}
Cloudflare origin key | v1.0- | [0-9a-f]{24}-[0-9a-f]{100,}
Fly.io token | fo1_ fm1a_ fm1r_ fm2_ | [\w+/-]{40,}=*
Netlify token | nfp_ nfo_ nfc_ nfb_ nfu_ | [A-Za-z0-9]{36,}
Vercel token | vcp_ vci_ vca_ vcr_ vck_ vercel_blob_rw_ | [A-Za-z0-9_]{24,}
Supabase token | sbp_ | (?:v0_)?[0-9a-f]{40}
Supabase secret key | sb_secret_ | [\w-]{20,}
Neon API key | napi_ | [a-z0-9]{40,}
PlanetScale token | pscale_tkn_ pscale_pw_ pscale_oauth_ | [\w=.-]{32,}
MongoDB Atlas secret | mdb_sa_sk_ | [\w-]{30,}
CockroachDB key | CCDB1_ | \w{22,}
Confluent secret | cflt | [A-Za-z0-9+/]{58,}
Databricks token | dapi dose | [0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])
ClickHouse key | 4b1d | (?=[0-9a-z]{0,37}[A-Z])[A-Za-z0-9]{38}(?!\w)
New Relic key | NRAK- NRII- NRIQ- NRRA- | [\w-]{27,}
Sentry token | sntrys_ sntryu_ sntrya_ | [\w+/=]{32,}
Grafana token | glsa_ glc_ | [\w+/=]{32,}
Grafana API key | eyJrIjoi | [A-Za-z0-9+/]{50,}=*
Dynatrace token | dt0c01. dt0s01. dt0s16. | [A-Z0-9]{8,24}\.[A-Z0-9]{64}
PostHog key | phx_ phs_ | [A-Za-z0-9]{32,}
Honeycomb key | hcaik_ hcxik_ hcamk_ | [a-z0-9_]{32,}
Postman key | PMAK- | [0-9a-f]{24}-[0-9a-f]{34}
Linear API key | lin_api_ lin_oauth_ | [A-Za-z0-9]{32,}
Notion token | ntn_ secret_ | (?=[A-Za-z]{0,43}[0-9])[A-Za-z0-9]{40,}
Airtable token | pat | [A-Za-z0-9]{14}\.[0-9a-f]{64}
Asana token | 0/ 1/ 2/ | \d{16}(?:/\d{16})?:[0-9a-f]{32}
HubSpot token | pat-na pat-eu pat-ap | \d-[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
Figma token | figd_ figo_ figu_ | [\w-]{30,}
Frame.io token | fio-u- | [\w=-]{60,}
Contentful token | CFPAT- | [\w-]{40,}
Typeform token | tfp_ | [\w.=-]{40,}
ReadMe API key | rdme_ | [a-z0-9]{64,}
Beamer API key | b_ | (?=[a-z=_-]{0,43}\d)[a-z0-9=_-]{44}(?![\w=-])
Shopify token | shpat_ shpca_ shppa_ shpss_ | [0-9a-fA-F]{32}
Square token | sq0csp- sq0atp- sq0idp- | [\w\\-]{22,}
Square token | EAAA | [\w-]{60}(?![\w-])
Braintree token | access_token$production$ access_token$sandbox$ | [0-9a-z]{16}\$[0-9a-f]{32}
Plaid token | access-sandbox- access-development- access-production- | [0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}
Facebook token | EAAB EAAC EAAD EAAE EAAF EAAG EAAH EAAI EAAJ EAAM EAAL EAAN | [A-Za-z0-9]{90,}
Flutterwave key | FLWSECK- FLWSECK_TEST- | [0-9a-zA-Z]{12,}(?:-X)?
Lob API key | live_ test_ | [0-9a-f]{35}(?!\w)
EasyPost API key | EZAK EZTK | [A-Za-z0-9]{54}
Duffel token | duffel_test_ duffel_live_ | [\w=-]{40,}
Shippo token | shippo_live_ shippo_test_ | [0-9a-fA-F]{40}
Adobe secret | p8e- | [A-Za-z0-9_-]{32}
NVIDIA API key | nvapi- nvcf- | [\w-]{40,}
Pinecone API key | pcsk_ | [A-Za-z0-9_]{40,}
LangSmith API key | lsv2_pt_ lsv2_sk_ ls__ | [0-9a-f]{32}\w*
Hugging Face token | hf_ | [A-Za-z0-9]{30,}
Hugging Face token | api_org_ | [A-Za-z]{34}
Replicate token | r8_ | [A-Za-z0-9]{36,}
Groq API key | gsk_ | [A-Za-z0-9]{40,}
xAI API key | xai- | [A-Za-z0-9]{40,}
Perplexity API key | pplx- | [A-Za-z0-9]{40,}
Together API key | tgp_v1_ | [\w-]{40,}
Fireworks API key | fw_ | (?=[A-Za-z]{0,24}\d)[A-Za-z0-9]{22,}
Cerebras API key | csk- | [a-z0-9]{40,}
Voyage API key | pa- | (?=[A-Za-z_-]{0,42}\d)(?=[0-9a-z_-]{0,42}[A-Z])[\w-]{43}(?![\w-])
Jina API key | jina_ | [0-9a-f]{32}\w{20,}
Tavily API key | tvly- | (?:dev-|prod-)?[A-Za-z0-9-]{24,}
Firecrawl API key | fc- | [0-9a-f]{32}(?!\w)
E2B API key | e2b_ | [0-9a-f]{40}
Apify token | apify_api_ | [A-Za-z0-9]{30,}
Weights & Biases key | wandb_v1_ | \w{40,}
Tailscale key | tskey- | (?:[a-z]{3,10}-)?[A-Za-z0-9]{8,30}-[A-Za-z0-9]{16,}
Vault token | hvs. hvb. hvr. | [\w-]{24,}
Vault token | s. | (?=[A-Za-z]{0,23}\d)(?=[0-9a-z]{0,23}[A-Z])[A-Za-z0-9]{24}(?![\w.])
Pulumi token | pul- | [0-9a-f]{40}
Doppler token | dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit. | [\w.-]{32,}
1Password token | ops_eyJ | [A-Za-z0-9+/]{60,}=*
1Password secret key | A3- | [A-Z0-9]{6}-[A-Z0-9]{6}-?[A-Z0-9]{5}(?:-[A-Z0-9]{5}){3}
age secret key | AGE-SECRET-KEY-1 | [A-Z0-9]{50,}
Alibaba access key | LTAI | (?=[A-Za-z]{0,20}\d)[A-Za-z0-9]{12,20}(?![A-Za-z0-9])
Tencent secret id | AKID | (?=[A-Za-z]{0,40}\d)[A-Za-z0-9]{28,40}(?![A-Za-z0-9])
Yandex API key | AQVN | [\w-]{35,}
Yandex token | t1. | [\w-]{20,400}+={0,2}\.[\w-]{80,}={0,2}
Yandex key | YCAJ YCM YCO YCN YCP | [\w-]{20,}
Dropbox token | sl. sl.u. sl.B | [\w=-]{100,}
Octopus API key | API- | (?=[A-Z]{0,25}\d)[A-Z0-9]{26,}
Prefect API key | pnu_ pnb_ | [A-Za-z0-9]{36}
Sourcegraph token | sgp_ | (?:(?:[0-9a-f]{16}|local)_)?[0-9a-f]{40}
SonarQube token | squ_ sqp_ sqa_ | [0-9a-f]{40}
Buildkite token | bkua_ bkct_ | [0-9a-z]{32,}
CircleCI token | CCIPAT_ CCIPRJ_ | \w{22,}
Harness token | pat. sat. | [\w-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}
Scalingo token | tk-us- | [\w-]{48}
Infracost API key | ico- | (?=[A-Za-z]{0,31}\d)[A-Za-z0-9]{32}(?!\w)
OpenShift token | sha256~ | [\w-]{43}
Artifactory key | AKCp | [A-Za-z0-9]{60,}
Artifactory token | cmVmd | [A-Za-z0-9]{59}(?!\w)
Render API key | rnd_ | [A-Za-z0-9]{24,}
Deno token | ddp_ | [A-Za-z0-9]{32,}
Defined Networking token | dnkey- | [\w=-]{70,}
Intra42 secret | s-s4t2ud- s-s4t2af- | [0-9a-f]{64}
SettleMint token | sm_aat_ sm_pat_ sm_sat_ | [A-Za-z0-9]{16,}
private key | b3BlbnNzaC1rZXktdjE | [A-Za-z0-9+/]{20,}=*
private key | MII | [A-Za-z0-9+/]{3}IBA[A-D][A-Za-z0-9+/]{20,}=*
JSON web token | eyJ | [\w-]{8,400}+\.eyJ[\w-]{8,4000}+(?:\.[\w-]{1,4000}+){0,4}
"""
"""Kind, prefixes, and the pattern of the rest. A key starts at a word boundary."""
_MARKED = r"""
Terraform token | .atlasv1. | 14 | [A-Za-z0-9]+ | [\w=-]{50,}
Telegram bot token | :AA | 10 9 8 | \d+ | [\w-]{33}(?![\w-])
Mailchimp key | -us | 32 | [0-9a-f]+ | \d{1,2}
Azure client secret | Q~ | 4 | [\w~.]{3}\d | [\w~.-]{31,34}
Azure DevOps token | AZDO | 76 | [A-Za-z0-9]+ | [A-Za-z0-9]{4}
Azure storage key | +ASt +ABa ACDb | 76 | [A-Za-z0-9+/]+ | [A-Za-z0-9+/]{6}==
Azure function key | AzFu AzSe AzCa +ACR | 44 42 | [\w+/-]+ | [\w+/-]{5,6}={0,2}
Azure OpenAI key | JQQJ99 | 52 | [A-Za-z0-9]+ | [A-Za-z0-9]{20,26}
MaxMind key | _mmk | 36 | [A-Za-z0-9]{6}_[A-Za-z0-9]{29} | (?!\w)
"""
"""Kind, marks inside the key, lengths of the part before the mark, its pattern, and the pattern of the rest."""


class Form(NamedTuple):
    """The format of a key: an optional `head` of one of these `lengths`, a mark, and the rest."""

    kind: str
    mark: str
    rest: re.Pattern[str]
    head: re.Pattern[str]
    lengths: tuple[int, ...]


def _rows(table: str) -> Iterator[Form]:
    for row in table.strip().splitlines():
        kind, marks, *head, rest = row.split(" | ")
        lengths, before = head or ("0", "")
        rest_of_it, before_it = lazy(rest, re.ASCII), lazy(before, re.ASCII)
        for mark in marks.split():
            yield Form(kind, mark, rest_of_it, before_it, tuple(map(int, lengths.split())))


@cache
def marked() -> tuple[Form, ...]:
    """Keys with a mark inside."""
    return tuple(_rows(_MARKED))


@cache
def beginnings() -> tuple[re.Pattern[str], dict[str, list[Form]]]:
    """A pattern for the first letters of keys, and the forms by those letters, longest prefix first."""
    groups: dict[str, list[Form]] = {}
    for form in sorted(_rows(_KEYS), key=lambda form: len(form.mark)):
        letters = next((letters for letters in groups if form.mark.startswith(letters)), form.mark[:3])
        groups.setdefault(letters, []).insert(0, form)
    tree: dict[str, list[str]] = {}
    for letters in sorted(groups):
        tree.setdefault(letters[0], []).append(re.escape(letters[1:]))
    either = "|".join(f"{first}(?:{'|'.join(rest)})" for first, rest in tree.items())
    return re.compile(rf"\b(?:{either})", re.ASCII), groups


MIN_KEY = lazy(r"[\w.+/=~$:%@\\-]{16,}", re.ASCII)
"""A text without such a run contains no key."""
_GAP = r"[^\S\n]{0,40}"
_NEXT = rf"{_GAP}(?:\n{{1,2}}{_GAP})?"
"""White space before a value, perhaps on the next line."""
_QUOTE = "\"'`"
URL = lazy(rf"(?<=[A-Za-z0-9+.-])://[^\s/:@{_QUOTE}]{{0,256}}+:([^\s/{_QUOTE}]{{1,512}})@")
AWS = lazy(rf"\w{{0,30}}[\"']?{_GAP}[:=]{_GAP}[\"']?([A-Za-z0-9/+]{{40}})(?![A-Za-z0-9/+=])", re.ASCII)
TOKEN = lazy(rf"(?:bearer|basic)(?=\s){_NEXT}([A-Za-z0-9+/_.=~-]{{16,}})", re.IGNORECASE)
_BEFORE_KEY = "|".join(rf"(?<={word})|(?<={word}[_ -])" for word in ("api", "access", "auth", "private"))
_NAME = (
    r"(?:(?<![A-Za-z])(?:pass|pwd|pw)|pass(?:word|wd|phrase|code|wort)|kennwort|secret|token|"
    rf"(?:{_BEFORE_KEY})key|credentials?)"
)
NAMES = ("pass", "pwd", "pw", "kennwort", "secret", "token", "key", "credential")
_WHERE = (
    rf"(?:{_GAP}\([^()\n]{{1,40}}\)|\s{_GAP}(?:for|of|to|on|in|at|from|für|von|zu)(?:\s{_GAP}[\w.'/@-]{{1,40}}){{1,5}}?"
    rf"(?=\s{_GAP}(?:is|was|ist|war)\b|{_GAP}[:=]))?"
)
"""The purpose of a password, between its name and its value."""
ASSIGNED = lazy(
    rf"(?P<name>{_NAME}(?:[_.-][A-Za-z0-9]{{1,40}}+){{0,8}}+)[{_QUOTE}\]]{{0,4}}+{_WHERE}{_NEXT}"
    rf"(?P<sign>:=|=>|={{1,3}}|:|\b(?:is|was|ist|war)\b:?){_NEXT}(?P<quote>[{_QUOTE}]{{0,2}})",
    re.IGNORECASE,
)
"""Name, sign and opening quote before a value."""
VALUE = lazy(rf"[^\s{_QUOTE}]+")
PHRASE = lazy(
    rf"(?:PASS(?:WORD|WD|PHRASE)?|SECRET|TOKEN){_GAP}[:=]{_GAP}([\"'])"
    r"(?P<value>[a-z0-9]{3,30}+(?: [a-z0-9]{3,30}+){2,7}+)\1"
)
"""A constant of several words: a pass phrase, unless it matches `MESSAGE`."""
MESSAGE = lazy(
    r"\b(?:password|secret|token|must|should|your|enter|required|please|the|not|invalid|wrong|missing|too|and|for|with|are|has)\b"
)
CHARS_BEFORE_HINT = 200
"""Characters before a hint that `SpokenValue.before` is matched against."""


class SpokenValue(NamedTuple):
    """A value without `=` or `:` before it. `before` must match the line up to the hint."""

    kind: str
    hints: tuple[str, ...]
    before: re.Pattern[str] | None
    after: re.Pattern[str]


_WORD = rf"[^\s{_QUOTE}]"
SPOKEN = tuple(
    SpokenValue(kind, tuple(hints.split(",")), lazy(before, re.IGNORECASE) if before else None, lazy(after))
    for kind, hints, before, after in (
        (
            "password",
            " -u, --user, --proxy-user",
            r"[^\n]*\bcurl\b[^\n|;]*$",
            rf"\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]{{1,64}}+:(?P<value>{_WORD}{{4,}})",
        ),
        ("password", "sshpass", "", rf"sshpass\s{{1,4}}-p\s{{0,4}}[\"']?(?P<value>{_WORD}{{4,}})"),
        ("password", " -p", r"[^\n]*\b(?:mysql\w*|mariadb\S*)\b[^\n|;]*$", rf"\s-p(?P<value>{_WORD}{{4,}})"),
        ("password", " -p", r"[^\n]*\bdocker login\b[^\n|;]*$", rf"\s-p[ =]?(?P<value>{_WORD}{{4,}})"),
        ("password", "login", "", rf"login{_GAP}\s[^\s:]{{1,64}}+\s{_GAP}password\s{_GAP}(?P<value>{_WORD}{{4,}})"),
        ("password", "--pass", "", rf"--pass(?:word|wd|phrase)?\s{{1,4}}[\"']?(?P<strong>{_WORD}{{6,}})"),
        (
            "token",
            "--token,--secret,--api-key",
            "",
            rf"--(?:token|secret|api-key)\s{{1,4}}[\"']?(?P<strong>{_WORD}{{8,}})",
        ),
        (
            "password",
            " is the , is my , is our ",
            rf"(?:[^\n]*\s|(?<!\S))[{_QUOTE}]?(?P<strong>{_WORD}{{6,64}})[{_QUOTE}]?$",
            r" is (?:the|my|our) (?:[\w-]{1,20} ){0,2}pass(?:word|phrase|code)\b",
        ),
        (
            "password",
            " / ",
            r"[^\n]*\b(?:log ?in|sign in|user(?:name)?|credentials?)\b[^\n/]{1,40}$",
            rf" / (?P<mixed>{_WORD}{{6,}})",
        ),
        (
            "password or key",
            "token,key",
            r"[^\n]*\b(?:auth|api|access|secret|private)[ _-]$",
            r"(?i:token|key)\s{1,4}(?P<value>[0-9A-Fa-f]{32,}|(?=[A-Za-z_-]{0,60}\d)[\w-]{24,})(?!\S)",
        ),
    )
)
AUTH = lazy(r"\"_?auth\"\s{0,4}:\s{0,4}\"([A-Za-z0-9+/]{8,}+={0,2})\"")
