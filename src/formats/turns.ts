import type { ContentPart, Conversation, Turn } from './conversation.ts'

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
