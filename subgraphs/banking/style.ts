// How the bank's pages look.
import { pagesIn } from '../server/html.ts'

const STYLE = `
:root { color-scheme: light dark; --ink: #16201c; --paper: #f3f6f4; --card: #fff; --line: #bcc8c2;
  --soft: #52605a; --accent: #0a6b4b; --on: #fff; --bad: #a3121f; --bad-paper: #fdecee; }
@media (prefers-color-scheme: dark) { :root { --ink: #e7eeea; --paper: #121715; --card: #1b2220;
  --line: #46534d; --soft: #a6b5ad; --accent: #6fd3ab; --on: #0d1512; --bad: #ff9aa5; --bad-paper: #3a1b20; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink);
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 28rem; margin: 8vh auto; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .75rem; }
h1 { margin: 0 0 1rem; font-size: 1.4rem; line-height: 1.25; }
.amount { margin: 0; font-size: 2.2rem; font-weight: 700; }
.soft { color: var(--soft); }
.text { white-space: pre-wrap; overflow-wrap: anywhere; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
input { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: .4rem; }
button { width: 100%; margin-top: 1.5rem; padding: .7rem; font: inherit; font-weight: 600; cursor: pointer;
  color: var(--on); background: var(--accent); border: 0; border-radius: .4rem; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.alert { padding: .6rem .8rem; color: var(--bad); background: var(--bad-paper);
  border-left: 4px solid var(--bad); border-radius: .25rem; }
a { color: var(--accent); }
`

export const render = pagesIn(STYLE)
