"""Pages in a real browser that are watched: their scripts, their requests, and what axe says of them."""

from contextlib import contextmanager

COMPLAINTS = ("error", "warning")
LOCAL = ("file:", "data:", "blob:")
IMPACTS = ("minor", "moderate", "serious", "critical")


@contextmanager
def watched_pages(browser, address, **defaults):
    """A function that opens pages below an address; at the end no script may have failed, and nothing was loaded."""
    contexts, wrong = [], []

    def open_one(path="", *, context=None, **options):
        if context is None:
            context = browser.new_context(**defaults | options)
            contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text) if message.type in COMPLAINTS else None)
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on("request", lambda request: None if request.url.startswith(LOCAL) else wrong.append(request.url))
        page.goto(f"{address}{path}")
        return page

    yield open_one
    hacked = [page.evaluate("window.hacked") for context in contexts for page in context.pages]
    for context in contexts:
        context.close()
    assert wrong == []  # neither complaints of scripts nor requests that leave the files
    assert not any(hacked)


def saved_file(page, save, folder):
    """Where the file is put that a page saves when `save()` is called; a busy machine may need a minute."""
    with page.expect_download(timeout=90_000) as download:
        save()
    path = folder / download.value.suggested_filename
    download.value.save_as(path)
    return path


def axe_findings(page, *, impacts=IMPACTS):
    """What axe finds on a page: (rule, element) of each violation with such an impact."""
    from axe_playwright_python.sync_playwright import Axe

    found = Axe().run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
    violations = [violation for violation in found if violation["impact"] in impacts]
    return [(violation["id"], node["html"][:200]) for violation in violations for node in violation["nodes"]]
