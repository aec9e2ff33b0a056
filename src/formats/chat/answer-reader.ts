import type { JsonObject } from '../../base/json-value.ts'
import type { AnswerEvent, FinishReason, OwnEvent, TextEvent, TokenCounts } from '../answer.ts'
import { joinedName } from '../call-arguments.ts'
import type { Opaque } from '../conversation.ts'
import { isObject, numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import type { JsonAnswerReader } from '../json-answers.ts'
import { MalformedAnswer } from '../malformed-answer.ts'
import { readThinkingBlock } from '../thinking-block.ts'
import { countsIn, countsOfUsage, lackOf } from '../token-counts.ts'
import type { Usage } from '../usage.ts'
import { readCallSignature } from './call-signature.ts'
import { ReasoningDetails, textOfDetails } from './reasoning-details.ts'

const finishReasons: ReadonlySet<unknown> = new Set<FinishReason>(['stop', 'length', 'tool_calls', 'content_filter'])

/**
 * The writer of the events. `chat`: one of the same format, which also gets members that the formats do not have in
 * common. `other`: one that would lose them, so a call that cannot be translated is malformed.
 */
export type ChatReaderTarget = 'chat' | 'other'

/**
 * Reads a whole, checked and repaired chat completion (docs/api.md).
 *
 * @param usage as the check read it, before the repair
 * @throws {MalformedAnswer} for `other`: a call without a name, or of a custom tool
 */
export function readChatAnswer(
  completion: JsonObject,
  target: ChatReaderTarget = 'chat',
  usage?: Usage,
): readonly AnswerEvent[] {
  const states = new Map<number, ChoiceState>()
  const events = readTop(completion, target, false)
  for (const choice of objectsOf(completion['choices'])) readChoice(events, choice, choice['message'], target, states)
  readUsage(events, completion, usage)
  return events
}

/** Reads chunks. `[DONE]` must not be passed to it. */
export interface ChunkAnswerReader extends JsonAnswerReader {
  /**
   * @param usage as for {@link readChatAnswer}
   * @throws {MalformedAnswer} as {@link readChatAnswer}
   */
  read(chunk: JsonObject, usage?: Usage): readonly AnswerEvent[]
}

/**
 * Starts reading a stream of checked and repaired chunks. Calls end with the finish of their choice: chunks do not mark
 * the end of a call.
 */
export function chatAnswerReader(target: ChatReaderTarget = 'chat'): ChunkAnswerReader {
  const states = new Map<number, ChoiceState>()
  let hasStarted = false
  return {
    // Choices without a finish_reason got one when the stream was checked.
    end: () => [],
    read(chunk, usage) {
      const events = readTop(chunk, target, hasStarted)
      hasStarted = true
      for (const choice of objectsOf(chunk['choices'])) readChoice(events, choice, choice['delta'], target, states)
      readUsage(events, chunk, usage)
      return events
    },
  }
}

/** The start, and the members that belong to no choice. */
function readTop(answer: JsonObject, target: ChatReaderTarget, hasStarted: boolean): AnswerEvent[] {
  const { id, model, created, object: _object, choices: _choices, usage, ...fields } = answer
  const events: AnswerEvent[] = []
  if (!hasStarted) {
    events.push({ kind: 'start', id: textOf(id), model: textOf(model) || undefined, created: numberOf(created) })
  }
  if (target === 'chat') addOwn(events, 'answer', 0, usage === null ? { ...fields, usage } : fields)
  return events
}

/** State of a choice between chunks. */
interface ChoiceState {
  readonly target: ChatReaderTarget
  /** Its calls by index: begun, or held until their name is complete: it may come in pieces. */
  readonly calls: Map<number, 'begun' | HeldCall>
  details: ReasoningDetails | undefined
}

interface HeldCall {
  readonly id: string | undefined
  readonly name: string
  readonly opaque: Opaque | undefined
  readonly text: string
}

/** @param message the whole message, or a delta */
function readChoice(
  events: AnswerEvent[],
  given: JsonObject,
  message: unknown,
  target: ChatReaderTarget,
  states: Map<number, ChoiceState>,
): void {
  const { index, message: _message, delta: _delta, logprobs, finish_reason: reason, ...own } = given
  const choice = numberOf(index) ?? 0
  let state = states.get(choice)
  if (state === undefined) states.set(choice, (state = { target, calls: new Map(), details: undefined }))
  readMessage(events, choice, objectOf(message), state)
  if (target === 'chat') addOwn(events, 'choice', choice, own)
  readLogprobs(events, choice, logprobs)
  if (typeof reason === 'string') finish(events, { choice, raw: reason, stopSequence: stopSequenceOf(own) }, state)
}

function readMessage(events: AnswerEvent[], choice: number, message: JsonObject, state: ChoiceState): void {
  const {
    role: _role,
    content,
    refusal,
    reasoning_content: _,
    tool_calls,
    thinking_blocks: _blocks,
    images,
    ...fields
  } = message
  const own: Record<string, unknown> = fields
  readReasoning(events, { choice, message, own }, state)
  if (state.details !== undefined && (content || refusal || tool_calls)) takeDetails(events, choice, state)
  addText(events, 'text', choice, content)
  addText(events, 'refusal', choice, refusal)
  const pictures = objectsOf(images).map((image) => readImage(choice, image))
  if (!pictures.every(isAllSaid)) own['images'] = images
  const listed = objectsOf(tool_calls)
  const entries = state.target === 'other' && listed.length === 0 ? legacyCall(fields['function_call']) : listed
  const called = entries.map((entry, position) => readCall(choice, entry, position, state))
  if (!called.every(isAllSaid)) own['tool_calls'] = tool_calls
  for (const list of [pictures, called]) for (const event of eventsOf(list)) events.push(event)
  if (state.target === 'chat') addOwn(events, 'message', choice, own)
}

/** A message of a choice. */
interface ReadMessage {
  readonly choice: number
  readonly message: JsonObject
  /** Gets the members that events cannot carry. */
  readonly own: Record<string, unknown>
}

function readReasoning(events: AnswerEvent[], { choice, message, own }: ReadMessage, state: ChoiceState): void {
  const { reasoning_content, thinking_blocks, reasoning_details } = message
  const otherName = otherReasoning(message)
  // Reasoning under another name stays a member of its own. So do lists with content that events cannot carry.
  if (otherName !== undefined) own['reasoning_content'] = reasoning_content
  const seals = objectsOf(thinking_blocks).map((block) => readSeal(choice, block))
  if (!seals.every(isAllSaid)) own['thinking_blocks'] = thinking_blocks
  let reasoning = textOf(reasoning_content) || otherName
  if (reasoning_details !== undefined && state.target === 'other') {
    const details = objectsOf(reasoning_details)
    reasoning ||= textOfDetails(details)
    state.details ??= new ReasoningDetails()
    state.details.add(details, reasoning)
  }
  addReasoning(events, choice, reasoning, eventsOf(seals))
}

/** Reasoning under another name. */
function otherReasoning(message: JsonObject): string | undefined {
  const { reasoning, thinking, reasoning_text, thinking_content, thought } = message
  return textIn(reasoning, thinking) ?? textIn(reasoning_text, thinking_content) ?? textIn(thought)
}

/** The first of the values that is text, and not empty. */
function textIn(one: unknown, other?: unknown): string | undefined {
  return textOf(one) || textOf(other) || undefined
}

/** Ends a block of reasoning, with the data that has to go back to its maker. */
function takeDetails(events: AnswerEvent[], choice: number, state: ChoiceState): void {
  const sealed = state.details?.take()
  if (sealed !== undefined) events.push({ kind: 'sealed', choice, ...sealed })
}

/** The deprecated `function_call`, or a piece of it, as an entry of `tool_calls`. Some upstreams send empty ones. */
function legacyCall(called: unknown): readonly JsonObject[] {
  const { name, arguments: text } = objectOf(called)
  return name || text ? [{ index: 0, function: called }] : []
}

/** Adds each block of reasoning before its seal if the blocks make up the reasoning, else all reasoning first. */
function addReasoning(
  events: AnswerEvent[],
  choice: number,
  reasoning: string | undefined,
  seals: readonly AnswerEvent[],
): void {
  const texts = seals.map((event) => (event.kind === 'sealed' ? (event.text ?? '') : ''))
  if (texts.join('') !== reasoning) {
    addText(events, 'reasoning', choice, reasoning)
    for (const seal of seals) events.push(seal)
    return
  }
  for (const [position, seal] of seals.entries()) {
    addText(events, 'reasoning', choice, texts[position])
    events.push(seal)
  }
}

/** An entry of a list. */
interface ReadItem {
  readonly events: readonly AnswerEvent[]
  /** The events have all its content. */
  readonly isAllSaid: boolean
}

function eventsOf(entries: readonly ReadItem[]): readonly AnswerEvent[] {
  return entries.flatMap(({ events }) => events)
}

function isAllSaid(entry: ReadItem): boolean {
  return entry.isAllSaid
}

function hasOnly(object: JsonObject, ...names: readonly string[]): boolean {
  return Object.keys(object).every((name) => names.includes(name))
}

function readCall(choice: number, entry: JsonObject, position: number, state: ChoiceState): ReadItem {
  const { calls } = state
  const call = numberOf(entry['index']) ?? position
  const known = calls.get(call)
  if (!isReadable(entry, state)) return { events: [], isAllSaid: false }
  const called = objectOf(entry['function'])
  const name = textOf(called['name']) ?? ''
  const text = textOf(called['arguments']) ?? ''
  if (known === 'begun') return { events: argumentEvents(choice, call, text), isAllSaid: isPlainCall(entry) }
  const opaque = readCallSignature(entry)
  const first = known ?? { id: textOf(entry['id']), name: '', opaque, text: '' }
  const held = { ...first, name: joinedName(first.name, name), opaque: opaque ?? first.opaque, text: first.text + text }
  const before = known === undefined ? beginHeld(choice, state) : []
  // Its events come later: with its first arguments, with the next call or with the finish.
  if (held.name === '' || (state.target === 'other' && held.text === '')) {
    calls.set(call, held)
    return { events: before, isAllSaid: false }
  }
  calls.set(call, 'begun')
  const isAllSaid = known === undefined && isPlainCall(entry, ...(opaque === undefined ? [] : ['extra_content']))
  return { events: [...before, ...beginCall(choice, call, held)], isAllSaid }
}

/** Begins the calls that are held and have a name. */
function beginHeld(choice: number, { calls }: ChoiceState): readonly AnswerEvent[] {
  return [...calls].flatMap(([call, held]) => {
    if (held === 'begun' || held.name === '') return []
    calls.set(call, 'begun')
    return beginCall(choice, call, held)
  })
}

/**
 * Whether a call can become events: it is of a function, whose input is JSON.
 *
 * @throws {MalformedAnswer} if it cannot, and would be lost
 */
function isReadable({ type, custom }: JsonObject, { target }: ChoiceState): boolean {
  const isFunction = type !== 'custom' && !isObject(custom)
  if (target === 'chat' || isFunction) return isFunction
  throw new MalformedAnswer('malformed', 'a call of a custom tool')
}

/** Whether a call has no members but the usual ones and these. */
function isPlainCall(entry: JsonObject, ...others: readonly string[]): boolean {
  return (
    hasOnly(entry, 'index', 'id', 'type', 'function', ...others) &&
    hasOnly(objectOf(entry['function']), 'name', 'arguments')
  )
}

function beginCall(choice: number, call: number, { id, name, opaque, text }: HeldCall): readonly AnswerEvent[] {
  return [{ kind: 'call', choice, call, id, name, opaque }, ...argumentEvents(choice, call, text)]
}

function argumentEvents(choice: number, call: number, text: string): readonly AnswerEvent[] {
  return text === '' ? [] : [{ kind: 'arguments', choice, call, text }]
}

function readSeal(choice: number, block: JsonObject): ReadItem {
  const sealed = readThinkingBlock(block)
  const isAllSaid =
    sealed !== undefined && hasOnly(block, 'type', sealed.text === undefined ? 'data' : 'thinking', 'signature')
  return { events: sealed === undefined ? [] : [{ kind: 'sealed', choice, ...sealed }], isAllSaid }
}

/** Reads an image that is data. One at a URL stays a member of this format. */
function readImage(choice: number, image: JsonObject): ReadItem {
  const { url, ...others } = objectOf(image['image_url'])
  const [, mediaType, base64] = /^data:([^;,]*);base64,(.*)$/s.exec(textOf(url) ?? '') ?? []
  const isData = mediaType !== undefined && base64 !== undefined
  return {
    events: isData ? [{ kind: 'image', choice, mediaType, base64 }] : [],
    isAllSaid: isData && hasOnly(image, 'type', 'image_url') && hasOnly(others),
  }
}

/** The matched stop sequence, at the places of vLLM and SGLang. Numbers are tokens of the model's own. */
function stopSequenceOf({ stop_reason, matched_stop }: JsonObject): string | undefined {
  return textOf(stop_reason) || textOf(matched_stop) || undefined
}

interface Ending {
  readonly choice: number
  readonly raw: string
  readonly stopSequence: string | undefined
}

function finish(events: AnswerEvent[], { choice, raw, stopSequence }: Ending, state: ChoiceState): void {
  takeDetails(events, choice, state)
  events.push(...beginHeld(choice, state))
  for (const [call, begun] of state.calls) {
    if (begun === 'begun') events.push({ kind: 'callEnd', choice, call })
    else if (state.target === 'other') throw new MalformedAnswer('malformed', 'a tool call has no name')
  }
  const known = raw === 'function_call' && state.target === 'other' ? 'tool_calls' : raw
  const reason = isFinishReason(known) ? known : 'other'
  events.push({ kind: 'finish', choice, reason, raw, ...(stopSequence === undefined ? {} : { stopSequence }) })
}

function isFinishReason(reason: unknown): reason is FinishReason {
  return finishReasons.has(reason)
}

function readLogprobs(events: AnswerEvent[], choice: number, logprobs: unknown): void {
  if (!isObject(logprobs)) return
  const { content, refusal } = logprobs
  const tokens = Array.isArray(content) ? objectsOf(content) : undefined
  const refusalTokens = Array.isArray(refusal) ? objectsOf(refusal) : undefined
  events.push({ kind: 'logprobs', choice, tokens, refusalTokens })
}

/** Its counts are those of the repaired text, for the caller; what they lack and what is billed is from `read`. */
function readUsage(events: AnswerEvent[], { usage: written }: JsonObject, read: Usage | undefined): void {
  const fields = isObject(written) ? written : undefined
  if (fields === undefined && read === undefined) return
  const shown = fields && countsIn(fields)
  const counts = read === undefined ? (shown ?? noCounts) : { ...countsOfUsage(read), ...shown, ...billingOf(read) }
  events.push({ kind: 'usage', counts, own: fields && { format: 'chat', fields } })
}

const noCounts: TokenCounts = { prompt: 0, completion: 0, lacks: 'both' }

function billingOf({ promptTokens, completionTokens, billed }: Usage): Pick<TokenCounts, 'lacks' | 'billed'> {
  return { lacks: lackOf(promptTokens, completionTokens), billed }
}

function addText(events: AnswerEvent[], kind: TextEvent['kind'], choice: number, text: unknown): void {
  if (typeof text === 'string' && text !== '') events.push({ kind, choice, text })
}

function addOwn(events: AnswerEvent[], at: OwnEvent['at'], choice: number, fields: JsonObject): void {
  if (Object.keys(fields).length > 0) events.push({ kind: 'own', at, choice, format: 'chat', fields })
}
