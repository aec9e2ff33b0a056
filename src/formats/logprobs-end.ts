import type { LogprobsEvent } from './answer.ts'
import { textOf } from './exact-json.ts'

/** The log probabilities of the last tokens, if they make up `text`; else none. */
export function logprobsOfEnd(event: LogprobsEvent, text: string): readonly LogprobsEvent[] {
  const tokens = event.tokens ?? []
  let start = tokens.length
  let end = ''
  while (end.length < text.length && start > 0) end = (textOf(tokens[--start]?.['token']) ?? '') + end
  return text !== '' && end === text ? [{ ...event, tokens: tokens.slice(start) }] : []
}
