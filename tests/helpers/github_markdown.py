"""A page that shows Markdown about as GitHub does: our own style, no script, nothing loaded.

GitHub lets some HTML through and cleans it; markdown-it lets all of it through, so what is safe
here is safe there.
"""

from __future__ import annotations

from markdown_it import MarkdownIt

_STYLE = """
:root{--ink:#1f2328;--soft:#59636e;--line:#d1d9e0;--paper:#fff;--band:#f6f8fa;--link:#0969da}
*{box-sizing:border-box}
body{margin:0;padding:24px 16px;background:var(--paper);color:var(--ink);
font:14px/1.5 -apple-system,"Segoe UI","Noto Sans",Helvetica,Arial,"DejaVu Sans",sans-serif}
.card{max-width:920px;margin:0 auto;border:1px solid var(--line);border-radius:6px}
.card header{padding:8px 16px;border-bottom:1px solid var(--line);border-radius:6px 6px 0 0;
background:var(--band);color:var(--soft)}
.card header b{color:var(--ink)}
.card header i{margin-left:4px;padding:0 6px;border:1px solid var(--line);border-radius:2em;
font-style:normal;font-size:12px}
.body{padding:16px;overflow-wrap:break-word}
.body>:first-child{margin-top:0}.body>:last-child{margin-bottom:0}
a{color:var(--link);text-decoration:underline;text-underline-offset:3px}
h2{margin:24px 0 16px;padding-bottom:.3em;border-bottom:1px solid var(--line);font-size:1.5em}
h3{margin:24px 0 16px;font-size:1.25em}
p,ul,table,details,blockquote{margin:0 0 16px}
ul{padding-left:2em}li+li{margin-top:.25em}
table{display:block;width:max-content;max-width:100%;overflow:auto;border-spacing:0;border-collapse:collapse}
th,td{padding:6px 13px;border:1px solid var(--line)}
tr:nth-child(2n){background:var(--band)}
code{padding:.2em .4em;border-radius:6px;background:#818b981f;
font:85% ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace}
blockquote{padding:0 1em;border-left:.25em solid var(--line);color:var(--soft)}
summary{cursor:pointer}sub{font-size:75%}
"""
_READER = MarkdownIt("commonmark", {"html": True}).enable(["table", "strikethrough"])


def page(document: str, *, author: str | None = None) -> str:
    """Render a document, as a comment by `author` or as a job summary."""
    said = f"<header><b>{author}</b> <i>bot</i> commented</header>" if author else ""
    return (
        '<!DOCTYPE html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f'<link rel="icon" href="data:,"><title>Markdown</title><style>{_STYLE}</style></head>'
        f'<body><div class="card">{said}<div class="body">{_READER.render(document)}</div></div>'
        "</body></html>"
    )
