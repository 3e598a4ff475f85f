"""Behaviour of a server of tests/llm_server.py that looks at the question alone."""


def answering(answer):
    """Answer the last message of each request as a function of its text says."""

    def behave(body):
        content = body["messages"][-1]["content"]
        return answer(content if isinstance(content, str) else content[0]["text"])

    return behave
