"""Standing instructions: found in what users really write, and nothing else taken for one."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from outlive.instructions import instructs, is_standing, standing
from tests.instruction_sentences import OTHERS, RULES

TABLE: list[dict[str, Any]] = json.loads((Path(__file__).parent / "context/standing_sentences.json").read_text())
"""Messages, and which of their sentences are standing instructions. Written before the rules, not changed to fit."""
STANDING = [
    "Never push to main.",
    "never make a release without me",
    "Always run the tests before you say you are done.",
    "Always use British spelling in user-facing text.",
    "Please always answer in German.",
    "From now on, use tabs for indentation.",
    "from now on keep your answers short",
    "Use pnpm from now on.",
    "Going forward, write the changelog entry first.",
    "In future, ask before you install anything.",
    "In the future please show the diff before applying it.",
    "Don't ever force-push.",
    "Do not ever touch the production database.",
    "Don't commit without asking me first.",
    "Do not use emojis in commit messages.",
    "Don't add new dependencies.",
    "Do not edit files under vendor/.",
    "Don't mock anything in integration tests.",
    "Don't push to main.",
    "Don't use any in TypeScript.",
    "Do not touch the generated files.",
    "Prefer composition over inheritance.",
    "Prefer small functions to long ones.",
    "I prefer tabs over spaces.",
    "I prefer short answers to long explanations.",
    "Use uv instead of pip.",
    "Use conventional commits.",
    "Use single quotes, not double quotes.",
    "Run the linter after every change.",
    "Run make check before every commit.",
    "Before each commit, run the formatter.",
    "Run the full suite before pushing.",
    "Write a test for every bug fix.",
    "Add a docstring to every function you write.",
    "Whenever you change the schema, add a migration.",
    "Every time you finish a task, update TODO.md.",
    "When writing tests, use factories instead of fixtures.",
    "When you commit, sign the commit.",
    "Make sure to always run the linter.",
    "Make sure you never log secrets.",
    "Remember to update the docs with every change.",
    "You must never delete user data.",
    "You should always explain your reasoning.",
    "You must not push to main.",
    "You may not install packages without my permission.",
    "You must run the tests before every commit.",
    "All new code must have tests.",
    "Every public function needs a docstring.",
    "Every commit must build.",
    "Commit messages must be in English.",
    "All commits must be signed.",
    "No new dependencies without asking.",
    "No emojis, please.",
    "No force pushes.",
    "Ask me before deleting anything.",
    "Check with me before running migrations.",
    "Only use the standard library unless I say otherwise.",
    "Only edit files under src/.",
    "Avoid abbreviations in names.",
    "Avoid global state.",
    "Stick to ASCII in source files.",
    "I want you to always cite the file and line.",
    "I never want to see commented-out code.",
    "I don't want any new dependencies.",
    "We never commit to main directly.",
    "In this repo we always use conventional commits.",
    "Let's always squash before merging.",
    "Under no circumstances run terraform apply.",
    "At all times keep the build green.",
    "Keep the changelog up to date at all times.",
    "Never ever skip the hooks!",
    "And never guess: read the source.",
    "Fix the parser, and never touch vendor/.",
    "Looks good, but don't ever commit secrets.",
    "IMPORTANT: NEVER run `rm -rf`.",
    "Note: always quote shell variables.",
    "Rule 1: never leave a test failing.",
    "Thanks! Always do it like that from now on.",
    "Ok. Never rebase shared branches.",
    "As a rule, write the test before the code.",
    "Do not refactor unrelated code.",
    "Reply in French for the rest of this session.",
    "Don't start servers unless I ask you to.",
    "Tests must never depend on the network.",
    "Variable names should never be abbreviated.",
    "- Never push directly to main",
    "1. Always run tests before committing",
    "* Don't use console.log in production code",
    "- [ ] Always add type annotations",
    "2) Never store secrets in the repo",
    "Remember: always use the staging database.",
    "Always prefer editing existing files to creating new ones.",
    "Please never add comments that just restate the code.",
    "Never use `any`.",
    "From now on answer me in Spanish.",
    "Whenever you add a feature, also add a test.",
    "Always ask before running destructive commands.",
    "You must always check the return value.",
    "Do not commit directly to main or master.",
    "Don't ever use sudo.",
    "Never commit .env files.",
    "Do not generate documentation files unless I explicitly ask.",
    "Please don't create new markdown files unless asked.",
    "Prefer async/await over callbacks.",
    "I'd prefer you always show me a plan before you change code.",
    "For every PR, include a test plan.",
    "After each change, run `npm test`.",
    "Before committing, run the formatter and the linter.",
    "Use TypeScript for all new files.",
    "All functions must have type hints.",
    "Every change needs a changelog entry.",
    "Each commit should be atomic.",
    "Any new endpoint must be authenticated.",
    "Never, ever rewrite git history.",
    "Always use absolute imports; never use relative ones.",
    "Don't apologize.",
    "Keep your responses under 200 words from now on.",
    "In this project, always use yarn.",
    "We always squash-merge PRs.",
    "Going forward please use the new logger.",
    "Never ask me for confirmation when running tests.",
    "You should never touch files outside of src/.",
    "Only commit when I tell you to.",
    "Never commit unless I ask.",
    "Stop using emojis.",
    "I want every commit message to start with the ticket number.",
    "Comments must be in English.",
    "Each time you edit a migration, regenerate the schema.",
    "Don't use default exports.",
    "Always write commit messages in the imperative mood.",
    "No TODO comments.",
    "Do not introduce new dependencies without approval.",
    "never auto-format files you didn't touch",
    "When in doubt, ask.",
    "By the way, always use 4 spaces.",
    "Don't run the whole test suite every time.",
    "Always keep the README in sync with the CLI.",
    "Never bypass the pre-commit hooks.",
    "From here on out, every answer should fit on one screen.",
    "Please make sure that you always run `cargo fmt`.",
    "Do not, under any circumstances, drop a table.",
    "Don't write to /etc.",
    "Treat warnings as errors at all times.",
    "Going forward, no more than one change per commit.",
    "Whenever we rename something, leave an alias behind.",
    "You have to update the tests with every change.",
    "Always tell me which files you changed.",
    "I always want a summary at the end.",
    "I expect a test for every bug fix.",
    "Never trust user input.",
    "Code must be formatted with black.",
    "Branch names must start with the ticket id.",
    "Tests should never sleep.",
    "All user-facing strings must be translatable.",
    "If unsure, ask me instead of guessing.",
    "Use spaces rather than tabs.",
    "Use ripgrep instead of grep.",
    "Don't use abbreviations.",
    "Do not leave commented-out code behind.",
    "Don't touch anything under third_party/.",
    "Do not modify existing migrations.",
    "Don't summarize what you did at the end of each answer.",
    "Only ever use parameterised queries.",
    "Never hardcode URLs.",
    "Ask before adding dependencies.",
    "Never delete tests to make the build pass.",
    "For all future commits, add a Signed-off-by line.",
    "Avoid one-letter variable names.",
    "Every time you touch the API, bump the version.",
    "Rebase onto main before every push, please.",
    "Never leave print statements in the code you hand over.",
    "From now on, put new endpoints under /api/v2.",
    "Don't reformat files you aren't otherwise changing unless I ask.",
    "Every new migration must come with a rollback.",
    "Always pin versions in requirements.txt.",
    "I'd like you to always run mypy before you commit.",
    "Whenever you change a public function, update the docs as well.",
    "Ask me before you run anything that costs money.",
    "Customer data must never leave this machine.",
    "No wildcard imports, ever.",
    "Do not send telemetry anywhere without my approval.",
    "Please keep commits small and focused.",
    "Stop adding comments to obvious code.",
    "Prefer pathlib over os.path.",
    "We never squash commits in this repo.",
    "Use feature branches for all work, never commit straight to develop.",
    "After every refactoring, run the benchmarks.",
    "You are not allowed to modify anything in infra/.",
    "Going forward, reply in one paragraph at most.",
    "Only use open source libraries.",
    "All log messages must be in lower case.",
]
NOT_STANDING = [
    "Don't worry about it.",
    "don't bother with the tests for now",
    "I never got the mail.",
    "It never worked before.",
    "Only 3 tests fail.",
    "Only the last one is broken.",
    "Never mind.",
    "never mind, I found it",
    "Should I always use tabs?",
    "Is it always this slow?",
    "Why do we never close the file?",
    "Do you always run the tests?",
    "Could you fix the parser?",
    "Please only change this line now.",
    "Only change this function.",
    "Don't change that line.",
    "Don't touch it yet.",
    "Don't use it here.",
    "Don't do that.",
    "Do not remove the button.",
    "Don't add the field to the header.",
    "Don't commit yet.",
    "Don't commit this.",
    "The docs say you should never call it twice.",
    "The README says: always run make first.",
    '"Never push to main" is what the hook prints.',
    "He told me to always use tabs.",
    "My colleague thinks we should always use tabs.",
    "The error says: do not use this function.",
    "Error: never called",
    "The worker never returns when the queue is empty.",
    "The function always returns None.",
    "The cache must be invalidated when a row changes.",
    "The middleware must run on every request.",
    "The server should never return 500.",
    "This must be a race condition.",
    "You must be joking.",
    "It must have been the cache.",
    "Tests should pass now.",
    "The tests must pass.",
    "Make sure the tests pass.",
    "Make sure it compiles.",
    "Make sure there are no leftovers.",
    "Remember to close the file.",
    "Don't forget to update the changelog.",
    "Whenever I run it, it crashes.",
    "It fails every time I save.",
    "Every time I click the button the page reloads.",
    "In the future we might add caching.",
    "In the future this could be a plugin.",
    "From now on I will do the releases myself.",
    "I always thought it was cached.",
    "I always forget how this works.",
    "I never use Windows.",
    "I prefer the second option.",
    "I prefer this version.",
    "I don't know.",
    "I don't want this to break.",
    "I don't think that is right.",
    "We always had trouble with that.",
    "We never found out why.",
    "Use a set instead of a list there.",
    "Use the new client in the handler.",
    "Use blue for the header.",
    "Run the tests.",
    "Run the tests again.",
    "Add tests for the parser.",
    "Add docstrings to all functions in utils.py.",
    "Fix all lint errors.",
    "Update every test in tests/api.",
    "Add retries to all requests.",
    "Keep going.",
    "Keep the old name.",
    "No problem.",
    "No tests failed.",
    "No idea why.",
    "No errors so far.",
    "No dependencies were changed.",
    "Avoid the deprecated call in line 12.",
    "Always a pleasure.",
    "Always the same error.",
    "Never seen this before.",
    "Never a dull moment.",
    "Not always, but often.",
    "As always, great work.",
    "It is almost always the DNS.",
    "This time, don't use mocks.",
    "For now, only use the first column.",
    "Just this once, skip the hooks.",
    "When you are done, tell me.",
    "When the user clicks save, always show a toast.",
    "If the file is missing, the loader never fails.",
    "Then commit and push.",
    "Ask Anna before Friday.",
    "Stick to the plan above.",
    "Prefer the second variant.",
    "Rename it to never_retry.",
    "The flag is called always_on.",
    "Set the policy to `Always`.",
    "You never know.",
    "You always break the build!",
    "Add an option that makes it never retry by default.",
    "Write a function that always returns the newest entry.",
    "I don't have access to the server.",
    "Don't you think we should refactor this?",
    "We don't use that anymore.",
    "The build never finishes on CI.",
    "Why does it always fail on the second run?",
    "That never happens to me.",
    "I'll never understand this code.",
    "Please fix this bug and run the tests.",
    "Can you make it always sort by date?",
    "Make it always sort by date.",
    "The button should always be visible.",
    "Users must never see a stack trace.",
    "The API must always return JSON.",
    "Add validation so that the age is never negative.",
    "It should only be called once.",
    "Only the admin can delete users.",
    "Do not show the modal if the user is logged in.",
    "Don't render the list when it's empty.",
    "Don't include the header in the first page.",
    "never mind that last message",
    "Prefer not to talk about it.",
    "Avoid the crash by checking for null.",
    "Use the existing helper.",
    "Use a dict here instead of a class.",
    "Use pytest to run it.",
    "Please use the second approach.",
    "Always fails with a timeout.",
    "Never happened again.",
    "always null for me",
    "Don't delete the branch yet, I still need it.",
    "Do not merge until I have reviewed it.",
    "Leave the tests alone for now.",
    "Don't change anything else.",
    "I never said that.",
    "You never ran the tests, did you?",
    "I always get confused by these names.",
    "It must be possible to cancel a job.",
    "Every request must be logged.",
    "All tests must pass before we can merge this.",
    "All tests pass.",
    "Every test fails with the same error.",
    "Each row has an id.",
    "No new errors in the log.",
    "No, don't do that.",
    "No comments on that PR so far.",
    "Whenever the cache is full, evict the oldest entry.",
    "When the token expires, always redirect to login.",
    "In the future, the user can pick a theme.",
    "Write docs for the new flag.",
    'The linter says "Do not use any".',
    "As a user I want to always see my balance.",
    "Create a rule that never matches.",
    "Does the formatter always run before commit?",
    "Let's not do that now.",
    "Let's skip the tests for this one.",
    "I would prefer the first one to the second.",
    "We should probably always close the connection.",
    "The function must not block.",
    "Don't block the event loop in the handler.",
    "Only run the failing test.",
    "Ask the database for the newest row before returning.",
    "Don't panic, it is only a warning.",
    "I don't always read the logs.",
    "It does not always work.",
    "You don't need to run them all.",
    "You don't have to fix everything.",
    "We never use that table, so drop it.",
    "Add a never type to the parser.",
    "Rename always_run to run_always.",
    "Only Alice knows why.",
    "Only when I restart it.",
    "The job only runs on Mondays.",
    "From now on it is much faster.",
    "From now on the page loads in 2 seconds.",
    "In future releases this flag goes away.",
    "The retry must happen before every request.",
    "A commit must contain at least one file, says git.",
    "Users should never have to wait.",
    "Make sure that no user ever sees this.",
    "Make sure to add a test.",
    "Make sure you run the tests.",
    "You must use the new endpoint in this handler.",
    "You should use a set.",
    "You should see a green light.",
    "Do not use the cache in this test.",
    "Do not wait for the response.",
    "Don't start the server, it is already running.",
    "Don't use the old client in handlers.py.",
    "Remove the code that never runs.",
    "Explain why it always returns zero.",
    "Tell me if it ever fails.",
    "I want it to always be sorted.",
    "I want the list to never be empty.",
    "I need this by tomorrow.",
    "I prefer dark mode.",
    "I'd prefer to do it tomorrow.",
    "Prefer it if possible.",
    "Could you never do that again?",
    "What happens if I never call close()?",
    "Every commit on this branch is broken.",
    "Each test must be renamed to snake_case.",
    "Check every file in src for tabs.",
    "No code was changed.",
    "No mocks are used in the suite.",
    "No push today.",
    "Ask him before you merge it.",
    'Commit this with the message "never retry".',
    "It worked every single time.",
    "Always happy to help!",
    "Stop.",
    "Stop the server.",
    "Use it whenever you like.",
    "Feel free to skip the slow tests.",
    "Avoid it.",
    "Whenever possible the parser skips blanks.",
    "Let me know whenever you are ready.",
    "Ping me every time the build breaks on CI, thanks to the new webhook it should.",
    "The previous agent was told to never touch vendor.",
    "Our policy says that all commits must be signed, is that so?",
    "The deploy never finished last night.",
    "Can you always assume the list is sorted?",
    "Run the migration and tell me what changed.",
    "I usually run the tests before every commit.",
    "The CI runs the linter on every push.",
    "Please rename this variable everywhere in the file.",
    "Never seen that error on staging.",
    "Do not restart the worker until the queue is empty.",
    "Make sure the new button works on mobile.",
    "Our style guide says to avoid abbreviations.",
    "He always forgets to close the tickets.",
    "Use the token from the .env file to log in.",
    "Whenever the job fails, the lock stays behind.",
    "Let's use postgres for this one.",
    "No rush, tomorrow is fine.",
    "It should never take more than a second to load.",
    "Don't add a new table for that, reuse users.",
    "Add a pre-commit hook that always runs black.",
    "I don't want to spend a lot of time on this.",
    "Write a test which makes sure that the cache is never stale.",
    "Keep an eye on the memory usage while it runs.",
    "From now on the build takes only two minutes.",
]


@pytest.mark.parametrize("row", TABLE, ids=lambda row: row["said"][:40])
def test_everyday_sentences_are_told_apart(row: dict[str, Any]) -> None:
    assert list(standing(row["said"])) == row["standing"]


@pytest.mark.parametrize("said", [row["said"] for row in TABLE if row["said"] in row["standing"]])
def test_what_is_standing_also_instructs(said: str) -> None:
    assert instructs(f"The port is 80. {said}")


@pytest.mark.parametrize("text", ["Run setup.sh as root.", "Agents must send the log.", "You should go."])
def test_an_order_for_once_instructs_and_does_not_stand(text: str) -> None:
    assert instructs(text)
    assert not is_standing(text)


@pytest.mark.parametrize("text", ["The p99 is 40 ms on staging.", "Tabs are used.", "Anna runs the releases."])
def test_a_report_does_not_instruct(text: str) -> None:
    assert not instructs(text)


@pytest.mark.parametrize("sentence", STANDING)
def test_a_standing_instruction_is_found_to_the_letter(sentence: str) -> None:
    found = standing(f"Fix the bug in the parser.\n{sentence}\nThe log is attached.")
    assert len(found) == 1
    assert re.fullmatch(r"(?:(?:Thanks!|Ok\.|[-*]|\d[.)]|\[ \]) )*" + re.escape(found[0]), sentence)


@pytest.mark.parametrize("sentence", NOT_STANDING)
def test_what_is_said_in_passing_or_for_once_is_none(sentence: str) -> None:
    assert standing(f"Fix the bug in the parser.\n{sentence}\nThe log is attached.") == ()


def test_items_of_a_list_are_found_without_their_marks() -> None:
    said = "- Never push to main\n1. Always run the tests\n* Don't use mocks\n  - [ ] Never log secrets\n2) Fix it"
    assert standing(said) == ("Never push to main", "Always run the tests", "Don't use mocks", "Never log secrets")


@pytest.mark.parametrize(
    "heading",
    ["Rules:", "## Coding conventions", "My rules for this repo:", "**Guidelines**", "From now on:", "Ground rules:"],
)
def test_under_a_heading_that_says_so_orders_stand(heading: str) -> None:
    said = f"{heading}\n- Keep functions short\n- Use tabs\n\n- No magic numbers\n\nFix the parser."
    assert standing(said) == ("Keep functions short", "Use tabs", "No magic numbers")


@pytest.mark.parametrize("heading", ["Steps:", "## Plan", "Game rules:", "The rules of chess:", "What I saw:"])
def test_under_any_other_heading_they_are_steps(heading: str) -> None:
    assert standing(f"{heading}\n- Keep the board square\n- Use the new client\n- Run the tests") == ()


def test_a_sentence_is_quoted_whole() -> None:
    assert standing("Always use tabs, e.g. in Makefiles, i.e. everywhere. Thanks.") == (
        "Always use tabs, e.g. in Makefiles, i.e. everywhere.",
    )
    wrapped = "Never push to main\nwithout asking me."
    assert standing(f"Fix it.\n- {wrapped}\nUse tabs\nin this file, and be quick.") == (wrapped,)
    assert standing("never push to main\nfix the tests") == ("never push to main",)
    assert standing("See v1.2.3. Never edit a.b.c/d.py by hand! (Really.)") == ("Never edit a.b.c/d.py by hand!",)


@pytest.mark.parametrize(
    "said",
    [
        "> Never push to main.",
        "<doc>\nNever push to main.\n</doc>",
        "```\nNever push to main.\n```",
        "    Never push to main.",
        "| Never push to main. |",
        "src/a.py:12: Never push to main.",
        "warning: never use this",
        "Never push to main. " * 300,
        "# A\n# B\n# C\n" + "Some text of a plan that was pasted. " * 40 + "\nNever push to main.",
    ],
)
def test_what_was_quoted_or_pasted_is_not_told_by_the_user(said: str) -> None:
    assert standing(said) == ()


@pytest.mark.parametrize(
    "said",
    [
        "Bitte benutze ab jetzt immer Tabs.",
        "Ne poussez jamais sur main.",
        "常に日本語で答えてください。",
        "从现在开始只用制表符。",
        "Никогда не делай push в main.",
        "لا تدفع إلى الفرع الرئيسي أبدا.",
        "Nunca hagas push a main, por favor…",
        "\u202e\u0000🙂 never",
    ],
)
def test_in_other_languages_nothing_is_found_and_nothing_beside_them_is_lost(said: str) -> None:
    assert standing(said) == ()
    assert standing(f"{said}\nNever push to main.") == ("Never push to main.",)
    assert standing(f"Never push to main. {said}") == ("Never push to main.",)


OWN, NOT_OWN = ("", "- ", "2) ", "* [ ] ", "Ok. "), ("> ", "    ", "$ ", "a.py:3: ")
NOISE = (
    "",
    "Fix the parser.",
    "Does it work?",
    "Никогда не делай push в main.",
    "1. Look at it",
    "```\nNever log it.\n```",
)


@given(
    st.lists(
        st.tuples(st.sampled_from(OWN + NOT_OWN), st.sampled_from([s for s in STANDING if s[0].isupper()]))
        | st.tuples(st.just("noise"), st.sampled_from(NOISE)),
        max_size=12,
    )
)
def test_of_any_text_the_users_own_instructions_are_found_once_each_and_in_order(
    lines: list[tuple[str, str]],
) -> None:
    said = "\n".join(words if mark == "noise" else mark + words for mark, words in lines)
    own = [words.removeprefix("Thanks! ").removeprefix("Ok. ") for mark, words in lines if mark in OWN]
    assert standing(said) == tuple(dict.fromkeys(own))


def test_a_sentence_that_goes_on_in_the_next_line_is_quoted_whole() -> None:
    said = "Some rules.\n- never push\n  to main\nalways run the linter\nbefore each commit"
    assert standing(said) == ("never push\n  to main", "always run the linter\nbefore each commit")


def test_a_long_word_among_many_is_read_in_linear_time() -> None:
    assert not instructs("no " + "a" * 250 + " b" * 20)


def test_of_sentences_that_no_rule_was_fitted_to_most_rules_are_found_and_nothing_else() -> None:
    found = [sentence for sentence in RULES if is_standing(sentence)]
    assert len(found) >= 38, set(RULES).difference(found)
    assert [sentence for sentence in OTHERS if is_standing(sentence)] == []


@pytest.mark.parametrize(
    ("rule", "once"),
    [
        ("Customer names must never be printed.", "The customer must never have been asked."),
        ("Employees should not share badges.", "The results should not surprise us."),
        ("vendor/ is off limits.", "Access is forbidden when I open the page."),
        ("Nobody may push to main.", "Nobody may have noticed."),
        ("Only the notary may sign.", "Only he may know."),
        ("Leave vendor/ alone.", "Leave me alone."),
        ("Keep customer data on this machine.", "Keep the header in the left column."),
        ("When a seal is broken, stop and call me.", "When a user logs in, the page reloads."),
        ("Once a contract is signed, lock the file.", "Once all items are logged, delete the file."),
        ("Do not commit before Ilse Varga has seen the list", "Do not restart the worker before the queue is empty."),
        ("Never plant mint.", "Never tested it."),
        ("Name every owner in the report.", "Update every caller of parse."),
        ("Do not send reports to the bucket any more.", "The reports are not sent to the bucket any more."),
        ("Please don't upload reports anymore!", "Don't worry about the reports anymore."),
        ("Nothing may be uploaded.", "Nothing may be wrong with the upload."),
        ("Uploads are off limits from now on.", "Uploads were off limits for a while."),
    ],
)
def test_a_rule_is_told_from_a_remark_by_its_structure(rule: str, once: str) -> None:
    assert is_standing(rule)
    assert not is_standing(once)
