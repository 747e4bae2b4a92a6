"""Small changes to a source file, each of which a test should notice."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

COMPARE: dict[type[ast.cmpop], type[ast.cmpop]] = {
    ast.Lt: ast.LtE,
    ast.LtE: ast.Lt,
    ast.Gt: ast.GtE,
    ast.GtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
}
BINARY: dict[type[ast.operator], type[ast.operator]] = {ast.Add: ast.Sub, ast.Sub: ast.Add}


@dataclass(frozen=True)
class Mutant:
    """One change: what was done in which line, and the whole file with it."""

    line: int
    change: str
    tree: ast.Module

    @property
    def source(self) -> str:
        return ast.unparse(self.tree) + "\n"


def mutants(source: str) -> Iterator[Mutant]:
    """Every mutant of a file, in the order of its lines."""
    sites = _Mutator(-1)
    sites.visit(ast.parse(source))
    order = sorted(range(len(sites.found)), key=lambda number: (sites.found[number][0], number))
    for number in order:
        line, change = sites.found[number]
        yield Mutant(line, change, ast.fix_missing_locations(_Mutator(number).visit(ast.parse(source))))


class _Mutator(ast.NodeTransformer):
    """Visits every place that can be changed, and changes the one with the given number.

    Only code inside of functions: constants of a module are tuning, annotations and texts are for readers.
    """

    def __init__(self, wanted: int) -> None:
        self._wanted = wanted
        self._depth = 0
        self.found: list[tuple[int, str]] = []

    def _here(self, node: ast.AST, change: str) -> bool:
        """Whether the site just met is the one to change."""
        if not self._depth:
            return False
        self.found.append((getattr(node, "lineno", 0), change))
        return len(self.found) - 1 == self._wanted

    # -- where not to look

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        return self._function(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.AST:
        return self._function(node)

    def _function(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> ast.AST:
        self._depth += 1
        node.body = self._body(node.body)
        self._depth -= 1
        return node

    def _body(self, statements: Sequence[ast.stmt]) -> list[ast.stmt]:
        """Neither docstrings nor annotations are changed."""
        return [one if _is_text(one) else self.visit(one) for one in statements]

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.AST:
        if node.value is not None:
            node.value = self.visit(node.value)
        return node

    def visit_Assert(self, node: ast.Assert) -> ast.AST:
        return node

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.AST:
        return node

    # -- statements

    def visit_Expr(self, node: ast.Expr) -> ast.AST:
        if _is_text(node) or isinstance(node.value, ast.Yield | ast.YieldFrom):
            return node
        if self._here(node, f"drop `{_short(node)}`"):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if self._here(node, f"drop `{_short(node)}`"):
            return ast.Pass()
        return self.generic_visit(node)

    def visit_Raise(self, node: ast.Raise) -> ast.AST:
        return ast.Pass() if self._here(node, f"drop `{_short(node)}`") else node

    def visit_Return(self, node: ast.Return) -> ast.AST:
        if node.value is not None and not _is_none(node.value) and self._here(node, f"`{_short(node)}` to None"):
            return ast.Return(ast.Constant(None))
        return self.generic_visit(node)

    def visit_Continue(self, node: ast.Continue) -> ast.AST:
        return ast.Pass() if self._here(node, "drop `continue`") else node

    def visit_Break(self, node: ast.Break) -> ast.AST:
        return ast.Pass() if self._here(node, "drop `break`") else node

    # -- conditions

    def visit_If(self, node: ast.If) -> ast.AST:
        return self._condition(node)

    def visit_While(self, node: ast.While) -> ast.AST:
        return self._condition(node) if not isinstance(node.test, ast.Constant) else self.generic_visit(node)

    def visit_IfExp(self, node: ast.IfExp) -> ast.AST:
        return self._condition(node)

    def _condition(self, node: ast.If | ast.While | ast.IfExp) -> ast.AST:
        # The line of the test: of an `if (` that goes on below, no line is reached.
        if not isinstance(node.test, ast.Compare) and self._here(node.test, f"negate `{_short(node.test)}`"):
            node.test = ast.UnaryOp(ast.Not(), node.test)
        return self.generic_visit(node)

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        if node.ifs and self._here(node.ifs[0], f"drop the filter `{_short(node.ifs[0])}`"):
            node.ifs = node.ifs[1:]
        return self.generic_visit(node)

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        if type(node.ops[0]) in COMPARE and self._here(node, f"turn the comparison `{_short(node)}`"):
            node.ops[0] = COMPARE[type(node.ops[0])]()
        return self.generic_visit(node)

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.AST:
        if self._here(node, f"and/or in `{_short(node)}`"):
            node.op = ast.Or() if isinstance(node.op, ast.And) else ast.And()
        return self.generic_visit(node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.AST:
        if isinstance(node.op, ast.Not) and self._here(node, f"drop `not` of `{_short(node)}`"):
            return ast.Call(ast.Name("bool", ast.Load()), [node.operand], [])
        return self.generic_visit(node)

    # -- values

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        texts = any(
            isinstance(side, ast.Constant | ast.JoinedStr) and _is_string(side) for side in (node.left, node.right)
        )
        if type(node.op) in BINARY and not texts and self._here(node, f"plus/minus in `{_short(node)}`"):
            node.op = BINARY[type(node.op)]()
        return self.generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        if isinstance(node.value, bool):
            return ast.Constant(not node.value) if self._here(node, f"{node.value} to {not node.value}") else node
        if isinstance(node.value, int) and self._here(node, f"{node.value} to {node.value + 1}"):
            return ast.Constant(node.value + 1)
        return node


def _is_text(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str | bytes))


def _is_none(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is None


def _short(node: ast.AST) -> str:
    text = " ".join(ast.unparse(node).split())
    return text if len(text) <= 70 else f"{text[:69]}…"
