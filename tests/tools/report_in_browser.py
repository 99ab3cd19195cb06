#!/usr/bin/env python3
"""Opens a page of `hone report` in headless Chromium, uses it as a person would, and writes screenshots.

    report_in_browser.py PAGE FOLDER [NAME=COUNT...] [heat]

NAME=COUNT are sums over the page's charts of the marks drawn, by the name of their data set, as Chart.js counts
them: `races=120`. `heat`: the page has no heat map, since no two parameters vary. Exit code 77: no Chromium, no chromedriver or no Selenium here.
"""
import base64
import pathlib
import sys

try:
    from selenium import webdriver
    from selenium.common.exceptions import WebDriverException
    from selenium.webdriver.common.action_chains import ActionChains
    from selenium.webdriver.common.by import By
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import Select, WebDriverWait
except ImportError as error:
    print(f"skipped: {error}; install python3-selenium, chromium and chromium-driver")
    sys.exit(77)

WIDTHS = (400, 1400)
page, folder = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2])
expected = {name: int(count) for name, count in (word.split("=") for word in sys.argv[3:] if "=" in word)}
lacking = {word for word in sys.argv[3:] if "=" not in word}
faults = []


def check(holds, what):
    if not holds:
        faults.append(what)


options = webdriver.ChromeOptions()
for argument in ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"):
    options.add_argument(argument)
options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
try:
    browser = webdriver.Chrome(options=options)
except WebDriverException as error:
    print(f"skipped: {error.msg}; install chromium and chromium-driver")
    sys.exit(77)


def run(script, *arguments):
    return browser.execute_script(script, *arguments)


def screenshot(name, width):
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False})
    run("return new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")
    check(run("return document.documentElement.scrollWidth") <= width, f"the page is wider than {width} px")
    height = run("return document.documentElement.scrollHeight")
    image = browser.execute_cdp_cmd("Page.captureScreenshot", {
        "captureBeyondViewport": True,
        "clip": {"x": 0, "y": 0, "width": width, "height": min(height, 12000), "scale": 1}})
    bytes_ = base64.b64decode(image["data"])
    (folder / f"{name}-{width}.png").write_bytes(bytes_)
    check(len(bytes_) > 20000, f"the screenshot {name}-{width} is all but empty")


def blank_canvases():
    """Canvases in which every pixel is the same."""
    return run("""return [...document.querySelectorAll("canvas")].filter(canvas => {
      const pixels = new Uint32Array(
          canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.buffer);
      return pixels.every(pixel => pixel === pixels[0]);
    }).length""")


try:
    browser.get(page.as_uri())
    WebDriverWait(browser, 60).until(lambda _: run("return document.documentElement.dataset.drawn") == "yes")
    for scheme in ("light", "dark"):
        browser.execute_cdp_cmd("Emulation.setEmulatedMedia",
                                {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        WebDriverWait(browser, 10).until(lambda _: run("return document.documentElement.dataset.theme") == scheme)
        for width in WIDTHS:
            screenshot(scheme, width)
    check(blank_canvases() == 0, "a chart is blank")
    check(not run("return window.injected"), "a text of the database was run as code")
    check(run("return document.querySelectorAll('main img, main script, main b').length") == 0,
          "a text of the database became markup")

    for name, count in expected.items():
        attribute = "marks" + name[0].upper() + name[1:]
        drawn = run("return [...document.querySelectorAll('figure')].reduce("
                    "(sum, figure) => sum + Number(figure.dataset[arguments[0]] ?? 0), 0)", attribute)
        check(drawn == count, f"{drawn} marks of `{name}` are drawn, not {count}")

    # The pointer on a point shows its configuration and samples, and leaves with it.
    canvas = browser.find_element(By.CSS_SELECTOR, "figure.bands canvas")
    run("arguments[0].scrollIntoView({block: 'center'})", canvas)
    first = run("""return charts[0].data.datasets.findIndex(
        (each, i) => charts[0].isDatasetVisible(i) && each.data.some(point => point.mark))""")
    check(first >= 0, "the first chart has no point with a configuration")
    told = run("""const [at] = charts[0].data.datasets[arguments[0]].data;
                  return configurationText(report.groups[0].family, at.mark.configuration)""", first)
    x, y = run("""const point = charts[0].getDatasetMeta(arguments[0]).data[0],
                        box = charts[0].canvas.getBoundingClientRect();
                  return [Math.round(point.x - box.width / 2), Math.round(point.y - box.height / 2)]""", first)
    ActionChains(browser).move_to_element_with_offset(canvas, x, y).perform()
    WebDriverWait(browser, 10).until(lambda _: run("return charts[0].tooltip.opacity") > 0)
    shown = run("return [...charts[0].tooltip.title, ...charts[0].tooltip.body.flatMap(each => each.lines)].join(' ')")
    check("=" in shown and "quartiles" in shown and " n " in shown, f"the tooltip says `{shown}`")
    browser.save_screenshot(str(folder / "hover.png"))
    ActionChains(browser).move_to_element(browser.find_element(By.TAG_NAME, "h1")).perform()
    WebDriverWait(browser, 10).until(lambda _: run("return charts[0].tooltip.opacity") == 0)

    # Keys: through the chart's points with their samples, and from cell to cell of a heat map.
    run("arguments[0].focus()", canvas)
    canvas.send_keys(Keys.ARROW_RIGHT)
    detail = run("return document.querySelector('figure.bands .detail').textContent")
    check(told in detail and "quartiles" in detail and "n " in detail,
          f"an arrow key on the chart tells `{detail}` of {told}")
    check(run("return charts[0].tooltip.opacity") > 0, "an arrow key on the chart shows no tooltip")
    canvas.send_keys(Keys.END)
    moved_to = run("return document.querySelector('figure.bands .detail').textContent")
    check(moved_to != detail, "the end key on the chart stays at the first point")
    canvas.send_keys(Keys.ESCAPE)
    check(run("return document.querySelector('figure.bands .detail').textContent") == "",
          "the escape key on the chart leaves its detail")
    heats = run("return document.querySelectorAll('table.heat').length")
    check((heats == 0) == ("heat" in lacking), f"the page has {heats} heat maps")
    if heats:
        cells = browser.find_elements(By.CSS_SELECTOR, ".heat td[tabindex='0']")
        check(bool(cells), "no cell of a heat map takes the focus")
        run("arguments[0].focus()", cells[0])
        cells[0].send_keys(Keys.ARROW_RIGHT)
        moved = "return document.activeElement.tagName === 'TD' && document.activeElement !== arguments[0]"
        check(run(moved, cells[0]),
              "an arrow key moves to no other cell of a heat map")

        # Values of numbers are in their order, and what the figures are is told.
        for heads in run("""return [...document.querySelectorAll("table.heat")].map(
            table => [...table.querySelectorAll("thead th")].slice(1).map(head => Number(head.textContent)))"""):
            check(any(value is None for value in heads) or heads == sorted(heads),
                  f"a heat map's columns are in the order {heads}")
        notes = run("return [...document.querySelectorAll('.card .note')].map(note => note.textContent)")
        check(any("First looks, by" in note or "All of one race" in note for note in notes),
              "no heat map tells what its figures are")

    # The tab key reaches whatever can be worked with, in the order of the page, and the space key works it.
    run("document.activeElement.blur(); scrollTo(0, 0)")
    controls = run("""window.controls = [...document.querySelectorAll(
        "a[href], button, select, input, summary, [tabindex='0']")].filter(each => each.getClientRects().length > 0);
        document.body.tabIndex = -1; document.body.focus();
        return controls.length""")
    reached = []
    for _ in range(controls):
        ActionChains(browser).send_keys(Keys.TAB).perform()
        reached.append(run("return controls.indexOf(document.activeElement)"))
    check(reached == list(range(controls)), f"the tab key goes to {reached} of {controls} controls")
    boxes = browser.find_elements(By.CSS_SELECTOR, "figure.bands input[type='checkbox']")
    check(bool(boxes), "the first chart has no legend")
    visible = "return charts[0].data.datasets.filter((each, i) => charts[0].isDatasetVisible(i)).length"
    before = run(visible)
    boxes[0].send_keys(Keys.SPACE)
    check(run(visible) == before - 1, "the space key on the legend hides nothing")
    boxes[0].send_keys(Keys.SPACE)
    check(run(visible) == before, "the space key on the legend shows nothing again")

    # Other parameters chosen make another heat map.
    heat = browser.find_elements(By.XPATH, "//section[h4='Heat map'][.//table]")
    if heat:
        selects = heat[0].find_elements(By.TAG_NAME, "select")
        rows = Select(selects[1])
        before = run("return arguments[0].querySelector('table').getAttribute('aria-label')", heat[0])
        rows.select_by_index((rows.options.index(rows.first_selected_option) + 2) % len(rows.options))
        after = run("return arguments[0].querySelector('table').getAttribute('aria-label')", heat[0])
        check(before != after, f"choosing a parameter leaves the heat map at `{before}`")

    # Every control and link can be reached, and has a name.
    check(run("return [...document.querySelectorAll('select, input')].every(each => each.labels.length === 1)"),
          "a control has no label")
    pdf = base64.b64decode(browser.execute_cdp_cmd("Page.printToPDF", {"printBackground": True})["data"])
    (folder / "print.pdf").write_bytes(pdf)
    check(len(pdf) > 50000, "printing gives an all but empty document")
    check(run("return document.documentElement.dataset.theme") == "dark", "printing leaves the page in other colours")

    for entry in browser.get_log("browser"):
        faults.append(f"the console says {entry['level']}: {entry['message']}")
    fetched = [line["message"] for line in browser.get_log("performance")
               if '"Network.requestWillBeSent"' in line["message"]]
    check(fetched and all("file://" in line for line in fetched), "the page asks the network for something")
finally:
    browser.quit()

for fault in faults:
    print(fault)
print(f"{page.name}: {len(faults)} faults, screenshots in {folder}")
sys.exit(1 if faults else 0)
