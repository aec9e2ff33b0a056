import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerEvent } from '../answer.ts'
import { objectOf, objectsOf } from '../exact-json.ts'
import type { Retracer } from '../format.ts'
import { jsonEnd, type JsonEnd } from '../json-end.ts'
import { chatAnswerReader } from './answer-reader.ts'
import { parseChecked } from './read-event.ts'

/**
 * Starts reading parts as events. Chunks do not mark the end of a call: one with complete arguments ends where a text
 * or the next call begins.
 */
export function chatRetracer(): Retracer {
  const reader = chatAnswerReader()
  const open = new Map<number, JsonEnd>()

  function withEnds(event: AnswerEvent): readonly AnswerEvent[] {
    if (event.kind === 'arguments') open.get(event.call)?.read(event.text)
    if (event.kind === 'callEnd') open.delete(event.call)
    if (event.kind !== 'call' && (event.kind !== 'text' || event.text === '')) return [event]
    const ended = [...open].flatMap(([call, { isComplete }]) => (isComplete ? [call] : []))
    for (const call of ended) open.delete(call)
    if (event.kind === 'call') open.set(event.call, jsonEnd())
    return [...ended.map((call) => ({ kind: 'callEnd', choice: 0, call }) as const), event]
  }

  return {
    read({ data }) {
      if (data.length === 0) return []
      const chunk = parseChecked(data)
      if (!objectsOf(chunk['choices']).every(isComparable)) return undefined
      return reader.read(chunk).flatMap(withEnds)
    },
  }
}

/** Whether a choice is the first, and has no content but text, reasoning and calls of functions. */
function isComparable({ index, delta }: JsonObject): boolean {
  const { audio, function_call, tool_calls, images } = objectOf(delta)
  if (index !== 0 || [audio, function_call, images].some((value) => value !== undefined && value !== null)) return false
  return objectsOf(tool_calls).every(({ type, custom }) => type !== 'custom' && custom === undefined)
}
