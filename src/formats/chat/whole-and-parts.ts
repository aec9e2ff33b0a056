import { isRecord, type JsonObject } from '../../base/json-value.ts'
import { encode } from '../../bytes/text.ts'
import { joinedName } from '../call-arguments.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import type { Part } from '../part.ts'
import { chunkReader, type ChunkHead, type ChunkReader } from './chunk.ts'
import { readCompletion } from './completion.ts'

/** The highest `n` of a request. */
const choicesMax = 128

/**
 * Converts a complete answer to the parts of a stream (failover.md row 30). For each choice: its role, reasoning,
 * content, refusal, tool calls, then `finish_reason`. Usage comes last, if it was asked for. Log probabilities go with
 * the content. Unknown members of a message go into its first delta, those of a choice into its last part, those of the
 * answer into the first part.
 *
 * @throws {MalformedAnswer} without choices, and for more than 128
 */
export function completionToParts(body: Uint8Array, options: { readonly includeUsage: boolean }): readonly Part[] {
  const { choices, usage, object: _object, id, created, model, ...others } = parseObject(body, 'the answer')
  if (!Array.isArray(choices) || !choices.some(isRecord))
    throw new MalformedAnswer('no_choices', 'the answer has no choices')
  if (choices.length > choicesMax)
    throw new MalformedAnswer('malformed', `the answer has more than ${choicesMax} choices`)
  const head = headMembers(headOf({ id, created, model }))
  const nulls = options.includeUsage ? { usage: null } : {}
  const read = chunkReader()
  const parts = choices
    .filter(isRecord)
    .flatMap((choice, position) => choiceToDeltas(choice, position))
    .map((choice, position) =>
      chunkPart({ ...head, ...(position === 0 ? others : {}), choices: [choice], ...nulls }, read),
    )
  if (options.includeUsage && isRecord(usage)) parts.push(chunkPart({ ...head, choices: [], usage }, read))
  return parts
}

function headOf({ id, created, model }: { id: unknown; created: unknown; model: unknown }): ChunkHead {
  return {
    id: typeof id === 'string' ? id : '',
    created: typeof created === 'number' ? created : 0,
    model: typeof model === 'string' ? model : '',
  }
}

/** Converts one choice to the `choices[0]` of its parts. */
function choiceToDeltas(choice: JsonObject, position: number): readonly JsonObject[] {
  const { index: given, message, finish_reason: reason, logprobs = null, ...others } = choice
  const index = typeof given === 'number' ? given : position
  const {
    role = 'assistant',
    content,
    refusal,
    tool_calls: calls,
    reasoning_content,
    reasoning,
    ...rest
  } = isRecord(message) ? message : {}
  const deltas: JsonObject[] = []
  const add = (delta: JsonObject, more: JsonObject = {}) =>
    deltas.push({ index, delta, logprobs: null, finish_reason: null, ...more })
  add({ role, content: calls === undefined || content !== null ? '' : null, refusal: null, ...rest })
  if (isFilled(reasoning_content)) add({ reasoning_content })
  if (isFilled(reasoning)) add({ reasoning })
  if (isFilled(content)) add({ content }, { logprobs })
  if (isFilled(refusal)) add({ refusal }, isFilled(content) ? {} : { logprobs })
  const hasCalls = Array.isArray(calls) && calls.length > 0
  if (hasCalls) add({ tool_calls: calls.filter(isRecord).map((call, place) => ({ ...call, index: place })) })
  add({}, { finish_reason: finishReasonOf(reason, hasCalls), ...others })
  return deltas
}

function finishReasonOf(reason: unknown, hasCalls: boolean): string {
  if (typeof reason === 'string' && reason !== '') return reason
  return hasCalls ? 'tool_calls' : 'stop'
}

/** Gathers a stream into a whole answer. */
export interface PartGatherer {
  add(part: Part): void
  /**
   * Returns the answer as JSON, repaired like one from an upstream.
   *
   * @throws {MalformedAnswer} when no part had a choice, or a tool call has no name
   */
  finish(): Uint8Array
}

interface GatheredChoice {
  readonly index: number
  readonly message: JsonObject
  readonly toolCalls: Map<number, JsonObject>
  readonly others: JsonObject
  finishReason: unknown
  logprobs: JsonObject | null
}

/**
 * Gathers the parts of a stream into a whole answer (failover.md row 31). Choices and tool calls are matched by index.
 * Content, refusal, reasoning, arguments and log probabilities are concatenated; the last usage counts. Unknown members
 * of a delta: strings and arrays are concatenated, objects merged, and of other values the last counts. Of unknown
 * members elsewhere the last counts.
 */
export function partGatherer(): PartGatherer {
  const top: JsonObject = {}
  const choices = new Map<number, GatheredChoice>()

  function addChoice(value: unknown): void {
    if (!isRecord(value)) return
    const { index: given, delta, finish_reason: reason, logprobs, ...others } = value
    const index = typeof given === 'number' ? given : 0
    const choice = choices.get(index) ?? {
      index,
      message: emptyRecord(),
      toolCalls: new Map(),
      others: emptyRecord(),
      finishReason: null,
      logprobs: null,
    }
    choices.set(index, choice)
    if (isRecord(delta)) addDelta(choice, delta)
    if (reason !== undefined && reason !== null) choice.finishReason = reason
    if (isRecord(logprobs)) choice.logprobs = merge(choice.logprobs ?? emptyRecord(), logprobs, [])
    assign(choice.others, others)
  }

  return {
    add(part) {
      const { choices: received, ...others } = parseObject(part.data, 'a part')
      for (const [name, value] of Object.entries(others))
        if (value !== null || !Object.hasOwn(top, name)) define(top, name, value)
      if (Array.isArray(received)) received.forEach(addChoice)
    },
    finish() {
      if (choices.size === 0) throw new MalformedAnswer('no_choices', 'the stream had no choices')
      const { id, created, model, usage, object: _object, obfuscation: _obfuscation, ...others } = top
      const ordered = [...choices.values()].sort((one, other) => one.index - other.index)
      const answer = {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: ordered.map(gathered),
        ...(isRecord(usage) ? { usage } : {}),
        ...others,
      }
      const completion = readCompletion(new TextEncoder().encode(JSON.stringify(answer)))
      if (completion.kind === 'error') throw new MalformedAnswer('malformed', 'the stream is an error')
      return completion.body
    },
  }
}

/** Strings in a delta other than text: the last counts, but `name` may come in pieces. */
const names = ['role', 'id', 'type', 'name', 'signature', 'format', 'index']

function addDelta(choice: GatheredChoice, delta: JsonObject): void {
  const { tool_calls: calls, ...others } = delta
  merge(choice.message, others, names)
  if (!Array.isArray(calls)) return
  for (const call of calls.filter(isRecord)) {
    const { index: given, ...rest } = call
    const index = typeof given === 'number' ? given : 0
    const known = choice.toolCalls.get(index) ?? emptyRecord()
    choice.toolCalls.set(index, merge(known, rest, names))
  }
}

function gathered(choice: GatheredChoice): JsonObject {
  const { role, content, refusal, ...rest } = choice.message
  const calls = [...choice.toolCalls].sort(([one], [other]) => one - other).map(([, call]) => call)
  const isNothing = content === undefined || content === null || (content === '' && calls.length > 0)
  const message = {
    role: typeof role === 'string' && role !== '' ? role : 'assistant',
    content: isNothing ? null : content,
    refusal: isFilled(refusal) ? refusal : null,
    ...rest,
    ...(calls.length > 0 ? { tool_calls: calls } : {}),
  }
  const finishReason = choice.finishReason ?? (calls.length > 0 ? 'tool_calls' : 'stop')
  return { index: choice.index, message, logprobs: choice.logprobs, finish_reason: finishReason, ...choice.others }
}

/** Adds `more` to `known`. Concatenates strings and arrays, merges objects, replaces the rest and `replaced` names. */
function merge(known: Record<string, unknown>, more: JsonObject, replaced: readonly string[]): JsonObject {
  for (const [name, value] of Object.entries(more)) {
    const before = Object.hasOwn(known, name) ? known[name] : undefined
    if (value === null && before !== undefined) continue
    if (typeof value === 'string' && typeof before === 'string' && replaced.includes(name))
      define(known, name, name === 'name' ? joinedName(before, value) : value || before)
    else define(known, name, merged(before, value, replaced))
  }
  return known
}

function merged(before: unknown, value: unknown, replaced: readonly string[]): unknown {
  if (typeof value === 'string' && typeof before === 'string') return before + value
  if (Array.isArray(value) && Array.isArray(before)) {
    // In place: a copy for every part would take quadratic time.
    for (const element of value) before.push(element)
    return before
  }
  if (isRecord(value)) return merge(isRecord(before) ? before : emptyRecord(), value, replaced)
  return value
}

function assign(known: Record<string, unknown>, more: JsonObject): void {
  for (const [name, value] of Object.entries(more)) define(known, name, value)
}

/** Sets a member of any name, `__proto__` included. */
function define(object: Record<string, unknown>, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

function emptyRecord(): Record<string, unknown> {
  return {}
}

function parseObject(bytes: Uint8Array, what: string): JsonObject {
  let value: unknown
  try {
    value = JSON.parse(new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes))
  } catch (cause) {
    throw new MalformedAnswer('malformed', `${what} is not JSON`, { cause })
  }
  if (!isRecord(value)) throw new MalformedAnswer('malformed', `${what} is not a JSON object`)
  return value
}

function isFilled(value: unknown): boolean {
  return value !== undefined && value !== null && value !== ''
}

/**
 * Makes a part of a chunk, as the reader of an upstream's stream would.
 *
 * @param read the reader of a stream; default: one for a new stream
 * @throws {MalformedAnswer} for a malformed chunk, and for an error
 */
export function chunkPart(value: Readonly<Record<string, unknown>>, read: ChunkReader = chunkReader()): Part {
  const part = read(encode(JSON.stringify(value)))
  if (part.kind === 'error') throw new MalformedAnswer('malformed', 'a part cannot be made of an error')
  return part
}

/** The members `id`, `object`, `created` and `model` of a chunk. */
export function headMembers(head: ChunkHead): Record<string, unknown> {
  return { id: head.id, object: 'chat.completion.chunk', created: head.created, model: head.model }
}
