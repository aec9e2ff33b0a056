import type { AnswerEvent } from './answer.ts'
import type { AssistantPart, Conversation, ToolChoice, Turn } from './conversation.ts'

/** A conversation whose functions may have other names. */
export interface Renamed {
  readonly conversation: Conversation
  /** The changed names → the caller's. Undefined: none was changed. */
  readonly names: ReadonlyMap<string, string> | undefined
}

/** Changes the names of functions that an upstream refuses. A hash keeps them apart. @param allowed absent: all are */
export function withAllowedNames(conversation: Conversation, allowed: RegExp | undefined): Renamed {
  const { turns, tools } = conversation
  const given = [...tools.functions.map(({ name }) => name), ...turns.flatMap(namesIn)]
  const refused = allowed === undefined ? [] : given.filter((name) => name !== '' && !allowed.test(name))
  if (refused.length === 0) return { conversation, names: undefined }
  const changed = new Map(refused.map((name) => [name, allowedName(name)]))
  const renamed = (name: string) => changed.get(name) ?? name
  return {
    conversation: {
      ...conversation,
      turns: turns.map((turn) => withNames(turn, renamed)),
      tools: {
        ...tools,
        functions: tools.functions.map((each) => ({ ...each, name: renamed(each.name) })),
        choice: choiceOf(tools.choice, renamed),
      },
    },
    names: new Map([...changed].map(([name, other]) => [other, name])),
  }
}

/** Gives calls of an answer the caller's names back. */
export function withCallersNames(
  events: readonly AnswerEvent[],
  names: ReadonlyMap<string, string>,
): readonly AnswerEvent[] {
  return events.map((event) =>
    event.kind === 'call' ? { ...event, name: names.get(event.name) ?? event.name } : event,
  )
}

const charactersMax = 64

/** Up to 64 letters, digits, `_` and `-`; no digit or `-` is the first. */
function allowedName(name: string): string {
  const hash = `_${Bun.hash(name).toString(36)}`
  const characters = name.replaceAll(/[^A-Za-z0-9_-]/g, '_').replace(/^(?=[^A-Za-z_])/, '_')
  return characters.slice(0, charactersMax - hash.length) + hash
}

function namesIn(turn: Turn): readonly string[] {
  if (turn.role === 'tool') return turn.name === undefined ? [] : [turn.name]
  return turn.role === 'assistant' ? turn.parts.flatMap((part) => (part.kind === 'call' ? [part.name] : [])) : []
}

function withNames(turn: Turn, renamed: (name: string) => string): Turn {
  if (turn.role === 'tool') return { ...turn, name: turn.name && renamed(turn.name) }
  if (turn.role !== 'assistant') return turn
  const parts = turn.parts.map((part): AssistantPart =>
    part.kind === 'call' ? { ...part, name: renamed(part.name) } : part,
  )
  return { role: 'assistant', parts }
}

function choiceOf(choice: ToolChoice | undefined, renamed: (name: string) => string): ToolChoice | undefined {
  return choice?.kind === 'function' ? { kind: 'function', name: renamed(choice.name) } : choice
}
