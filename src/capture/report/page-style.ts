/** How the report looks, in light and dark, and narrow. */
export const PAGE_STYLE = `:root { color-scheme: light dark; --text: #1d2126; --quiet: #5c6670; --back: #fff; --line: #d9dee3; --bad: #b3261e; --box: #f4f6f8; --accent: #0b5cad; }
@media (prefers-color-scheme: dark) { :root { --text: #e3e7eb; --quiet: #9aa5b0; --back: #15181c; --line: #333a42; --bad: #ff8a80; --box: #1e2329; --accent: #7db7ff; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 75rem; padding: 1rem; font: 15px/1.45 system-ui, sans-serif; color: var(--text); background: var(--back); }
h1 { font-size: 1.5rem; margin: 0 0 .5rem; } h2 { font-size: 1.15rem; margin: 1.5rem 0 .5rem; } h4 { margin: .6rem 0 .2rem; font-size: .85rem; color: var(--quiet); }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; margin: 0; } dt { color: var(--quiet); } dd { margin: 0; overflow-wrap: anywhere; }
form { display: flex; flex-wrap: wrap; gap: .75rem 1.25rem; align-items: end; }
fieldset { border: 1px solid var(--line); border-radius: 6px; display: flex; flex-wrap: wrap; gap: .1rem .9rem; }
input[type=search], select { font: inherit; padding: .25rem .4rem; }
button { font: inherit; padding: .3rem .9rem; }
:focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
ol { list-style: none; margin: .5rem 0; padding: 0; }
li { border-top: 1px solid var(--line); } li.inside { padding-left: 1.5rem; }
summary { display: grid; grid-template-columns: 5.2rem 5.5rem 8rem 1fr max-content max-content; gap: .6rem; padding: .3rem .2rem; cursor: pointer; }
summary .what { overflow-wrap: anywhere; } .kind, .took, time, .hint, #status { color: var(--quiet); font-size: .88em; } .actor { overflow: hidden; text-overflow: ellipsis; }
.failed .what, .flag { color: var(--bad); } .flag { font-size: .85em; font-weight: 600; }
.body { padding: 0 0 .8rem 1.2rem; }
pre { margin: 0; padding: .6rem; background: var(--box); border-radius: 6px; overflow: auto; max-height: 30rem; white-space: pre-wrap; overflow-wrap: anywhere; font: 13px/1.4 ui-monospace, monospace; }
#screen { height: 24rem; }
.player { display: flex; flex-wrap: wrap; gap: .75rem; align-items: center; margin-bottom: .5rem; } .player input { flex: 1; min-width: 10rem; }
@media (max-width: 45rem) { summary { grid-template-columns: 5.2rem 1fr; } summary .kind, summary .actor { grid-column: auto; } }
`;
