import type { JsonObject } from '../../base/json-value.ts'
import { UpstreamFailure } from '../../service/failure.ts'
import type {
  AnswerEvent,
  ArgumentsEvent,
  CallEndEvent,
  CallEvent,
  FinishEvent,
  FinishReason,
  StartEvent,
  TextEvent,
  TokenCounts,
  UsageEvent,
} from '../answer.ts'
import type { Sealed } from '../conversation.ts'
import { isObject, parseJson } from '../exact-json.ts'
import type { PartWriter } from '../format.ts'
import { madeUpId } from '../made-up-id.ts'
import { hiddenThought, type Part } from '../part.ts'
import { stringInput, type StringInput } from '../string-input.ts'
import { countedUsage } from '../usage.ts'
import { clientCalls } from './answer-reader.ts'
import { ownReasoningId } from './request.ts'
import { writeResponse, type ResponseObjectHead, type ResponseState } from './response-object.ts'
import { responsePart } from './response-part.ts'
import type { DeclaredTool, ToolNames } from './tool-names.ts'

/** Limit of a streamed answer, which is kept because its last event has all of it. A longer one fails. */
const charactersMax = 16 * 1024 * 1024

export interface ResponseWriterOptions {
  /** The model's name if the answer has none. */
  readonly model: string
  /** See `echoOf`. */
  readonly echo: string
  readonly names: ToolNames
  /** The caller wants the data that only the maker of the answer can read. */
  readonly isSealed: boolean
  /** Estimated tokens of the request, for an upstream that counts none. Absent: nothing is estimated. */
  readonly promptTokens?: () => number
  /** The stream whose beginning the client has. Default: a new stream. */
  readonly continued?: ContinuedResponse | undefined
}

/** A stream that was cut. */
export interface ContinuedResponse {
  readonly head: ResponseObjectHead
  readonly nextSequenceNumber: number
  /** The message that was being written. Undefined: none had begun. */
  readonly message: { readonly id: string; readonly outputIndex: number; readonly contentIndex: number } | undefined
  /** Its text so far. */
  readonly text: string
  /** Items that have ended. */
  readonly items: readonly { readonly index: number; readonly item: JsonObject }[]
}

/** Writes one response from answer events: as the parts of a stream, and as a whole. */
export interface ResponseWriter extends PartWriter {
  /** The response as JSON. */
  whole(): string
  /** It finished with `stop` and has no content (failover.md row 27). */
  isEmpty(): boolean
  /** No item was written. */
  isBlank(): boolean
}

interface OpenMessage {
  readonly kind: 'message'
  readonly id: string
  readonly index: number
  /** Finished parts as JSON. */
  readonly parts: string[]
  open: OpenText | undefined
}

interface OpenText {
  readonly kind: 'text' | 'refusal'
  readonly index: number
  text: string
  readonly logprobs: JsonObject[]
}

interface OpenReasoning {
  readonly kind: 'reasoning'
  readonly id: string
  readonly index: number
  text: string
}

interface OpenCall {
  readonly id: string
  readonly index: number
  readonly callId: string
  readonly tool: DeclaredTool
  /** Of a custom tool. */
  readonly decoder: StringInput | undefined
  /** Arguments, or the input of a custom tool. */
  text: string
}

/** Starts writing a response. */
export function responseWriter(options: ResponseWriterOptions): ResponseWriter {
  return new ResponseWriting(options)
}

class ResponseWriting implements ResponseWriter {
  readonly #options: ResponseWriterOptions
  readonly #echo: string
  readonly #names: ToolNames
  readonly #isSealed: boolean
  #head: ResponseObjectHead | undefined
  #sequence: number
  /** Items by their index: as JSON once they are finished. */
  readonly #output: (string | undefined)[] = []
  #open: OpenMessage | OpenReasoning | undefined
  readonly #calls = new Map<number, OpenCall>()
  #hasCalls = false
  #parts: Part[] = []
  #characters: number
  #finish: FinishEvent | undefined
  #usage: UsageEvent | undefined
  readonly hasOneChoice = true

  constructor(options: ResponseWriterOptions) {
    this.#options = options
    const { echo, names, isSealed, continued } = options
    this.#echo = echo
    this.#names = names
    this.#isSealed = isSealed
    this.#head = continued?.head
    this.#sequence = continued?.nextSequenceNumber ?? 0
    this.#open = continued && openedBefore(continued)
    for (const { index, item } of continued?.items ?? []) {
      this.#output[index] = JSON.stringify(item)
      this.#hasCalls ||= clientCalls.includes(String(item['type']))
    }
    if (this.#open !== undefined) this.#output[this.#open.index] = undefined
    this.#characters = continued?.text.length ?? 0
  }

  write(events: readonly AnswerEvent[]): readonly Part[] {
    for (const event of events) {
      // This format has one answer.
      if ('choice' in event && event.choice !== 0) continue
      if (this.#finish === undefined || event.kind === 'usage') this.#write(event, events)
    }
    return this.#taken()
  }

  end(): readonly Part[] {
    const ended = this.#state()
    const response = `"response":${writeResponse(this.#begin(), ended, this.#echo)}`
    const counted = this.#usage && countedUsage(this.#usage.counts)
    this.#emit(`response.${ended.status}`, response, { usage: counted, hasOpenChoice: false })
    return this.#taken()
  }

  whole(): string {
    return writeResponse(this.#begin(), this.#state(), this.#echo)
  }

  isEmpty(): boolean {
    return this.#finish?.reason === 'stop' && this.#output.length === 0
  }

  isBlank(): boolean {
    return this.#output.length === 0
  }

  #emit(type: string, members: string, facts?: Partial<Part>): void {
    this.#parts.push(responsePart(type, `{"type":"${type}","sequence_number":${this.#sequence++},${members}}`, facts))
  }

  #count(text: string): void {
    this.#characters += text.length
    if (this.#characters > charactersMax)
      throw new UpstreamFailure('too_large', 'the answer is too large', { status: 200 })
  }

  #begin(start?: StartEvent): ResponseObjectHead {
    if (this.#head !== undefined) return this.#head
    this.#head = {
      id: madeUpId('resp_'),
      createdAt: start?.created ?? Math.floor(Date.now() / 1000),
      model: start?.model ?? this.#options.model,
    }
    const response = `"response":${writeResponse(this.#head, { status: 'in_progress', output: [] }, this.#echo)}`
    this.#emit('response.created', response)
    this.#emit('response.in_progress', response)
    return this.#head
  }

  /** Adds an item, in its first state. */
  #addItem(prefix: string, item: (id: string) => JsonObject, facts?: Partial<Part>): { id: string; index: number } {
    this.#begin()
    const index = this.#output.length
    this.#output.push(undefined)
    const id = madeUpId(prefix)
    this.#emit('response.output_item.added', `"output_index":${index},"item":${JSON.stringify(item(id))}`, facts)
    return { id, index }
  }

  #endItem(index: number, item: JsonObject, facts?: Partial<Part>): void {
    const json = JSON.stringify(item)
    this.#output[index] = json
    this.#emit('response.output_item.done', `"output_index":${index},"item":${json}`, facts)
  }

  #messageOf(): OpenMessage {
    if (this.#open?.kind === 'message') return this.#open
    this.#closeOpen()
    const added = this.#addItem('msg_', (id) => ({
      id,
      type: 'message',
      status: 'in_progress',
      role: 'assistant',
      content: [],
    }))
    const message: OpenMessage = { kind: 'message', ...added, parts: [], open: undefined }
    this.#open = message
    return message
  }

  #textOf(kind: OpenText['kind']): { readonly message: OpenMessage; readonly part: OpenText } {
    const message = this.#messageOf()
    if (message.open?.kind === kind) return { message, part: message.open }
    this.#closePart(message)
    const part: OpenText = { kind, index: message.parts.length, text: '', logprobs: [] }
    message.open = part
    this.#emit('response.content_part.added', `${placeOf(message, part)},"part":${writePart(part)}`)
    return { message, part }
  }

  #addText({ kind, text }: TextEvent, tokens: readonly JsonObject[]): void {
    if (text === '') return
    this.#count(text)
    if (kind === 'reasoning') return this.#addReasoning(text)
    const { message, part } = this.#textOf(kind)
    part.text += text
    const delta = `${placeOf(message, part)},"delta":${JSON.stringify(text)}`
    if (kind === 'refusal')
      return this.#emit('response.refusal.delta', delta, { isMeaningful: true, isBeyondText: true })
    for (const token of tokens) part.logprobs.push(token)
    this.#emit('response.output_text.delta', `${delta},"logprobs":${JSON.stringify(tokens)}`, {
      isMeaningful: true,
      text,
    })
  }

  #addReasoning(text: string): void {
    let reasoning = this.#open
    if (reasoning?.kind !== 'reasoning') {
      this.#closeOpen()
      reasoning = {
        kind: 'reasoning',
        ...this.#addItem(ownReasoningId, (id) => ({ id, type: 'reasoning', summary: [] })),
        text: '',
      }
      this.#open = reasoning
      this.#emit('response.reasoning_summary_part.added', `${summaryPlace(reasoning)},"part":${writeSummary('')}`)
    }
    reasoning.text += text
    const members = `${summaryPlace(reasoning)},"delta":${JSON.stringify(text)}`
    this.#emit('response.reasoning_summary_text.delta', members, { isMeaningful: true, isBeyondText: true })
  }

  #closePart(message: OpenMessage): void {
    const part = message.open
    if (part === undefined) return
    message.open = undefined
    const json = writePart(part)
    message.parts.push(json)
    const text = JSON.stringify(part.text)
    const place = placeOf(message, part)
    if (part.kind === 'refusal') this.#emit('response.refusal.done', `${place},"refusal":${text}`)
    else this.#emit('response.output_text.done', `${place},"text":${text},"logprobs":${JSON.stringify(part.logprobs)}`)
    this.#emit('response.content_part.done', `${place},"part":${json}`)
  }

  /** Ends the open message or reasoning. */
  #closeOpen({ encrypted, isCut = false }: { encrypted?: string | undefined; isCut?: boolean } = {}): void {
    const item = this.#open
    this.#open = undefined
    if (item === undefined) return
    if (item.kind === 'message') {
      this.#closePart(item)
      const status = isCut ? 'incomplete' : 'completed'
      const head = `"id":${JSON.stringify(item.id)},"type":"message","status":"${status}","role":"assistant"`
      const json = `{${head},"content":[${item.parts.join(',')}]}`
      this.#output[item.index] = json
      return this.#emit('response.output_item.done', `"output_index":${item.index},"item":${json}`)
    }
    const { id, index, text } = item
    this.#emit('response.reasoning_summary_text.done', `${summaryPlace(item)},"text":${JSON.stringify(text)}`)
    this.#emit('response.reasoning_summary_part.done', `${summaryPlace(item)},"part":${writeSummary(text)}`)
    this.#endItem(index, writeReasoning(id, text, encrypted))
  }

  #seal(event: Sealed): void {
    const encrypted = this.#isSealed ? event.opaque.data : undefined
    if (this.#open?.kind === 'reasoning' && event.text !== undefined) return this.#closeOpen({ encrypted })
    if (encrypted === undefined) return
    this.#closeOpen()
    const { id, index } = this.#addItem(ownReasoningId, (given) => ({ id: given, type: 'reasoning', summary: [] }))
    this.#endItem(index, writeReasoning(id, event.text ?? '', encrypted), hiddenThought)
  }

  #addCall({ call, id, name, opaque }: CallEvent): void {
    this.#hasCalls = true
    // Data of the call goes with the reasoning before it.
    if (opaque !== undefined) this.#seal({ text: this.#open?.kind === 'reasoning' ? '' : undefined, opaque })
    this.#closeOpen()
    const tool = this.#names.find(name)
    const callId = id ?? madeUpId('call_')
    const added = this.#addItem(
      prefixes[tool.kind],
      (given) => writeCall({ id: given, callId, tool, text: '' }, 'in_progress'),
      { isMeaningful: true, isBeyondText: true },
    )
    const decoder = tool.kind === 'custom' ? stringInput() : undefined
    this.#calls.set(call, { ...added, callId, tool, decoder, text: '' })
  }

  #addArguments({ call, text }: Pick<ArgumentsEvent, 'call' | 'text'>): void {
    const opened = this.#calls.get(call)
    if (opened === undefined) return
    this.#count(text)
    this.#addInput(opened, opened.decoder === undefined ? text : opened.decoder.push(text))
  }

  #addInput(call: OpenCall, text: string): void {
    if (text === '') return
    call.text += text
    if (call.tool.kind === 'tool_search') return
    this.#emit(`response.${inputs[call.tool.kind].event}.delta`, `${callPlace(call)},"delta":${JSON.stringify(text)}`, {
      isMeaningful: true,
      isBeyondText: true,
    })
  }

  /** @param isCut the answer ended at its limit, perhaps inside the arguments: a call that is not whole never ends */
  #endCall({ call }: CallEndEvent, isCut: boolean): void {
    const opened = this.#calls.get(call)
    if (opened === undefined) return
    this.#calls.delete(call)
    if (isCut && (opened.decoder !== undefined || !isWhole(opened.text))) {
      this.#output[opened.index] = JSON.stringify(writeCall(opened, 'incomplete'))
      return
    }
    this.#addInput(opened, opened.decoder?.end() ?? (opened.text.trim() === '' ? '{}' : ''))
    const { kind } = opened.tool
    if (kind !== 'tool_search') {
      const { event, member } = inputs[kind]
      this.#emit(`response.${event}.done`, `${callPlace(opened)},"${member}":${JSON.stringify(opened.text)}`)
    }
    this.#endItem(opened.index, writeCall(opened, 'completed'))
  }

  #addImage(base64: string): void {
    this.#closeOpen()
    this.#count(base64)
    const { id, index } = this.#addItem(
      'ig_',
      (given) => ({ id: given, type: 'image_generation_call', status: 'in_progress', result: null }),
      { isMeaningful: true, isBeyondText: true },
    )
    this.#endItem(index, { id, type: 'image_generation_call', status: 'completed', result: base64 })
  }

  #end(event: FinishEvent): void {
    if (this.#finish !== undefined) return
    this.#begin()
    this.#closeOpen({ isCut: event.reason === 'length' || event.reason === 'other' })
    this.#finish = event
    const finishReason = event.reason === 'other' ? (event.raw ?? 'stop') : event.reason
    this.#parts.push(responsePart(undefined, undefined, { isMeaningful: true, finishReason, hasOpenChoice: false }))
  }

  #write(event: AnswerEvent, piece: readonly AnswerEvent[]): void {
    switch (event.kind) {
      case 'start':
        this.#begin(event)
        break
      case 'text':
      case 'reasoning':
      case 'refusal':
        this.#addText(event, tokensOf(event, piece))
        break
      case 'sealed':
        this.#seal(event)
        break
      case 'call':
        this.#addCall(event)
        break
      case 'arguments':
        this.#addArguments(event)
        break
      case 'callEnd':
        this.#endCall(
          event,
          piece.some((each) => each.kind === 'finish' && cutting.has(each.reason)),
        )
        break
      case 'image':
        this.#addImage(event.base64)
        break
      case 'finish':
        this.#end(event)
        break
      case 'usage':
        this.#usage = event
        break
      case 'logprobs':
      case 'own':
        break
    }
  }

  #state(): ResponseState {
    const items = this.#output.filter((item) => item !== undefined)
    const reason = this.#finish && incompleteReason(this.#finish, this.#hasCalls)
    const isRefusal = reason === 'content_filter' && items.some((item) => item.includes('{"type":"refusal"'))
    const counts = this.#usage?.counts ?? this.#estimate()
    if (reason === undefined || isRefusal) return { status: 'completed', output: items, usage: counts }
    return { status: 'incomplete', reason, output: items, usage: counts }
  }

  /** Clients compact their history by it. */
  #estimate(): TokenCounts | undefined {
    const prompt = this.#options.promptTokens?.()
    return prompt === undefined ? undefined : { prompt, completion: Math.ceil(this.#characters / 4) }
  }

  #taken(): readonly Part[] {
    const written = this.#parts
    this.#parts = []
    return written
  }
}

const prefixes: Readonly<Record<DeclaredTool['kind'], string>> = {
  function: 'fc_',
  custom: 'ctc_',
  tool_search: 'tsc_',
}

/** Names of the events about a call's input, and of the member that has it. */
const inputs = {
  function: { event: 'function_call_arguments', member: 'arguments' },
  custom: { event: 'custom_tool_call_input', member: 'input' },
} as const

/** Finishes at which a call may be cut. */
const cutting: ReadonlySet<FinishReason> = new Set<FinishReason>(['length', 'content_filter'])

const incompleteReasons: ReadonlyMap<FinishReason, string> = new Map<FinishReason, string>([
  ['length', 'max_output_tokens'],
  ['content_filter', 'content_filter'],
])

/** Why a response is incomplete. A reason that only the upstream knows is one, unless the answer is its calls. */
function incompleteReason({ reason, raw }: FinishEvent, hasCalls: boolean): string | undefined {
  return reason === 'other' && !hasCalls ? raw : incompleteReasons.get(reason)
}

function openedBefore({ message, text }: ContinuedResponse): OpenMessage | undefined {
  if (message === undefined) return undefined
  const { id, outputIndex, contentIndex } = message
  return {
    kind: 'message',
    id,
    index: outputIndex,
    parts: [],
    open: { kind: 'text', index: contentIndex, text, logprobs: [] },
  }
}

/** The log probabilities that came with the first text of a piece. */
function tokensOf(event: TextEvent, piece: readonly AnswerEvent[]): readonly JsonObject[] {
  if (piece.length === 1 || event.kind !== 'text') return []
  if (piece.find(({ kind }) => kind === 'text') !== event) return []
  return piece.flatMap((each) => (each.kind === 'logprobs' && each.choice === event.choice ? (each.tokens ?? []) : []))
}

function placeOf(message: OpenMessage, { index }: OpenText): string {
  return `"item_id":${JSON.stringify(message.id)},"output_index":${message.index},"content_index":${index}`
}

function summaryPlace({ id, index }: OpenReasoning): string {
  return `"item_id":"${id}","output_index":${index},"summary_index":0`
}

function callPlace({ id, index }: OpenCall): string {
  return `"item_id":"${id}","output_index":${index}`
}

function writePart({ kind, text, logprobs }: OpenText): string {
  if (kind === 'refusal') return JSON.stringify({ type: 'refusal', refusal: text })
  return JSON.stringify({ type: 'output_text', text, annotations: [], logprobs })
}

function writeSummary(text: string): string {
  return JSON.stringify({ type: 'summary_text', text })
}

function writeReasoning(id: string, text: string, encrypted: string | undefined): JsonObject {
  const summary = text === '' ? [] : [{ type: 'summary_text', text }]
  return { id, type: 'reasoning', summary, ...(encrypted === undefined ? {} : { encrypted_content: encrypted }) }
}

function writeCall(
  { id, callId, tool, text }: Pick<OpenCall, 'id' | 'callId' | 'tool' | 'text'>,
  status: 'in_progress' | 'completed' | 'incomplete',
): JsonObject {
  const { kind, name, namespace } = tool
  const named = { id, call_id: callId, status, name, ...(namespace === undefined ? {} : { namespace }) }
  switch (kind) {
    case 'function':
      return { type: 'function_call', ...named, arguments: text }
    case 'custom':
      return { type: 'custom_tool_call', ...named, input: text }
    case 'tool_search':
      return {
        type: 'tool_search_call',
        id,
        call_id: callId,
        status,
        execution: 'client',
        arguments: objectIn(text) ?? {},
      }
  }
}

function isWhole(text: string): boolean {
  return objectIn(text) !== undefined
}

function objectIn(text: string): JsonObject | undefined {
  try {
    const value = parseJson(text)
    return isObject(value) ? value : undefined
  } catch {
    // The arguments are not complete yet, or broken.
    return undefined
  }
}
