// How pages for people are written: escaped by default, with headers that allow them nothing more than
// they need.
import { createHash } from 'node:crypto'

/** Text that is HTML already. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = Html | string | number | undefined | false | readonly Part[]

/** What is put in is escaped, unless it came from `html` itself. */
export const html = (strings: TemplateStringsArray, ...parts: Part[]): Html =>
  new Html(strings.reduce((text, string, i) => text + textOf(parts[i - 1]) + string))

function textOf(part: Part): string {
  if (part === undefined || part === false) return ''
  if (part instanceof Html) return part.text
  if (typeof part === 'string' || typeof part === 'number') return escape(String(part))
  return part.map(textOf).join('')
}

const ESCAPES: Record<string, string> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}
const escape = (text: string) => text.replace(/[&<>"']/g, (letter) => ESCAPES[letter]!)

/** How a page is shown: by itself, in a small window, or in a frame of the client's page. */
export type Display = 'page' | 'popup' | 'modal'

export interface Page {
  readonly title: string
  readonly body: Html
  readonly status?: number
  readonly display?: Display
  /** Origins and schemes to which a form may lead in the end, beside our own. */
  readonly formTargets?: readonly string[]
  /** Origins whose pages may frame this one; none unless said. */
  readonly framedBy?: readonly string[]
}

export interface Rendered {
  readonly status: number
  readonly headers: Record<string, string>
  readonly body: string
}

/** Renders the pages of a service, in its own style. */
export function pagesIn(style: string): (page: Page) => Rendered {
  const styleHash = createHash('sha256').update(style).digest('base64')
  return (page) => render(page, style, styleHash)
}

function render(page: Page, style: string, styleHash: string): Rendered {
  const { title, body, status = 200, display = 'page', formTargets = [], framedBy = [] } = page
  const ancestors = framedBy.length > 0 ? framedBy.join(' ') : "'none'"
  const policy = [
    "default-src 'none'",
    `style-src 'sha256-${styleHash}'`,
    `form-action ${["'self'", ...formTargets].join(' ')}`,
    "base-uri 'none'",
    `frame-ancestors ${ancestors}`,
  ]
  return {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'cache-control': 'no-store',
      'content-security-policy': policy.join('; '),
      ...(framedBy.length === 0 && { 'x-frame-options': 'DENY' }),
      // Our own forms must show where they come from; nobody else is told.
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
          ${new Html(`<style>${style}</style>`)}
        </head>
        <body class="${display}">
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
