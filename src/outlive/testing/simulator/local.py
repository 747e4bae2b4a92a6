"""What servers of local models say about a context window, besides OpenAI's API."""

from collections.abc import Callable, Mapping
from typing import Any

Form = dict[str, Any]
ENDPOINTS: Mapping[str, Mapping[str, Callable[[str, int], Form]]] = {
    "llama.cpp": {"/props": lambda _, window: {"default_generation_settings": {"n_ctx": window}}},
    "vllm": {},
    "lmstudio": {
        "/api/v0/models": lambda name, window: {
            "data": [{"id": name, "loaded_context_length": window, "max_context_length": 2 * window}]
        }
    },
    "ollama": {
        "/api/ps": lambda *_: {"models": []},
        "/api/show": lambda _, window: {
            "parameters": f'stop "<|im_end|>"\nnum_ctx    {window}',
            "model_info": {"llama.context_length": 8 * window},
        },
    },
}
"""Server to path to the answer about a model with a window."""
_OWNERS = {"llama.cpp": "llamacpp", "vllm": "vllm", "lmstudio": "organization_owner", "ollama": "library"}


def listed(server: str, listing: Form, window: int) -> Form:
    """A list of models as this server writes it."""
    more: Form = {"owned_by": _OWNERS[server]}
    if server == "llama.cpp":
        more["meta"] = {"n_ctx": window, "n_ctx_train": 4 * window}
    if server == "vllm":
        more["max_model_len"] = window
    return listing | {"data": [model | more for model in listing["data"]]}
