// How the pages look: light and dark, wide, in a small window and in a frame.
export const STYLE = `
:root { color-scheme: light dark; --ink: #1b1f24; --paper: #f4f5f7; --card: #fff; --line: #c3c8d0;
  --soft: #565e6a; --accent: #0b5cad; --on: #fff; --bad: #a3121f; --bad-paper: #fdecee; --loud: #ffd54a; }
@media (prefers-color-scheme: dark) { :root { --ink: #e9ecf1; --paper: #14171c; --card: #1e232b;
  --line: #495261; --soft: #a9b2c0; --accent: #7db8f5; --on: #10141a; --bad: #ff9aa5; --bad-paper: #3a1b20; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--paper); color: var(--ink); line-height: 1.5;
  font: 1rem/1.5 system-ui, -apple-system, 'Segoe UI', Roboto, sans-serif; }
main { max-width: 30rem; margin: 8vh auto; padding: 2rem; background: var(--card);
  border: 1px solid var(--line); border-radius: .75rem; }
main:has(.wide) { max-width: 52rem; margin-top: 4vh; }
.popup main { max-width: none; min-height: 100vh; margin: 0; padding: 1.25rem; border: 0; border-radius: 0; }
.modal { background: transparent; }
.modal main { max-width: 26rem; margin: 0 auto; padding: 1.25rem; }
h1 { margin: 0 0 1rem; font-size: 1.5rem; line-height: 1.25; }
h2 { margin: 2rem 0 .5rem; font-size: 1.1rem; }
label { display: block; margin: 1rem 0 .25rem; font-weight: 600; }
label.check { display: flex; gap: .6rem; align-items: baseline; margin: .5rem 0; font-weight: 400; }
input:not([type=checkbox]) { width: 100%; padding: .6rem .7rem; font: inherit; color: inherit;
  background: var(--paper); border: 1px solid var(--line); border-radius: .4rem; }
button { padding: .6rem 1.2rem; font: inherit; font-weight: 600; cursor: pointer; color: var(--on);
  background: var(--accent); border: 1px solid var(--accent); border-radius: .4rem; }
button.quiet { color: var(--accent); background: transparent; }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px; }
.row { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
.soft { color: var(--soft); }
.alert { padding: .6rem .8rem; color: var(--bad); background: var(--bad-paper);
  border-left: 4px solid var(--bad); border-radius: .25rem; }
.loud { padding: .8rem 1rem; font-weight: 700; color: #1b1400; background: var(--loud);
  border: 3px dashed #7a5c00; border-radius: .4rem; }
fieldset { margin: 1rem 0; padding: .5rem 1rem; border: 1px solid var(--line); border-radius: .4rem; }
table { width: 100%; border-collapse: collapse; }
th, td { padding: .45rem .5rem; text-align: left; vertical-align: top; border-bottom: 1px solid var(--line); }
td { overflow-wrap: anywhere; }
td button { padding: .25rem .7rem; }
time, td button { white-space: nowrap; }
a { color: var(--accent); }
`
