// Text out of the HTML that feeds carry, and text into HTML.

const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
}
const CODE_POINT_MAX = 0x10ffff

/** What a reader sees: tags become spaces, and named and numbered characters are themselves. */
export function plainText(html: string): string {
  if (!html.includes('<') && !html.includes('&')) return html
  return html
    .replace(/<(script|style)\b[\s\S]*?<\/\1\s*>/gi, ' ')
    .replace(/<[^<>]*>/g, ' ')
    .replace(/&(?:#(\d{1,7})|#x([\da-f]{1,6})|(\w{1,8}));/gi, (whole, decimal, hex, name) => {
      if (name) return ENTITIES[name.toLowerCase()] ?? whole
      const point = decimal ? Number(decimal) : parseInt(hex, 16)
      return point > 0 && point <= CODE_POINT_MAX ? String.fromCodePoint(point) : ' '
    })
    .replace(/\s+/g, ' ')
    .trim()
}

export const escapeHtml = (text: string): string =>
  text.replace(/[&<>"]/g, (sign) => `&${{ '&': 'amp', '<': 'lt', '>': 'gt', '"': 'quot' }[sign]};`)
