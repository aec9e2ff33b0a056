import type { ContentPart, Conversation, Turn } from './conversation.ts'
import type { ChangeNotes } from './format.ts'
import { interruptedText, orphanText, pairCalls, type CallView } from './pair-calls.ts'

/** A turn other than a system message. */
export type SpokenTurn = Exclude<Turn, { readonly role: 'system' }>

/** System messages apart from the other turns, for formats that have them only at the top. */
export interface SplitTurns {
  readonly system: readonly ContentPart[]
  readonly spoken: readonly SpokenTurn[]
}

/** Separates the system messages of a conversation from its other turns. */
export function splitSystem(turns: readonly Turn[]): SplitTurns {
  const system = turns.flatMap((turn) => (turn.role === 'system' ? turn.parts : []))
  return { system, spoken: turns.filter((turn) => turn.role !== 'system') }
}

/**
 * Moves system messages behind the first other turn into user messages, in their place, with a mark around their text:
 * moved to the top, they would change the beginning of the conversation, which caches depend on.
 */
export function keepSystemInPlace(turns: readonly Turn[]): readonly Turn[] {
  const first = turns.findIndex(({ role }) => role !== 'system')
  return turns.map((turn, position) => {
    if (turn.role !== 'system' || first === -1 || position < first) return turn
    return {
      role: 'user',
      parts: [{ kind: 'text', text: markedSystem(joinTexts(turn.parts)), cacheControl: undefined }],
    }
  })
}

/** The text of a system message, marked, for a user message in its place. */
export function markedSystem(text: string): string {
  return `<system>\n${text}\n</system>`
}

/** Joins the texts of the parts with line breaks; other kinds of parts are left out. */
export function joinTexts(parts: readonly ContentPart[]): string {
  return parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')
}

/** One message of an upstream's format. */
export interface Message<Role extends string, Piece> {
  readonly role: Role
  readonly pieces: readonly Piece[]
}

/** Joins neighbours with the same role, and leaves out messages without pieces. */
export function mergeNeighbours<Role extends string, Piece>(
  messages: readonly Message<Role, Piece>[],
): readonly Message<Role, Piece>[] {
  const merged: { role: Role; pieces: Piece[] }[] = []
  for (const { role, pieces } of messages) {
    if (pieces.length === 0) continue
    const last = merged.at(-1)
    if (last?.role === role) for (const piece of pieces) last.pieces.push(piece)
    else merged.push({ role, pieces: [...pieces] })
  }
  return merged
}

/** Whether the caller asks for audio in the answer. */
export function asksForAudio({ modalities }: Conversation): boolean {
  return modalities.some((modality) => modality.toLowerCase() === 'audio')
}

/** Results of tools directly behind their calls ({@link pairCalls}). */
export function pairedTurns(turns: readonly Turn[]): readonly Turn[] {
  return pairCalls(turns, turnCalls)
}

const turnCalls: CallView<Turn> = {
  calls: (turn) =>
    turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.kind === 'call' ? [part.id] : [])) : [],
  result: (turn) => (turn.role === 'tool' ? turn.callId : undefined),
  withIds(turn, ids) {
    if (turn.role === 'tool') return { ...turn, callId: ids[0] ?? turn.callId }
    if (turn.role !== 'assistant') return turn
    const rest = [...ids]
    return {
      ...turn,
      parts: turn.parts.map((part) => (part.kind === 'call' ? { ...part, id: rest.shift() ?? part.id } : part)),
    }
  },
  missing: (callId, turn, position) => ({
    role: 'tool',
    callId,
    name: turn.role === 'assistant' ? turn.parts.filter((part) => part.kind === 'call')[position]?.name : undefined,
    parts: [{ kind: 'text', text: interruptedText, cacheControl: undefined }],
    isError: true,
    cacheControl: undefined,
  }),
  asText: (turn) => ({
    role: 'user',
    parts: [{ kind: 'text', text: orphanText, cacheControl: undefined }, ...contentOf(turn)],
  }),
}

function contentOf(turn: Turn): readonly ContentPart[] {
  return turn.role === 'assistant' ? [] : turn.parts
}

/** The stop sequences that a provider takes: none is blank, and at most `most`. Others are noted as left out. */
export function takenStops(
  stops: readonly string[],
  most: number,
  changes: ChangeNotes | undefined,
): readonly string[] {
  const taken = stops.filter((stop) => stop.trim() !== '').slice(0, most)
  if (taken.length < stops.length) changes?.drop('stop')
  return taken
}
