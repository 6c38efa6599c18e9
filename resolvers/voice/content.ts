// What a voice message says: exactly one kind of content, read for its words and how long they take.
import { z } from 'zod'
import { optional, text } from '../kernel/shape.ts'
import { BadRequest } from './errors.ts'
import { Malformed, readSsml, type Speech } from './ssml.ts'

const TEXT_LENGTH_MAX = 3_000
const MARKUP_LENGTH_MAX = 6_000
const WORDS_PER_MINUTE = 150
const SPEECH_MS_MIN = 1_000
const SPEECH_MS_MAX = 5 * 60_000
const LANGUAGE = /^[a-z]{2,3}(-[A-Za-z0-9]{2,8}){0,3}$/
const VOICE = /^[A-Za-z][A-Za-z0-9-]{0,63}$/

const spoken = z.object({
  LanguageCode: optional(text),
  Text: optional(text),
  VoiceId: optional(text),
})

export const contentShape = z.object({
  PlainTextMessage: optional(spoken),
  SSMLMessage: optional(spoken),
  CallInstructionsMessage: optional(z.object({ Text: optional(text) })),
})
export type Content = z.output<typeof contentShape>

const KINDS = ['PlainTextMessage', 'SSMLMessage', 'CallInstructionsMessage'] as const

export interface SpokenContent {
  readonly SpokenText: string
  readonly SpeechMs: number
}

/** Reads a content, and refuses one that could not be said. */
export function readContent(content: Content | undefined): SpokenContent {
  const given = KINDS.filter((kind) => content?.[kind])
  if (given.length !== 1) throw BadRequest(`Content must have exactly one of ${KINDS.join(', ')}.`)
  const kind = given[0]!
  const { Text = '', ...voice } = content![kind]!
  checkVoice(kind, voice)
  const speech = readText(kind, Text)
  if (!/[\p{L}\p{N}]/u.test(speech.text)) throw BadRequest(`Content.${kind}.Text says nothing.`)
  if (speech.text.length > TEXT_LENGTH_MAX) {
    throw BadRequest(`Content.${kind}.Text must not have more than ${TEXT_LENGTH_MAX} characters.`)
  }
  const SpeechMs = speechMsOf(speech)
  if (SpeechMs > SPEECH_MS_MAX) {
    throw BadRequest(`Content.${kind}.Text takes longer than ${SPEECH_MS_MAX / 60_000} minutes.`)
  }
  return { SpokenText: speech.text, SpeechMs }
}

function readText(kind: (typeof KINDS)[number], sent: string): Speech {
  if (sent.length > MARKUP_LENGTH_MAX) {
    throw BadRequest(
      `Content.${kind}.Text must not have more than ${MARKUP_LENGTH_MAX} characters.`,
    )
  }
  // Chosen: call instructions are words, unless they are marked up as speech is.
  const isMarkup =
    kind === 'SSMLMessage' || (kind === 'CallInstructionsMessage' && /^\s*</.test(sent))
  if (!isMarkup) return { text: sent.trim(), pauseMs: 0 }
  try {
    return readSsml(sent.trim())
  } catch (error) {
    if (!(error instanceof Malformed)) throw error
    throw BadRequest(`Content.${kind}.Text is not speech markup. ${error.message}`)
  }
}

function checkVoice(
  kind: string,
  { LanguageCode, VoiceId }: { LanguageCode?: string | undefined; VoiceId?: string | undefined },
): void {
  if (LanguageCode !== undefined && !LANGUAGE.test(LanguageCode)) {
    throw BadRequest(`Content.${kind}.LanguageCode must be a language such as en-US.`)
  }
  if (VoiceId !== undefined && !VOICE.test(VoiceId)) {
    throw BadRequest(`Content.${kind}.VoiceId must be the name of a voice such as Joanna.`)
  }
}

function speechMsOf({ text, pauseMs }: Speech): number {
  const words = text.split(/\s+/).length
  return Math.max(SPEECH_MS_MIN, Math.round((words * 60_000) / WORDS_PER_MINUTE + pauseMs))
}
