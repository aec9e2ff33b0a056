import { isRecord } from '../../src/base/json-value.ts'
import type { ToolCall } from '../history/conversation.ts'

/** Reads the calls of tools of one answer. */
export interface ToolReader {
  /** Adds a `delta` or a `message`. Returns all calls so far. */
  push(said: Readonly<Record<string, unknown>>): readonly ToolCall[]
}

const callsMax = 128

/** Characters of all arguments and results. Further ones are dropped. */
const charactersMax = 1024 * 1024

/**
 * Creates a reader of `tool_calls` (functions and custom tools), of `function_call`, and of `executed_tools`, with
 * which providers report tools that they ran themselves. Members of wrong types are ignored. Never throws.
 */
export function toolReader(): ToolReader {
  const calls = new Map<string, ToolCall>()
  let characters = 0

  /** @param key of the call in this answer */
  function change(key: string, changes: (before: ToolCall) => ToolCall): void {
    const before = calls.get(key)
    if (before === undefined && calls.size >= callsMax) return
    const after = changes(before ?? { id: key, name: '', arguments: '' })
    const more = sizeOf(after) - (before === undefined ? 0 : sizeOf(before))
    if (characters + more > charactersMax) return
    characters += more
    calls.set(key, after)
  }

  function addCall(entry: unknown, place: number, isPart: boolean): void {
    if (!isRecord(entry)) return
    const said = [entry['function'], entry['custom']].find(isRecord) ?? {}
    const id = textOf(entry['id'])
    // A provider without indexes sends each call whole, with an id of its own.
    const key = `call-${isIndex(entry['index']) ? entry['index'] : isPart && id !== '' ? `id-${id}` : place}`
    change(key, (before) => ({
      ...before,
      ...(id === '' ? {} : { id }),
      name: textOf(said['name']) || before.name,
      arguments: before.arguments + (textOf(said['arguments']) || textOf(said['input'])),
    }))
  }

  function addExecuted(entry: unknown, place: number): void {
    if (!isRecord(entry)) return
    const result = textOf(entry['output'])
    change(`ran-${isIndex(entry['index']) ? entry['index'] : place}`, (before) => ({
      ...before,
      name: textOf(entry['name']) || textOf(entry['type']) || before.name,
      arguments: textOf(entry['arguments']) || before.arguments,
      ...(result === '' ? {} : { result }),
    }))
  }

  return {
    push(said) {
      listOf(said['tool_calls']).forEach((entry, place) => addCall(entry, place, !('content' in said)))
      listOf(said['executed_tools']).forEach(addExecuted)
      if (isRecord(said['function_call'])) addCall({ function: said['function_call'], index: 0 }, 0, true)
      return [...calls.values()]
    },
  }
}

function sizeOf({ name, arguments: given, result = '' }: ToolCall): number {
  return name.length + given.length + result.length
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}

function isIndex(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0
}
