"""The fixed parts of the SVG picture: its style sheet, light and dark, and the shapes of the marks."""

from outlive.tasks.drawing.marks import DARK, LIGHT, STATES, Colours, State

ROOT = "outlive-graph"
"""Prefix of every name in the picture, so that several can share a page."""

_BASE = """\
.outlive-graph text{font-family:system-ui,-apple-system,"Segoe UI",Roboto,"Noto Sans","Noto Sans CJK SC",sans-serif;\
font-size:12.5px}
.outlive-graph .small text{font-size:11px}
.outlive-graph rect.box{stroke-width:1.2}
.outlive-graph .blocked rect.box{stroke-dasharray:4 3}
.outlive-graph .in_progress rect.box{stroke-width:2}
.outlive-graph .cancelled .subject{text-decoration:line-through}
.outlive-graph .id{font-weight:650}
.outlive-graph path.edge{fill:none;stroke-width:1.5}
.outlive-graph path.thin{stroke-width:.8;stroke-opacity:.55}
.outlive-graph path.closing{stroke-dasharray:5 4}"""

_SHAPES: dict[State, str] = {
    "ready": '<circle r="5.5"/>',
    "blocked": '<circle r="5.5" stroke-dasharray="2.3 2.02"/>',
    "in_progress": '<circle r="5.5"/><path d="M0,-5.5A5.5,5.5 0 0 0 0,5.5Z" fill="currentColor"/>',
    "completed": f'<circle r="5.5" fill="currentColor"/><path d="M-2.6,.2L-.7,2.1L2.8,-1.9" class="{ROOT}-cut"/>',
    "cancelled": '<circle r="5.5"/><path d="M-2,-2L2,2M-2,2L2,-2"/>',
}


def style_sheet() -> str:
    light = _theme(LIGHT, paper="#ffffff", line="#64748b", faint="#cbd5e1", words="#475569", alarm="#dc2626")
    dark = _theme(DARK, paper="#0d1220", line="#8b9bb4", faint="#3b475c", words="#a9b6c9", alarm="#f87171")
    return f"<style>\n{_BASE}\n{light}\n@media (prefers-color-scheme:dark){{\n{dark}\n}}\n</style>"


def definitions() -> str:
    arrows = "".join(
        f'<marker id="{ROOT}-{kind}" class="{kind}" viewBox="0 0 8 8" refX="7.5" refY="4" markerWidth="8" '
        'markerHeight="8" markerUnits="userSpaceOnUse" orient="auto"><path d="M.5,.8L7.5,4L.5,7.2Z"/></marker>'
        for kind in ("open", "done", "closing")
    )
    marks = "".join(
        f'<g id="{ROOT}-{name}" class="mark" fill="none" stroke="currentColor" stroke-width="1.6" '
        f'stroke-linecap="round" stroke-linejoin="round">{_SHAPES[name]}</g>'
        for name in STATES
    )
    return f"<defs>{arrows}{marks}</defs>"


def _theme(colours: dict[State, Colours], *, paper: str, line: str, faint: str, words: str, alarm: str) -> str:
    rules = [f"rect.paper{{fill:{paper}}}", f".legend text{{fill:{words}}}"]
    for kind, colour in (("open", line), ("done", faint), ("closing", alarm)):
        rules += [f"path.{kind}{{stroke:{colour}}}", f"marker.{kind} path{{fill:{colour}}}"]
    for name in STATES:
        fill, border, text = colours[name]
        rules += [
            f".{name}{{color:{border}}}",
            f".{name} rect.box{{fill:{fill};stroke:{border}}}",
            f".{name} text{{fill:{text}}}",
            f".{name} .id{{fill:{border}}}",
        ]
    # Selectors with ancestors do not match inside <use>.
    return "\n".join([*(f".{ROOT} {rule}" for rule in rules), f".{ROOT}-cut{{stroke:{paper}}}"])
