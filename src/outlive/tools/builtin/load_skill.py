"""`load_skill`: the whole text of a skill whose name and description are in the prompt."""

from typing import Annotated

from msgspec import Meta, Struct

from outlive.tools.protocol import SHORT_RESULT_CHARS, Tool, ToolContext, ToolOutcome


class LoadSkillInput(Struct, frozen=True, forbid_unknown_fields=True):
    name: Annotated[str, Meta(description="Its name as it is listed.")]


class LoadSkill(Tool[LoadSkillInput]):
    name = "load_skill"
    description = "Load the instructions of a skill that is listed in the prompt, before doing what it is about."
    input = LoadSkillInput
    about = "name"
    longest = SHORT_RESULT_CHARS
    effect = "look"

    async def run(self, given: LoadSkillInput, context: ToolContext) -> ToolOutcome:
        return ToolOutcome(context.skills.load(given.name.strip()))
