"""OpenAI and every server that speaks its chat completions API or its Responses API."""
