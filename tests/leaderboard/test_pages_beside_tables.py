"""The pages beside the tables: no serious finding of axe, light and dark, and no page wider than a small phone."""

import pytest

COMPARED = "compare.html?a=model-0&b=model-1&c=model-2&d=turkish"
ITEMS = "items.html#q=c001"
PAGES = (ITEMS, COMPARED, "submit.html", "data.html", "how-to-read.html")


@pytest.mark.parametrize(
    ("scheme", "pages"),
    [
        ("light", (COMPARED,)),
        pytest.param("light", (ITEMS, *PAGES[2:]), marks=pytest.mark.long),
        pytest.param("dark", PAGES, marks=pytest.mark.long),
    ],
)
def test_axe_has_no_serious_finding_and_nothing_overflows(open_page, site, scheme, pages):
    from axe_playwright_python.sync_playwright import Axe

    axe = Axe()
    page = open_page("data.html", bypass_csp=True, color_scheme=scheme, viewport={"width": 320, "height": 700})
    for name in pages:
        page.goto(f"{site}/{name}")
        if name == COMPARED:
            page.wait_for_selector("#most:visible")
        for details in page.locator("summary:visible").all():
            details.click()
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), name
        found = axe.run(page, options={"resultTypes": ["violations"], "preload": False}).response["violations"]
        serious = []
        for violation in found:
            if violation["impact"] in ("serious", "critical"):
                serious += [(violation["id"], node["html"][:200]) for node in violation["nodes"]]
        assert serious == [], name
