// How the bank's pages are written: escaped by default, without scripts, with headers that allow no more.
import { createHash } from 'node:crypto'

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | undefined

/** What is put in is escaped, unless it came from `html` itself. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.reduce((text, string, i) => text + textOf(parts[i - 1]) + string))

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const textOf = (part: Part): string =>
  part instanceof Html ? part.text : (part ?? '').replace(/[&<>"']/g, (letter) => ESCAPES[letter]!)

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
const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64')

export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
}

export function render({ title, body, status = 200 }: Page) {
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${STYLE_HASH}'`,
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ]
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      'x-frame-options': 'DENY',
      'referrer-policy': 'same-origin',
      'x-content-type-options': 'nosniff',
    },
    body: html`<!doctype html>
      <html lang="en">
        <head>
          <meta charset="utf-8" />
          <meta name="viewport" content="width=device-width, initial-scale=1" />
          <meta name="color-scheme" content="light dark" />
          <title>${title}</title>
          ${new Html(`<style>${STYLE}</style>`)}
        </head>
        <body>
          <main>
            <h1>${title}</h1>
            ${body}
          </main>
        </body>
      </html> `.text,
  }
}

/** A message that screen readers announce. */
export const alertOf = (message: string | undefined): Html =>
  message === undefined ? html`` : html`<p class="alert" role="alert">${message}</p>`
