"""How secrets are written: keys by how they begin, passwords by what stands before them."""

import re

KEYS: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(starts.split()), re.compile(rf"(?<![A-Za-z0-9_]){pattern}"))
    for kind, starts, pattern in (
        ("Anthropic API key", "sk-ant-", r"sk-ant-[A-Za-z0-9_-]{16,}"),
        ("OpenAI API key", "sk-", r"sk-(?:proj|svcacct|admin|or-v1|None)-[A-Za-z0-9_-]{16,}"),
        (
            "OpenAI API key",
            "sk-",
            r"sk-(?=[A-Za-z]*[0-9])(?=[0-9a-z]*[A-Z]|[0-9A-Za-z]{32})[A-Za-z0-9]{20,}(?![A-Za-z0-9-])",
        ),
        ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9]{30,}"),
        ("GitHub token", "github_pat_", r"github_pat_[A-Za-z0-9_]{22,}"),
        ("GitLab token", "glpat-", r"glpat-[A-Za-z0-9_-]{20,}"),
        ("AWS access key", "AKIA ASIA ABIA ACCA", r"A[A-Z]{3}[A-Z0-9]{16}(?![A-Za-z0-9])"),
        ("Slack token", "xox", r"xox[abeoprs](?:\.xox[bp])?-[A-Za-z0-9-]{10,}"),
        ("Slack token", "xapp-", r"xapp-\d-[A-Za-z0-9-]{10,}"),
        ("Google API key", "AIza", r"AIza[A-Za-z0-9_-]{35}"),
        ("Google OAuth token", "ya29.", r"ya29\.[A-Za-z0-9_-]{20,}"),
        ("Hugging Face token", "hf_", r"hf_[A-Za-z0-9]{30,}"),
        ("npm token", "npm_", r"npm_[A-Za-z0-9]{36}"),
        ("Groq API key", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
        ("xAI API key", "xai-", r"xai-[A-Za-z0-9]{40,}"),
        ("Stripe key", "sk_live_ sk_test_ rk_live_ rk_test_", r"[sr]k_[a-z]{4}_[A-Za-z0-9]{16,}"),
        ("Stripe webhook secret", "whsec_", r"whsec_[A-Za-z0-9+/]{24,}=*"),
        ("Shopify token", "shpat_ shpca_ shppa_ shpss_", r"shp[a-z]{2}_[0-9a-fA-F]{32}"),
        ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", r"do[opr]_v1_[0-9a-f]{64}"),
        ("Vault token", "hvs. hvb. hvr.", r"hv[sbr]\.[A-Za-z0-9_-]{24,}"),
        ("Linear API key", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{32,}"),
        ("Notion token", "ntn_ secret_", r"(?:ntn|secret)_(?=[A-Za-z]*[0-9])[A-Za-z0-9]{40,}"),
        ("Perplexity API key", "pplx-", r"pplx-[A-Za-z0-9]{40,}"),
        ("Replicate token", "r8_", r"r8_[A-Za-z0-9]{36,}"),
        ("Databricks token", "dapi", r"dapi[0-9a-f]{32}(?:-\d)?(?![A-Za-z0-9])"),
        ("Atlassian token", "ATATT3 ATCTT3", r"AT[AC]TT3[A-Za-z0-9_=-]{30,}"),
        ("Google OAuth secret", "GOCSPX-", r"GOCSPX-[A-Za-z0-9_-]{20,}"),
        ("Mailgun key", "key-", r"key-(?=[a-z]*[0-9])(?=[0-9]*[a-z])[0-9a-z]{32}(?![A-Za-z0-9])"),
        ("Twilio key", "SK", r"SK[0-9a-f]{32}(?![A-Za-z0-9])"),
        ("Firebase key", "APA91b", r"APA91b[A-Za-z0-9_-]{100,}"),
        ("Docker token", "dckr_pat_", r"dckr_pat_[A-Za-z0-9_-]{20,}"),
        ("Grafana token", "glsa_ glc_", r"gl(?:sa|c)_[A-Za-z0-9+/=_]{32,}"),
        ("Sentry token", "sntrys_ sntryu_", r"sntry[su]_[A-Za-z0-9+/=_]{32,}"),
        ("Supabase token", "sbp_", r"sbp_[0-9a-f]{40}"),
        ("Figma token", "figd_", r"figd_[A-Za-z0-9_-]{30,}"),
        ("Postman key", "PMAK-", r"PMAK-[0-9a-f]{24}-[0-9a-f]{34}"),
        ("Doppler token", "dp.", r"dp\.(?:pt|st|ct|sa|scim|audit)\.[A-Za-z0-9._-]{32,}"),
        ("RubyGems key", "rubygems_", r"rubygems_[0-9a-f]{48}"),
        ("New Relic key", "NRAK-", r"NRAK-[A-Z0-9]{27}"),
        ("PlanetScale token", "pscale_", r"pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_=.-]{32,}"),
        ("Netlify token", "nfp_", r"nfp_[A-Za-z0-9]{36,}"),
        (
            "Discord webhook",
            "https://discord",
            r"https://discord(?:app)?\.com/api/webhooks/\d{15,}/[A-Za-z0-9_-]{50,}",
        ),
        ("PyPI token", "pypi-AgE", r"pypi-AgE[A-Za-z0-9_-]{40,}"),
        ("Azure storage key", "AccountKey=", r"AccountKey=[A-Za-z0-9+/]{40,}=*"),
        ("age secret key", "AGE-SECRET-KEY-1", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
        ("JSON web token", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]+)?"),
    )
)
"""What it is, how it begins, all of it. A pattern is tried only where a beginning stands."""
BLOCK = re.compile(
    r"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----.*?(?:-----END [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----|\Z)",
    re.DOTALL,
)
URL = re.compile(r"(?<=[A-Za-z0-9+.-])://[^\s/:@\"'`]*:([^\s/@\"'`]+)@")
AWS = re.compile(r"(?i)\baws\w{0,30}[\"']?\s*[:=]\s*[\"']?([A-Za-z0-9/+]{40})(?![A-Za-z0-9/+=])")
BEARER = re.compile(r"\b(?:bearer|basic)\s+([A-Za-z0-9+/_.=~-]{16,})", re.IGNORECASE)
_BEFORE_KEY = "|".join(rf"(?<={word})|(?<={word}[_ -])" for word in ("api", "access", "auth", "private"))
_NAME = (
    r"(?:(?<![A-Za-z])(?:pass|pwd|pw)|pass(?:word|wd|phrase|code|wort)|kennwort|secret|token|"
    rf"(?:{_BEFORE_KEY})key|credentials?)"
)
NAMES = ("pass", "pwd", "pw", "kennwort", "secret", "token", "key", "credential")
_WHERE = (
    r"(?:\s+\([^()\n]{1,40}\)|\s+(?:for|of|to|on|in|at|from|für|von|zu)(?:\s+[\w.'/@-]{1,40}){1,5}?"
    r"(?=\s+(?:is|was|ist|war)\b|\s*[:=]))?"
)
"""What a password is for may stand between its name and its value."""
ASSIGNED = re.compile(
    rf"(?P<name>{_NAME}(?:[_.-][A-Za-z0-9]+)*)[\"'`\]]*{_WHERE}\s*"
    r"(?P<sign>:=|=>|={1,3}|:|\b(?:is|was|ist|war)\b:?)\s*"
    r"(?P<quote>[\"'`]?)(?P<value>[^\s\"'`]{6,})(?P=quote)",
    re.IGNORECASE,
)
PHRASE = re.compile(
    r"(?:PASS(?:WORD|WD|PHRASE)?|SECRET|TOKEN)\s*[:=]\s*([\"'])(?P<value>[a-z0-9]{3,}(?: [a-z0-9]{3,}){2,7})\1"
)
"""A constant whose value is several words: a pass phrase, unless it speaks as messages do."""
MESSAGE = re.compile(
    r"\b(?:password|secret|token|must|should|your|enter|required|please|the|not|invalid|wrong|missing|too|and|for|with|are|has)\b"
)
SPOKEN: tuple[tuple[str, tuple[str, ...], re.Pattern[str]], ...] = tuple(
    (kind, tuple(hints.split()), re.compile(pattern))
    for kind, hints, pattern in (
        (
            "password",
            "curl",
            r"\bcurl\b[^\n|;]{0,200}?\s(?:-u|--user|--proxy-user)[ =]?[\"']?[^\s:\"'$]+:(?P<value>[^\s\"']{4,})",
        ),
        ("password", "sshpass", r"\bsshpass\s+-p\s*[\"']?(?P<value>[^\s\"']{4,})"),
        ("password", "mysql mariadb", r"\b(?:mysql\w*|mariadb\S*)\b[^\n|;]{0,200}?\s-p(?P<value>[^\s\"']{4,})"),
        ("password", "login", r"\blogin\s+[^\s:]+\s+password\s+(?P<value>[^\s\"']{4,})"),
        ("password", "docker", r"\bdocker login\b[^\n|;]{0,200}?\s-p[ =]?(?P<value>[^\s\"']{4,})"),
        ("password", "--pass", r"--pass(?:word|wd|phrase)?\s+[\"']?(?P<strong>[^\s\"']{6,})"),
        ("token", "--token --secret --api-key", r"--(?:token|secret|api-key)\s+[\"']?(?P<strong>[^\s\"']{8,})"),
        (
            "password",
            "pass",
            r"(?<!\S)[\"'`]?(?P<strong>[^\s\"'`]{6,64})[\"'`]? is (?:the|my|our) "
            r"(?:[\w-]{1,20} ){0,2}pass(?:word|phrase|code)\b",
        ),
        (
            "password",
            "log sign user credential",
            r"\b(?:[Ll]og ?in|[Ss]ign in|[Uu]ser(?:name)?|[Cc]redentials?)\b[^\n/]{1,40} / (?P<mixed>[^\s\"'`]{6,})",
        ),
        (
            "password or key",
            "token key",
            r"(?i)\b(?:auth|api|access|secret|private)[ _-](?:token|key)\s+"
            r"(?P<value>[0-9a-f]{32,}|(?=\S*\d)(?=\S*[A-Z])[\w-]{24,})(?!\S)",
        ),
    )
)
"""Said without a sign between name and value. A hint, in lower case, says which lines are looked at."""
AUTH = re.compile(r"\"_?auth\"\s*:\s*\"([A-Za-z0-9+/]{8,}={0,2})\"")
