"""When two texts say the same: in another order only where the order cannot matter."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from outlive.memory.consolidate import consolidate
from outlive.memory.errors import MemoryExists
from outlive.memory.extract import Candidate, against
from outlive.memory.memories import Memories
from outlive.memory.order import read
from outlive.memory.sides import turned_round
from outlive.memory.similar import same, says_all_of, spelling

SAME = [
    ("We use tabs in Makefiles.", "In Makefiles we use tabs."),
    ("Use tabs in Makefiles.", "In Makefiles, use tabs."),
    ("I want tabs in Makefiles and shell scripts.", "I want tabs in Makefiles and shell script."),
    ("In Makefiles and shell scripts use tabs.", "Use tabs in Makefiles and shell scripts."),
    ("Use pnpm, not npm", "Use pnpm rather than npm"),
    ("Use pnpm and not npm", "Use pnpm instead of npm."),
    ("Instead of npm, use pnpm.", "Use pnpm instead of npm."),
    ("Don't deploy on Fridays.", "On Fridays do not deploy."),
    ("Never deploy on Fridays.", "On Fridays, never deploy."),
    ("We can't use npm in CI.", "In CI we cannot use npm."),
    ("We won't use npm at work.", "We will not use npm at work."),
    ("The user wants tabs in scripts.", "I want tabs in scripts."),
    ("We use yarn here.", "Use yarn here"),
    ("The port is 8443 in staging.", "- the port is 8443  in staging!"),
    ("> The port is 8443 in staging", "## The port is 8443 in staging."),
    ("Put the guides in the docs folder.", "Please put guides in the docs folder"),
    ("We use tabs (always) in scripts", "We use tabs, always, in scripts."),
    ("The tests are very slow in CI", "The tests are slow in CI"),
    ("The flag is called “fast lane”.", 'The flag is called "fast lane"'),
]
OTHER = [
    ("Use pnpm not npm", "Use npm not pnpm"),
    ("Use pnpm, not npm", "Use npm rather than pnpm"),
    ("Service alpha blocks beta", "Service beta blocks alpha"),
    ("Prefer tabs over spaces in scripts", "Prefer spaces over tabs in scripts"),
    ("Prefer tabs to spaces here", "Prefer spaces to tabs here"),
    ("Move data from staging to prod", "Move data from prod to staging"),
    ("Merge main before feature in CI", "Merge feature before main in CI"),
    ("Merge main into feature on Fridays", "Merge feature into main on Fridays"),
    ("The tests for docs are slow", "The docs for tests are slow"),
    ("Use tabs in Makefiles, not in scripts", "Use tabs in scripts, not in Makefiles"),
    ("Only use tabs in Makefiles", "In Makefiles only use tabs"),
    ("Some jobs run in every region", "In every region some jobs run"),
    ("We ship if tests pass in CI", "In CI we ship if tests pass"),
    ("Use spaces and tabs in Makefiles", "In Makefiles use spaces and tabs"),
    ("It is tested not deployed on Fridays", "On Fridays it is tested not deployed"),
    ("Run tests before merging in CI", "In CI run tests before merging"),
    ("Deploy on Fridays is fine", "Deploy on Fridays is not fine"),
    ("Do not use tabs in Makefiles", "Use tabs in Makefiles"),
    ("Use port 80 in staging", "In staging use port 8080"),
    ("The code is in C here", "The code is in C++ here"),
    ("Use https for the API", "Use http for the API"),
    ("Ask Williams for the keys", "Ask William for the keys"),
    ("Call `npm run tests` in CI", "Call `npm run test` in CI"),
    ("Run make tests before pushing", "Run make test before pushing"),
    ("Use not only tabs at work", "Use instead of only tabs at work"),
    ("Put guides in docs for users", "Put guides in doc for users"),
    ("Clone from the mirrors at night", "Clone from the mirror at night"),
    ("The folder is called tests", "The folder is called test"),
    ("The port is 80 there", "The port was 80 there"),
    ("We deployed on Fridays", "We deploy on Fridays"),
    ("Read the news on Mondays", "Read the new on Mondays"),
    ("2 of 3 approvals are needed for a merge", "2 to 3 approvals are needed for a merge"),
    ("Send the invoices for Anna to Ben", "Send the invoices to Anna for Ben"),
    ("Treat all warnings as errors", "Treat all warnings and errors"),
    ("Clean up with `git branch -D old`", "Clean up with `git branch -d old`"),
    ("Run `just test` before a release", "Run `test` before a release"),
    ("The cleanup job deletes `build*` nightly", "The cleanup job deletes `build` nightly"),
    ("Is the payment API stable?", "The payment API is stable."),
    ("The users table has a soft delete column", "The table has a soft delete column"),
    ("The `users` table has a soft delete column", "The `user` table has a soft delete column"),
    ("Option A was chosen by the board", "The option was chosen by the board"),
    ("Run `ssh -v host`", "Run `ssh -V host`"),
    ("Tarballs are made with `tar -c`", "Tarballs are made with `tar -C`"),
    ("The deploy user is `Admin`", "The deploy user is `admin`"),
    ("Set PATH in the build config", "Set path in the build config"),
    ("Backups go to S3 and Glacier", "Backups go in S3 as Glacier"),
    ("Run tests in Docker for Windows", "For Windows, run tests in Docker"),
    ("`.gitignore` contains `!dist/keep`", "`.gitignore` contains `dist/keep`"),
    ("The entry point is `__main__`", "The entry point is `main`"),
    ("Call `_reset` after each test", "Call `reset` after each test"),
    ("Anna works with Ben at Acme", "Anna works for Ben at Acme"),
    ("I work for Google on Chrome", "I work with Google on Chrome"),
    ("Log in with root on prod", "Log in as root on prod"),
    ("The quota is 5 in 10 minutes per key", "The quota is 5 to 10 minutes per key"),
    ("Tickets 3-5 are for Anna", "Tickets 3-5 are with Anna"),
    ("Meeting is at 5 for 10 people", "Meeting is for 5 at 10 people"),
    ("Restart the worker after deploy", "Restart the workers after deploy"),
    ("Copy staging data to production", "Copy staging data in production"),
    ("This project uses Poetry builds", "That project uses Poetry builds"),
    ("Never commit. On Fridays deploy early", "Never commit on Fridays. Deploy early"),
    ("No, use the staging database", "No use the staging database"),
    ("Use it as is in production builds", "Use it in production builds"),
    ("Our customers pay in USD", "My customers pay in USD"),
    ("The API returns a list of users in admin groups", "The API returns a list of admin groups"),
    ("Tests with mocks run in CI", "In CI run tests with mocks"),
    ("Review for Anna on Monday with Ben", "Review with Anna on Monday for Ben"),
    ("x² is the scale of chart axes", "x2 is the scale of chart axes"),
    ("Turn on debug logging in staging", "Turn debug logging in staging"),
    ("Glob for sources is `src/**`", "Glob for sources is `src/*`"),
    ("The regex is `^a?b`", "The regex is `^a?b?`"),
    ("Mail goes to ops@x.de", "Mail goes to OPS@x.de"),
    ("Build output lives in `Dist`", "Build output lives in `dist`"),
    ("Anna asked me to review parser changes", "I asked Anna to review parser changes"),
    ("Anna asked me to review parser changes", "Anna asked to review parser changes"),
    ("Let me merge releases", "Let users merge releases"),
    ("We should be on call Mondays and Fridays", "We should be on call Mondays to Fridays"),
    ("Open Monday to Friday at the lab", "Open Monday and Friday at the lab"),
    ("Use git rebase -D here", "Use git rebase -d here"),
    ("Do not just deploy on Fridays", "Do not deploy on Fridays"),
    ("Use a branch for releases", "Use the branch for releases"),
    ("Do not deploy, on Fridays test", "Do not deploy on Fridays, test"),
    ("Call cd .. before the build", "Call cd . before the build"),
    ("Call `a`, `b` here", "Call `a` `b` here"),
    ("Run just test before pushing", "Run test before pushing"),
    ("Read manuals on Windows drivers at home", "On Windows drivers read manuals at home"),
    ("The nightly job caches the branch", "The nightly job caches the branches"),
    ("Take option a for the parser", "Take option for the parser"),
    ("The import path is src/*", "The import path is src/**"),
]
NOT_ALL = [
    ("The web is old. The API is new. It is slow now.", "The web is old. It is slow now."),
    ("The web is new. It is slow now.", "It is slow now."),
    ("Staging:\n- the port is 90\nProduction:\n- the port is 80", "Staging:\n- the port is 80"),
    ("# In Makefiles\nUse tabs everywhere.", "Use tabs everywhere."),
    ("Is the API stable? We ship on Mondays.", "The API is stable. We ship on Mondays."),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_what_only_stands_elsewhere_is_the_same(memories: Memories, one: str, other: str) -> None:
    assert same(one, other)
    assert same(other, one)
    assert spelling(one) == spelling(other)
    assert says_all_of(f"Something else is so. {one}", other)
    assert read(one).bag == read(other).bag
    memories.add("one", one)
    with pytest.raises(MemoryExists, match="as 'one'"):
        memories.add("other", other)
    assert against(Candidate(name="x", body=other), memories.all()) is None
    memories.add("other", other, description="said at another time", supersedes=())
    consolidate(memories)
    assert memories.superseded() == {"project/one": "other"}
    memories.undo()
    assert len(memories.all()) == 2


@pytest.mark.parametrize(("one", "other"), OTHER)
def test_what_may_mean_something_else_is_not_the_same(memories: Memories, one: str, other: str) -> None:
    assert not same(one, other)
    assert not same(other, one)
    assert not says_all_of(one, other)
    memories.add("one", one)
    memories.add("other", other)
    assert consolidate(memories).notes == []


@pytest.mark.parametrize(("more", "less"), NOT_ALL)
def test_a_sentence_stands_for_itself_only_where_it_speaks_for_itself(
    memories: Memories, more: str, less: str
) -> None:
    assert not says_all_of(more, less)
    memories.add("more", more)
    memories.add("less", less)
    assert consolidate(memories).notes == []


HINGES = ["not", "rather than", "instead of", "over", "than", "before", "after", "from", "to", "into", "for", "never"]
CONTENT = ["npm", "yarn", "tabs", "spaces", "main", "feature", "alpha", "Beta", "docs", "tests", "port", "deploys"]
PHRASES = ["in CI", "on Fridays", "for the web", "at night", "with care"]
SENTENCES = st.lists(
    st.sampled_from([*HINGES, *CONTENT, "the", "we", "use", "and", "only", "is", "do", "in", "on", "for", ","]),
    min_size=1,
    max_size=9,
).map(" ".join)


@given(SENTENCES, SENTENCES)
def test_saying_the_same_is_mutual(one: str, other: str) -> None:
    assert same(one, other) == same(other, one)
    assert same(one, one)
    if same(one, other):
        assert spelling(one) == spelling(other)


@given(SENTENCES, st.permutations(range(9)))
def test_saying_the_same_is_mutual_among_the_orders_of_the_same_words(one: str, places: list[int]) -> None:
    parts = one.split()
    other = " ".join(parts[place] for place in places if place < len(parts))
    assert same(one, other) == same(other, one)
    assert not same(one, other) or read(one).bag == read(other).bag


@given(
    left=st.lists(st.sampled_from(CONTENT), min_size=1, max_size=3, unique=True),
    right=st.lists(st.sampled_from(CONTENT), min_size=1, max_size=3, unique=True),
    hinge=st.sampled_from(HINGES),
    comma=st.sampled_from(["", ","]),
    verb=st.sampled_from(["use", "we use", "do not use", "blocks", ""]),
    around=st.tuples(st.sampled_from(["", *PHRASES]), st.sampled_from(["", *PHRASES])),
    data=st.data(),
)
def test_two_words_that_change_sides_never_say_the_same(
    left: list[str],
    right: list[str],
    hinge: str,
    comma: str,
    verb: str,
    around: tuple[str, str],
    data: st.DataObject,
) -> None:
    a, b = data.draw(st.integers(0, len(left) - 1)), data.draw(st.integers(0, len(right) - 1))
    assume(left[a] not in right and right[b] not in left)

    def sentence(left: list[str], right: list[str]) -> str:
        return " ".join(filter(None, (around[0], verb, *left, comma, hinge, *right, around[1])))

    turned = [*left[:a], right[b], *left[a + 1 :]], [*right[:b], left[a], *right[b + 1 :]]
    assert not same(sentence(left, right), sentence(*turned))


@given(SENTENCES)
def test_no_text_turns_itself_round(one: str) -> None:
    assert turned_round(one, [one]) == ""


@given(st.sampled_from(CONTENT), st.sampled_from(CONTENT), st.sampled_from(HINGES), st.sampled_from(["", *PHRASES]))
def test_a_text_with_changed_sides_is_turned_round(left: str, right: str, hinge: str, where: str) -> None:
    assume(left != right and hinge not in ("from", "for"))
    said, turned = f"Please use {left} {hinge} {right} {where}.", f"Please use {right} {hinge} {left} {where}."
    assert turned_round(turned, ["Something else is so.", said])
    assert turned_round(said, [said, turned]) == ""
