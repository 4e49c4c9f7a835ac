# SPDX-License-Identifier: Apache-2.0
"""What notebooks show: a table of nodes that can be folded. Every text is escaped."""

from html import escape

from winze import _native

MAX_ROWS = 2000


def program_table(title: str, graph: _native.Graph) -> str:
    """The graph as an HTML table in a `<details>`; at most MAX_ROWS nodes."""
    rows = []
    for count, node in enumerate(graph.nodes):
        if count == MAX_ROWS:
            rows.append(f"<tr><td colspan='4'>... and {len(graph) - MAX_ROWS} more</td></tr>")
            break
        cells = (node.op, node.name, str(node.target), node.format_node())
        rows.append("<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>")
    head = "<tr><th>op</th><th>name</th><th>target</th><th>node</th></tr>"
    return f"<details><summary>{escape(title)}</summary><table>{head}{''.join(rows)}</table></details>"
