// The messages that subscribers get: of which types, and in which words. Pure.
import type { Assignment, Contribution } from './records.ts'

/** By type: what it is called, and what its subject says. */
export const MESSAGE_TYPES = {
  'contribution.created': {
    name: 'A contribution waits for a moderator',
    subject: 'New contribution',
  },
  'contribution.published': { name: 'A contribution was published', subject: 'Published' },
  'contribution.rejected': { name: 'A contribution was rejected', subject: 'Rejected' },
  'contribution.flagged': { name: 'A contribution was flagged', subject: 'Flagged' },
} as const

export type MessageType = keyof typeof MESSAGE_TYPES

export const isMessageType = (type: string): type is MessageType =>
  Object.hasOwn(MESSAGE_TYPES, type)

interface Told {
  readonly contribution: Contribution
  readonly assignment: Assignment | undefined
  readonly includeBody: boolean
  readonly thumbnail: string | undefined
}

export interface Message {
  readonly subject: string
  readonly html: string
}

export function messageOf(type: MessageType, told: Told): Message {
  const { contribution, assignment, includeBody, thumbnail } = told
  const { headline, body, attribution } = contribution
  const paragraphs = [
    `<h1>${escaped(headline)}</h1>`,
    `<p>${escaped(MESSAGE_TYPES[type].name)}${assignment ? `: ${escaped(assignment.name)}` : ''}.</p>`,
    ...(attribution === undefined ? [] : [`<p>By ${escaped(attribution)}</p>`]),
    ...(thumbnail === undefined ? [] : [`<p><img src="${escaped(thumbnail)}" alt=""></p>`]),
    ...(includeBody && body !== undefined ? [`<p>${escaped(body)}</p>`] : []),
  ]
  return {
    subject: `${MESSAGE_TYPES[type].subject}: ${headline}`,
    html: `<!doctype html><html><body>${paragraphs.join('')}</body></html>`,
  }
}

const SIGNS: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text that stands in HTML as it is. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (sign) => SIGNS[sign]!)
