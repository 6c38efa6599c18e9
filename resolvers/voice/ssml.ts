// Speech markup read for what is said: its words and its pauses. Pure.
//
// 1. The length of the text is bounded before it comes here, and depth is bounded here.
// 2. There is no document type and no entity beyond the five of XML: nothing expands.

const DEPTH_MAX = 32
const PAUSE_MS_MAX = 10_000

/** How long a pause is that names a strength instead of a time. */
const STRENGTH_MS = new Map([
  ['none', 0],
  ['x-weak', 0],
  ['weak', 250],
  ['medium', 500],
  ['strong', 750],
  ['x-strong', 1_250],
])
/** Paragraphs and sentences end with a pause. */
const END_MS: Readonly<Record<string, number>> = { p: 750, s: 500 }
// prettier-ignore
const ELEMENTS = new Set([
  'amazon:auto-breaths', 'amazon:breath', 'amazon:domain', 'amazon:effect', 'audio', 'break',
  'emphasis', 'lang', 'mark', 'p', 'phoneme', 'prosody', 's', 'say-as', 'speak', 'sub', 'voice', 'w',
])
const ENTITIES = new Map([
  ['amp', '&'],
  ['lt', '<'],
  ['gt', '>'],
  ['quot', '"'],
  ['apos', "'"],
])

export interface Speech {
  readonly text: string
  readonly pauseMs: number
}

/** What is wrong with a markup, and where. */
export class Malformed extends Error {}

interface Element {
  readonly name: string
  /** Said in place of what the element holds. */
  readonly alias: string | undefined
}

interface Tag {
  readonly name: string
  readonly attributes: ReadonlyMap<string, string>
  readonly kind: 'open' | 'close' | 'empty'
}

/** Reads a whole `<speak>` document. Throws Malformed, naming the place, when it is not one. */
export function readSsml(markup: string): Speech {
  let text = ''
  let pauseMs = 0
  const open: Element[] = []
  let isOver = false

  const say = (words: string) => {
    if (open.some(({ alias }) => alias !== undefined)) return
    text += words
  }
  const enter = (tag: Tag, at: number) => {
    if (open.length === 0 && (tag.name !== 'speak' || isOver)) {
      throw new Malformed(`There must be one element speak around everything, at ${at}.`)
    }
    if (open.length >= DEPTH_MAX)
      throw new Malformed(`More than ${DEPTH_MAX} elements deep at ${at}.`)
    const alias = tag.name === 'sub' ? tag.attributes.get('alias') : undefined
    if (alias !== undefined) say(` ${alias} `)
    open.push({ name: tag.name, alias })
  }
  const leave = (name: string, at: number) => {
    const element = open.pop()
    if (element?.name !== name)
      throw new Malformed(`The end of ${name} at ${at} fits no beginning.`)
    pauseMs += END_MS[name] ?? 0
    say(' ')
    isOver = open.length === 0
  }

  for (const { at, source, isMarkup } of piecesOf(markup)) {
    if (!isMarkup) {
      if (open.length > 0) say(unescape(source, at))
      else if (source.trim() !== '') throw new Malformed(`Text outside of speak at ${at}.`)
      continue
    }
    const tag = readTag(source, at)
    if (tag.kind === 'close') leave(tag.name, at)
    else enter(tag, at)
    if (tag.name === 'break' && tag.kind !== 'close') pauseMs += pauseOf(tag, at)
    if (tag.kind === 'empty') leave(tag.name, at)
  }
  if (open.length > 0) throw new Malformed(`The element ${open.at(-1)!.name} has no end.`)
  if (!isOver) throw new Malformed('There is no element speak.')
  return { text: text.replace(/\s+/g, ' ').trim(), pauseMs }
}

interface Piece {
  readonly at: number
  readonly source: string
  readonly isMarkup: boolean
}

/** From < to >, where a quoted value may hold either. */
const ONE_TAG = /<(?:[^<>"']|"[^"]*"|'[^']*')*>/y

/** The tags of a markup and the text between them. Comments and an XML declaration are left out. */
function* piecesOf(markup: string): Generator<Piece> {
  let at = 0
  const skipTo = (end: string) => {
    const found = markup.indexOf(end, at)
    if (found < 0) throw new Malformed(`${end} is missing after ${at}.`)
    at = found + end.length
  }
  if (markup.startsWith('<?xml ')) skipTo('?>')
  while (at < markup.length) {
    if (markup.startsWith('<!--', at)) {
      skipTo('-->')
      continue
    }
    const start = at
    if (markup[at] === '<') {
      ONE_TAG.lastIndex = at
      const source = ONE_TAG.exec(markup)?.[0]
      if (source === undefined) throw new Malformed(`The tag at ${at} has no end.`)
      at += source.length
      yield { at: start, source, isMarkup: true }
    } else {
      const next = markup.indexOf('<', at)
      at = next < 0 ? markup.length : next
      yield { at: start, source: markup.slice(start, at), isMarkup: false }
    }
  }
}

const TAG = /^<(\/?)([a-z][a-z0-9:-]*)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>$/

function readTag(source: string, at: number): Tag {
  const [, closing, name = '', list = '', empty] = TAG.exec(source) ?? []
  if (!ELEMENTS.has(name) || (closing && (list || empty))) {
    throw new Malformed(`${source.slice(0, 40)} at ${at} is no element of speech markup.`)
  }
  const attributes = new Map<string, string>()
  for (const [, key = '', double, single] of list.matchAll(
    /([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g,
  )) {
    if (attributes.has(key)) throw new Malformed(`${key} is there twice at ${at}.`)
    attributes.set(key, unescape(double ?? single ?? '', at))
  }
  return { name, attributes, kind: closing ? 'close' : empty ? 'empty' : 'open' }
}

function pauseOf({ attributes }: Tag, at: number): number {
  const time = attributes.get('time')
  if (time === undefined) {
    const ms = STRENGTH_MS.get(attributes.get('strength') ?? 'medium')
    if (ms === undefined) throw new Malformed(`The break at ${at} has an unknown strength.`)
    return ms
  }
  const [, number, unit] = /^\+?(\d{1,6}(?:\.\d{1,6})?)(ms|s)$/.exec(time) ?? []
  const ms = Number(number) * (unit === 's' ? 1000 : 1)
  if (!(ms <= PAUSE_MS_MAX)) {
    throw new Malformed(`The break at ${at} must be a time such as 500ms, of 10s at most.`)
  }
  return ms
}

function unescape(text: string, at: number): string {
  return text.replace(/&([^;&\s]{0,10};?)/g, (_, name: string) => {
    const number = /^#(?:x([0-9a-f]{1,6})|(\d{1,7}));$/i.exec(name)
    const code = number ? Number.parseInt(number[1] ?? number[2]!, number[1] ? 16 : 10) : NaN
    const letter = Number.isNaN(code) ? ENTITIES.get(name.slice(0, -1)) : letterOf(code)
    if (letter === undefined || !name.endsWith(';')) {
      throw new Malformed(`An ampersand after ${at} must be written &amp;.`)
    }
    return letter
  })
}

const letterOf = (code: number): string | undefined =>
  code > 0 && code <= 0x10ffff && (code < 0xd800 || code > 0xdfff)
    ? String.fromCodePoint(code)
    : undefined
