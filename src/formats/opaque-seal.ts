import { timingSafeEqual } from 'node:crypto'
import type { AnswerEvent } from './answer.ts'
import type { AssistantPart, Conversation, Opaque, Sealed, Turn } from './conversation.ts'
import type { ChangeNotes } from './format.ts'
import { droppedReasoning } from './reasoning-spans.ts'

/** The beginning of data that this service has wrapped. */
export const sealMark = 'svc1:'

/**
 * Wraps data that only its maker can read, for callers of other formats: they send it back unchanged, in a field of
 * their own format. It is unwrapped for its origin alone (docs/decisions/0014-reasoning.md).
 */
export interface OpaqueSeal {
  /** Wraps data of the origin. @param sealed its text is part of the checksum */
  seal(sealed: Sealed): Opaque
  /** Unwraps data. Undefined: it is of another origin, or it or its text was changed. */
  open(sealed: Sealed): Sealed | undefined
}

/** Whether data was wrapped by this service. */
export function isSealed(data: string): boolean {
  return data.startsWith(sealMark)
}

/**
 * Makers by the kind of the data: of reasoning with text, of hidden reasoning, of a call, of an item of Responses;
 * OpenRouter's, with and without text.
 */
const kinds = {
  t: 'anthropic',
  h: 'anthropic',
  g: 'google',
  r: 'openai',
  o: 'openrouter',
  p: 'openrouter',
} as const

/** @param checksum of a text, with the key of the origin: 22 letters, digits, `_` and `-` */
export function opaqueSeal(checksum: (text: string) => string): OpaqueSeal {
  function checksumOf(kind: string, text: string | undefined, data: string): string {
    return checksum(JSON.stringify([kind, kind === 't' || kind === 'o' ? (text ?? '') : '', data]))
  }

  return {
    seal({ text, opaque: { maker, data } }) {
      const kind = kindOf(maker, text !== undefined)
      return { maker: 'sealed', data: `${sealMark}${checksumOf(kind, text, data)}:${kind}${data}` }
    },
    open({ text, opaque }) {
      const [, given = '', kind = '', data = ''] = /^svc1:([\w-]{22}):([thgrop])(.+)$/s.exec(opaque.data) ?? []
      if (!isKind(kind) || !isSame(given, checksumOf(kind, text, data))) return undefined
      return { text: kind === 'h' || kind === 'p' ? undefined : text, opaque: { maker: kinds[kind], data } }
    },
  }
}

function kindOf(maker: Opaque['maker'], hasText: boolean): keyof typeof kinds {
  switch (maker) {
    case 'google':
      return 'g'
    case 'openai':
      return 'r'
    case 'openrouter':
      return hasText ? 'o' : 'p'
    default:
      return hasText ? 't' : 'h'
  }
}

function isKind(kind: string): kind is keyof typeof kinds {
  return Object.hasOwn(kinds, kind)
}

function isSame(one: string, other: string): boolean {
  return one.length === other.length && timingSafeEqual(Buffer.from(one), Buffer.from(other))
}

/**
 * Wraps the data in events of an answer.
 *
 * @param seal absent: it is left out
 * @param keepsOpaque the caller's format carries data as its maker sent it, but for that of Responses
 */
export function sealEvents(
  events: readonly AnswerEvent[],
  seal: OpaqueSeal | undefined,
  keepsOpaque: boolean,
): readonly AnswerEvent[] {
  if (!events.some(hasOpaque)) return events
  return events.flatMap((event): readonly AnswerEvent[] => {
    if (keepsOpaque && (event.kind !== 'sealed' || event.opaque.maker !== 'openai')) return [event]
    if (event.kind === 'sealed') return seal === undefined ? [] : [{ ...event, opaque: seal.seal(event) }]
    if (event.kind !== 'call' || event.opaque === undefined) return [event]
    return [{ ...event, opaque: seal?.seal({ text: undefined, opaque: event.opaque }) }]
  })
}

function hasOpaque(event: AnswerEvent): boolean {
  return event.kind === 'sealed' || (event.kind === 'call' && event.opaque !== undefined)
}

export interface OpenOptions {
  /** Of the provider. Absent: no data is of its origin. */
  readonly seal?: OpaqueSeal | undefined
  /** Gets {@link droppedReasoning} if data is left out. */
  readonly changes?: ChangeNotes | undefined
  /** The caller's format carries data as its maker sent it. Otherwise such data is of providers of that format. */
  readonly keepsOpaque: boolean
}

/**
 * Unwraps the data that a conversation has of this provider, and leaves out all other data. The text of reasoning
 * stays. Data of a call is that of the reasoning before it.
 */
export function openConversation<Given extends Pick<Conversation, 'turns'>>(
  conversation: Given,
  options: OpenOptions,
): Given {
  if (!conversation.turns.some((turn) => turn.role === 'assistant' && turn.parts.some(isOpaque))) return conversation
  return { ...conversation, turns: conversation.turns.map((turn) => openTurn(turn, options)) }
}

function isOpaque(part: AssistantPart): boolean {
  return 'opaque' in part && part.opaque !== undefined
}

function openTurn(turn: Turn, { seal, changes, keepsOpaque }: OpenOptions): Turn {
  if (turn.role !== 'assistant') return turn
  /** Data of the next call. */
  let next: Opaque | undefined

  function opened({ text, opaque }: Sealed): Sealed | undefined {
    if (opaque.maker !== 'sealed' && keepsOpaque) return { text, opaque }
    const own = opaque.maker === 'sealed' ? seal?.open({ text, opaque }) : undefined
    if (own === undefined) changes?.drop(droppedReasoning)
    return own
  }

  const parts = turn.parts.flatMap((part): readonly AssistantPart[] => {
    if (part.kind === 'call') {
      const opaque = keepsOpaque && part.opaque?.maker !== 'sealed' ? (part.opaque ?? next) : next
      next = undefined
      return [{ ...part, opaque }]
    }
    if (part.kind !== 'reasoning' || part.opaque === undefined) return [part]
    const own = opened({ text: part.text, opaque: part.opaque })
    if (own !== undefined && own.opaque.maker !== 'google') return [{ kind: 'reasoning', ...own }]
    next = own?.opaque ?? next
    return part.text === undefined || part.text === ''
      ? []
      : [{ kind: 'reasoning', text: part.text, opaque: undefined }]
  })
  return { role: 'assistant', parts }
}
