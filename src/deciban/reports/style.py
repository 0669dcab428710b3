"""The style of reports: light and dark by the reader's wish, narrow and wide screens, and paper."""

from deciban.palette import AGAINST, COLOURS, FOR, GREY, INK, PALE, PAPER

# what each colour of a picture is called, and what it is on a dark page; all text stands out 4.5 : 1 or more
DARK = {
    INK: "#e6e6e6",
    GREY: "#a8b0b8",
    PALE: "#3c444c",
    PAPER: "#15191d",
    **dict(zip(COLOURS, ("#4aa8e0", "#f58a42", "#35c79a", "#e39ac0", "#7cc8f2", "#f0b93a", "#e6e6e6"), strict=True)),
}
NAMES = {colour: f"--c{colour[1:]}" for colour in DARK}


def _variables(dark: bool) -> str:
    return "".join(f"{NAMES[colour]}:{DARK[colour] if dark else colour};" for colour in DARK)


LIGHT_PAGE = f"{_variables(False)}--back:#ffffff;--card:#f5f7f9;--line:#d5dae0;--warn:#fdf0e2;--shade:{COLOURS[0]};"
DARK_PAGE = f"{_variables(True)}--back:#15191d;--card:#1e2429;--line:#3a434b;--warn:#3a2a18;--shade:#2f7fb0;"
STYLE = (
    ":root{color-scheme:light dark;" + LIGHT_PAGE + "}"
    "@media (prefers-color-scheme:dark){:root{" + DARK_PAGE + "}}"
    "@media print{:root{color-scheme:light;" + LIGHT_PAGE + "}}"
    """
*{box-sizing:border-box}
html{font:16px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,"Liberation Sans",sans-serif;scroll-behavior:smooth}
body{margin:0 auto;max-width:72rem;padding:1rem clamp(.8rem,3vw,2.5rem) 3rem;color:var(INK);background:var(--back)}
h1{font-size:1.8rem;line-height:1.2;margin:.6rem 0;overflow-wrap:anywhere}
h2{font-size:1.3rem;margin:2.4rem 0 .6rem;padding-top:.9rem;border-top:1px solid var(--line)}
h3{font-size:1.05rem;margin:1.4rem 0 .4rem;overflow-wrap:anywhere}
p,li,figcaption{max-width:48rem;overflow-wrap:anywhere}
a{color:var(FOR)}
code{font:.92em ui-monospace,"DejaVu Sans Mono",monospace;background:var(--card);padding:.05em .3em;border-radius:4px;
overflow-wrap:anywhere}
blockquote{margin:1.2rem 0 .4rem;padding:.4rem .8rem;border-left:3px solid var(--line);background:var(--card);
white-space:pre-wrap;overflow-wrap:anywhere;max-width:48rem}
mark{border-radius:3px;padding:0 .1em}
.skip{position:absolute;left:-999rem}
.skip:focus{left:1rem;top:.5rem;background:var(--back);padding:.5rem;z-index:1}
nav ul{display:flex;flex-wrap:wrap;gap:.3rem 1.1rem;list-style:none;margin:1rem 0 0;padding:0}
main:focus{outline:none}
:focus-visible{outline:2px solid var(FOR);outline-offset:2px}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(10.5rem,1fr));gap:.8rem;margin:1rem 0;padding:0}
.tiles div{background:var(--card);border:1px solid var(--line);border-radius:8px;padding:.7rem .9rem}
.tiles dt{color:var(GREY);font-size:.85rem}
.tiles dd{margin:0}
.tiles strong{font-size:1.6rem;line-height:1.3;font-variant-numeric:tabular-nums;display:block}
.tiles small{color:var(GREY)}
.warnings{list-style:none;margin:1rem 0;padding:0;display:grid;gap:.5rem}
.warnings li{background:var(--warn);
border-left:4px solid var(AGAINST);border-radius:4px;padding:.5rem .8rem;max-width:none}
.scroll{overflow-x:auto;max-width:100%}
table{border-collapse:collapse;font-size:.92rem;font-variant-numeric:tabular-nums;margin:.6rem 0 1rem}
caption{text-align:left;font-weight:600;padding:.2rem 0 .4rem;caption-side:top}
th,td{padding:.25rem .7rem;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th:first-child{text-align:left;padding-left:.2rem}
tbody th{font-weight:normal;white-space:normal;overflow-wrap:break-word;min-width:7rem;max-width:20rem}
thead th{color:var(GREY);font-weight:600;vertical-align:bottom;white-space:normal}
tfoot td:last-child{white-space:normal;text-align:left}
tfoot th,tfoot td{border-top:2px solid var(--line);border-bottom:0;font-weight:700}
th.text{text-align:left}thead th.middle{text-align:center;white-space:nowrap}
td.text{text-align:left;white-space:normal;overflow-wrap:anywhere;min-width:9rem;max-width:26rem}
td.shade{background:color-mix(in srgb,var(--shade) calc(var(--share)*.6),transparent);text-align:center}
td.right{font-weight:700}
td.bars{min-width:min(9rem,24vw)}
.bar{position:relative;display:block;height:.8rem;
background:linear-gradient(var(GREY),var(GREY)) 50% 0/1px 100% no-repeat}
.bar i{position:absolute;top:0;bottom:0}
.for{background:var(FOR)}.against{background:var(AGAINST)}
figure{margin:1rem 0}
figure svg{display:block;max-width:100%;height:auto}
figure svg *{stroke-linejoin:round}
figure svg.wide{min-width:34rem}
figure svg text{fill:var(INK)}
figcaption,.note,footer{color:var(GREY);font-size:.9rem}
.pair{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(22rem,100%),1fr));gap:1rem 2rem}
.pair>*{min-width:0}
footer{margin-top:3rem;border-top:1px solid var(--line);padding-top:.8rem}
@media (max-width:600px){table{font-size:.84rem}th,td{padding:.25rem .35rem}tbody th{min-width:6rem;max-width:9rem}
td.text{min-width:8rem}}
@media print{body{max-width:none;padding:0;font-size:10.5pt}nav,.skip{display:none}
.scroll{overflow:visible}section>h2,h3,caption{break-after:avoid}figure,tr,.tiles div,.warnings li{break-inside:avoid}
.warnings li,.for,.against,mark,td.shade{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
)
for word, colour in (("INK", INK), ("GREY", GREY), ("FOR", FOR), ("AGAINST", AGAINST)):
    STYLE = STYLE.replace(f"var({word})", f"var({NAMES[colour]})")
