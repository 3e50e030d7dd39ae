# SPDX-License-Identifier: Apache-2.0
"""What `accuracy` and `run` share: the workloads, and plots over granularities."""
import math
import pathlib

ROOT = pathlib.Path(__file__).resolve().parents[2]
# Those whose work is done by the main thread; of jetty, threads and vthreads it says nothing.
WORKLOADS = "ecj,jython,h2,lucene,xalan,compress,groovy,exceptions"
# With several threads it is a matter of chance what the compiler does on the main thread. lucene seeds its hash of words with the time
# of day, and how long it sorts them depends on that.
OPTIONS = {"ecj": ["-Djdt.compiler.useSingleThread=true"], "lucene": ["-Dtests.seed=42"]}
COLOURS = ("#4269d0", "#efb118", "#ff725c", "#6cc5b0", "#3ca951", "#ff8ab7", "#a463f2", "#97bbf5")


def axis_end(highest):
    """Not below `highest`, and a fifth of it is a number that people like."""
    power = 10 ** math.floor(math.log10(highest / 5))
    return next(5 * step * power for step in (1, 2, 2.5, 5, 10) if 5 * step * power >= highest - 1e-9)


def plot(path, title, unit, series, granularities):
    """Lines over granularities, which are equally far apart; `series` is {name: values}."""
    width, height, left, top = 640, 360, 70, 40
    highest = axis_end(max(value for values in series.values() for value in values))
    step = (width - left - 130) / max(1, len(granularities) - 1)
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height + 40}" font-family="sans-serif" font-size="12">',
             f'<rect width="100%" height="100%" fill="white"/><text x="{left}" y="20" font-size="14">{title}</text>']  # fmt: skip
    for i in range(6):
        y = height - (height - top) * i / 5
        parts.append(f'<path d="M{left} {y}H{width - 130}" stroke="#ddd"/><text x="{left - 6}" y="{y + 4}" text-anchor="end">{highest * i / 5:,g}{unit}</text>')
    for i, granularity in enumerate(granularities):
        parts.append(f'<text x="{left + i * step}" y="{height + 18}" text-anchor="middle">{granularity:,}</text>')
    for colour, (name, values) in zip(COLOURS, series.items()):
        points = " ".join(f"{left + i * step:.1f},{height - (height - top) * value / highest:.1f}" for i, value in enumerate(values))
        line = list(series).index(name) * 16 + top
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{width - 120}" y="{line + 4}" fill="{colour}">{name}</text>')
    path.write_text("\n".join([*parts, "</svg>", ""]))
