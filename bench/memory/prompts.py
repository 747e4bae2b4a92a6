"""Prompts that no memory of a conversation has anything to say to: what the gate must let pass with nothing added."""

GENERIC = """\
fix the failing test
run the tests again and show me the output
why does this function return None?
refactor this class into smaller functions
add type hints to the module
write a unit test for the parser
what does this regular expression match?
rename the variable x to something meaningful
the build is broken on main, please look into it
add a docstring to every public function
convert this script to use argparse
explain the difference between a list and a tuple
make the loop faster
there is a memory leak somewhere in the server
update the dependencies to their newest versions
how do I revert the last commit?
create a Dockerfile for this service
add logging to the request handler
the linter complains about unused imports
please format the whole project
write a SQL query that joins orders with customers
why is the CI pipeline so slow?
add pagination to the list endpoint
catch the timeout and retry three times
split this file into two modules
the tests pass locally but fail in CI
show me the diff
commit the changes with a good message
open a pull request
undo that
continue
go on
yes, do it
thanks, that works
no, the other one
try again
what is next?
summarize what you changed
list all files in src
find every call to deprecated functions
how many lines of code does this project have?
generate a changelog from the git history
add a --verbose flag to the command line
parse the JSON response and print the id field
replace print statements with proper logging
implement binary search in Rust
the CSS grid overflows on small screens
center the div
add dark mode to the settings page
write a GitHub workflow that publishes the package
bump the version number
mock the HTTP client in the tests
turn this callback code into async await
why am I getting a segmentation fault?
the port is already in use
set up pre-commit hooks
what is the time complexity of this algorithm?
use a dataclass instead of a dict here
write a migration that adds a nullable column
the query is slow, add an index
check whether the config file is valid YAML
make this endpoint idempotent
handle the empty list case
add rate limiting to the API
explain this stack trace
TypeError: 'NoneType' object is not subscriptable
ModuleNotFoundError: No module named 'requests'
error: cannot borrow `x` as mutable more than once at a time
undefined is not a function
permission denied when writing to /var/log
npm install fails with a peer dependency conflict
git says there are merge conflicts, resolve them
port this bash script to Python
add an integration test for the login flow
cache the result of this function
remove dead code
review my changes
is this thread safe?
use environment variables instead of hard-coded secrets
validate the input before saving it
return 404 when the record does not exist
how do I profile a Python program?
write a Makefile with build and test targets
add a health check endpoint
serialize the object to protobuf
upgrade from webpack to vite
the regex is too greedy
sort the table by the second column
deduplicate this list while keeping its order
write a benchmark for the two implementations
log the request id with every message
make the constructor private
generate random test data
the websocket disconnects after one minute
add a progress bar to the download
compress the response with gzip
what is a monad?
convert the timestamps to UTC
implement an LRU cache
compile with optimizations turned on
set the default timeout to 30 seconds
expose metrics for Prometheus
the pod keeps restarting in Kubernetes
terraform plan shows unexpected changes
write a recursive directory walker
make the tests run in parallel
use a generator instead of building the list
pin the version of the compiler
the page renders twice in React
rewrite this query without a subquery
add a foreign key constraint
encode the file as UTF-8
close the file handle when an exception is raised
check for integer overflow
find the commit that introduced the regression
delete the temporary files afterwards
make the error message clearer
where is the entry point of this application?
document the public API
this race condition only happens under load
switch the database driver
extract the common code into a helper
please look at the open issues and pick one
""".splitlines()

SMALL_TALK = """\
what is the capital of Australia?
translate good morning into Spanish
who won the world cup in 1998?
tell me a joke
how do I boil an egg?
what is the square root of 144?
convert 30 degrees Celsius to Fahrenheit
explain how photosynthesis works
what is the tallest mountain in the world?
write a haiku about autumn
how far away is the moon?
what does HTTP stand for?
recommend a good password manager
what is the plural of octopus?
how many ounces are in a pound?
who painted the Mona Lisa?
summarize the plot of Hamlet
what time zone is Tokyo in?
how do vaccines work?
spell necessary
what is inflation?
how does a diesel engine differ from a petrol engine?
list the planets of the solar system
what is the chemical formula of table salt?
define entropy
how do I tie a bow tie?
who wrote War and Peace?
what is the boiling point of water on Mount Everest?
generate a strong password
what are the primary colors?
how do I write a cover letter?
what causes earthquakes?
explain blockchain simply
what is the difference between weather and climate?
what is the largest ocean?
how long does it take to fly from London to New York?
what is the Pythagorean theorem?
how do I remove a red wine stain?
what is the speed of light?
name three prime numbers above one hundred
""".splitlines()
"""Prompts of no conversation in the data either. The word rule was fixed before these; the cosines were not."""
