import type { ChatChunk, ChunkHead } from './chat-chunk.ts'
import { isRecord } from './json-value.ts'
import type { JsonObject } from './json-value.ts'
import { chunkOf, headMembers } from './make-chunk.ts'
import { MalformedAnswer } from './malformed-answer.ts'

/** `n` of a request is at most this. */
const choicesMost = 128

/**
 * A complete answer as the chunks of a stream (failover.md row 30): for each choice, by index, its role with what is
 * neither text nor tool calls, reasoning, content, tool calls, then `finish_reason`; usage last, when it was asked for.
 * Log probabilities go with the content; members that are not of the format stay where they are: of the message in the
 * first delta, of the choice in its last chunk, of the answer in the first chunk. At most 128 choices, as many as can
 * be asked for.
 *
 * @throws {MalformedAnswer} when it is no answer
 */
export function completionToChunks(
  body: Uint8Array,
  options: { readonly includeUsage: boolean },
): readonly ChatChunk[] {
  const { choices, usage, object: _object, id, created, model, ...others } = parseObject(body, 'the answer')
  if (!Array.isArray(choices) || !choices.some(isRecord))
    throw new MalformedAnswer('no_choices', 'the answer has no choices')
  if (choices.length > choicesMost)
    throw new MalformedAnswer('malformed', `the answer has more than ${choicesMost} choices`)
  const head = headMembers(headOf({ id, created, model }))
  const nulls = options.includeUsage ? { usage: null } : {}
  const chunks = choices
    .filter(isRecord)
    .flatMap((choice, position) => choiceToDeltas(choice, position))
    .map((choice, position) => chunkOf({ ...head, ...(position === 0 ? others : {}), choices: [choice], ...nulls }))
  if (options.includeUsage && isRecord(usage)) chunks.push(chunkOf({ ...head, choices: [], usage }))
  return chunks
}

function headOf({ id, created, model }: { id: unknown; created: unknown; model: unknown }): ChunkHead {
  return {
    id: typeof id === 'string' ? id : '',
    created: typeof created === 'number' ? created : 0,
    model: typeof model === 'string' ? model : '',
  }
}

/** The `choices[0]` of each chunk that one choice becomes. */
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
  if (Array.isArray(calls) && calls.length > 0) {
    add({ tool_calls: calls.filter(isRecord).map((call, place) => ({ index: place, ...call })) })
  }
  const finishReason =
    typeof reason === 'string' && reason !== ''
      ? reason
      : Array.isArray(calls) && calls.length > 0
        ? 'tool_calls'
        : 'stop'
  add({}, { finish_reason: finishReason, ...others })
  return deltas
}

/** Gathers a stream into a complete answer. */
export interface ChunkAggregator {
  add(chunk: ChatChunk): void
  /** The answer as JSON. @throws {MalformedAnswer} when no chunk had a choice */
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
 * Gathers the chunks of a stream into an answer (failover.md row 31). Choices and tool calls are told apart by index,
 * text of content, refusal, reasoning and arguments is strung together, log probabilities are joined, usage is the
 * last. Of what is not of the format, within a delta strings are strung together, arrays joined, objects merged by the
 * same rule and of anything else the last counts; at the top and in a choice the last counts.
 */
export function chunkAggregator(): ChunkAggregator {
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
    add(chunk) {
      const { choices: received, ...others } = parseObject(chunk.data, 'a chunk')
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
      return new TextEncoder().encode(JSON.stringify(answer))
    },
  }
}

/** Strings in a delta of which the last counts: they are names, not text. */
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

/**
 * Adds `more` to `known`: strings strung together but for those named in `replaced`, arrays joined, objects merged, of
 * the rest the last.
 */
function merge(known: JsonObject, more: JsonObject, replaced: readonly string[]): JsonObject {
  for (const [name, value] of Object.entries(more)) {
    const before = Object.hasOwn(known, name) ? known[name] : undefined
    if (value === null && before !== undefined) continue
    if (typeof value === 'string' && typeof before === 'string' && replaced.includes(name))
      define(known, name, value === '' ? before : value)
    else define(known, name, merged(before, value, replaced))
  }
  return known
}

function merged(before: unknown, value: unknown, replaced: readonly string[]): unknown {
  if (typeof value === 'string' && typeof before === 'string') return before + value
  if (Array.isArray(value) && Array.isArray(before)) {
    // In place: what is gathered is ours alone, and a copy for every chunk would take quadratic time.
    for (const element of value) before.push(element)
    return before
  }
  if (isRecord(value)) return merge(isRecord(before) ? before : emptyRecord(), value, replaced)
  return value
}

function assign(known: JsonObject, more: JsonObject): void {
  for (const [name, value] of Object.entries(more)) define(known, name, value)
}

/** Sets a member whatever its name; `__proto__` too is just a name. */
function define(object: JsonObject, name: string, value: unknown): void {
  if (name === '__proto__')
    Object.defineProperty(object, name, { value, enumerable: true, configurable: true, writable: true })
  else object[name] = value
}

function emptyRecord(): JsonObject {
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
