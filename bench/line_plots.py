"""Line plots over a logarithmic axis of sizes, as SVG text: all the plotting that the benchmarks need."""
from html import escape
from math import ceil, log2

WIDTH, HEIGHT = 540, 320  # of one panel
LEFT, RIGHT, TOP, BOTTOM = 62, 16, 40, 46
COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7")  # told apart by colour-blind readers too


def size_name(mb):
    return f"{mb / 1024:.4g} GB" if mb >= 1024 else f"{mb:.4g} MB"


def _text(x, y, text, anchor="middle", more=""):
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" {more}>{escape(text)}</text>'


def _round_step(top, steps=5):
    """The smallest of 1, 2, 5 times a power of ten of which `steps` reach `top`."""
    power = 1
    while True:
        for digit in (1, 2, 5):
            if digit * power * steps >= top:
                return digit * power
        power *= 10


def _panel(name, series, unit):
    points = [point for line in series.values() for point in line]
    low, high = min(x for x, _ in points), max(x for x, _ in points)
    highest = max(y for _, y in points)
    step = _round_step(highest)
    top = step * ceil(highest / step)

    def across(x):
        return LEFT + (WIDTH - LEFT - RIGHT) * (log2(x / low) / log2(high / low) if high > low else 0.5)

    def down(y):
        return HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * y / top

    parts = [_text(LEFT, 24, name, "start", 'font-weight="bold" font-size="15"'),
             _text(14, HEIGHT / 2, unit, more=f'transform="rotate(-90 14 {HEIGHT / 2})"')]
    for value in range(0, top + 1, step):
        y = down(value)
        parts.append(f'<path d="M{LEFT} {y:.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(_text(LEFT - 6, y + 4, str(value), "end"))
    at_x = -WIDTH
    for x in sorted({x for x, _ in points}):
        if across(x) - at_x < 46:  # a label's room
            continue
        at_x = across(x)
        parts.append(f'<path d="M{at_x:.1f} {TOP}V{HEIGHT - BOTTOM}" stroke="#eee"/>')
        parts.append(_text(at_x, HEIGHT - BOTTOM + 18, size_name(x)))
    for i, (label, line) in enumerate(series.items()):
        colour = COLOURS[i % len(COLOURS)]
        places = [(across(x), down(y)) for x, y in sorted(line)]
        corners = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{corners}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" fill="{colour}"/>' for x, y in places]
        parts.append(_text(WIDTH - RIGHT - 110 * (len(series) - 1 - i), 24, label, "end",
                           f'style="fill:{colour}" font-weight="bold"'))
    return "\n".join(parts)


def line_plots(title, panels, unit):
    """`panels`: {name: {label: [(MB, value)]}}, two a row. MB is 2^20 bytes."""
    rows = (len(panels) + 1) // 2
    width, height = WIDTH * min(2, len(panels)), 36 + HEIGHT * rows
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
             f'height="{height}" font-family="sans-serif" font-size="12" fill="#222">',
             f'<rect width="{width}" height="{height}" fill="white"/>',
             _text(width / 2, 24, title, more='font-size="16"')]
    for i, (name, series) in enumerate(panels.items()):
        parts.append(f'<g transform="translate({i % 2 * WIDTH} {36 + i // 2 * HEIGHT})">')
        parts.append(_panel(name, series, unit) + "</g>")
    return "\n".join(parts + ["</svg>"]) + "\n"
