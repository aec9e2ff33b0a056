import { invalidRequest, WireError } from './error.ts'
import { checkUtf8, JsonCursor, JsonSyntaxError, latin1, nameTable } from './json-cursor.ts'
import type { JsonKind } from './json-cursor.ts'
import { join, splice } from './splice.ts'
import type { Edit } from './splice.ts'

/** A member of the request's top-level object and where it stands in the bytes. Ends are exclusive. */
export interface Member {
  /** Decoded; empty when it takes more than 1,024 bytes. */
  readonly name: string
  /** Offset of the name's opening quote. */
  readonly start: number
  readonly valueStart: number
  /** Offset after the value. */
  readonly end: number
}

/** A request that was checked (service.md 2.1, 2.2). The caller's bytes travel on; only what the gateway needs is read out of them. */
export interface ChatRequest {
  /** The caller's bytes, complete. */
  readonly body: Uint8Array
  /** What the caller asked for. */
  readonly model: string
  readonly stream: boolean
  /** `stream_options.include_usage`. */
  readonly includeUsage: boolean
  /** Top-level members in the order they stand in the bytes. */
  readonly members: readonly Member[]
}

/** How a request differs for one upstream. Names are of top-level members; `model` is only changed by `model`. */
export interface ChatRequestChanges {
  /** The upstream's name for the model. */
  readonly model: string
  /** Name, as the upstream calls it → JSON value. Replaces what the caller sent, or is added. */
  readonly overrides?: Readonly<Record<string, unknown>>
  /** The caller's name → the upstream's. A member is left out when another one has the upstream's name already. */
  readonly rename?: Readonly<Record<string, string>>
  /** The caller's names of what is left out. */
  readonly drop?: readonly string[]
  /** A message as JSON, to be put after the caller's last. */
  readonly append?: Uint8Array
}

/**
 * Checks a request (service.md 2.1, 2.2) and reads what the gateway needs of it, without building the rest.
 * For bodies up to 1 MiB; parseLargeChatRequest takes larger ones without holding up the others.
 * Members that are not of service.md 2.1 are not looked at, but there may be at most 10,000. Of a known member that stands twice the last
 * counts and all are checked; `model` may stand only once, since two readers might take different ones.
 *
 * @throws {WireError} 400: `invalid_json` before anything else, then the first fault as it stands in the body
 */
export function parseChatRequest(body: Uint8Array): ChatRequest {
  const cursor = new JsonCursor(body)
  try {
    const request = runThrough(readRequest(cursor, { limit: Infinity }))
    cursor.finish()
    return request
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw notJson(error)
    if (!(error instanceof WireError)) throw error
    // What is wrong with a value is only worth saying of a body that is JSON to its end.
    const whole = new JsonCursor(body)
    try {
      whole.skip()
      whole.finish()
    } catch (cause) {
      throw cause instanceof JsonSyntaxError ? notJson(cause) : cause
    }
    throw error
  }
}

/**
 * As parseChatRequest, awaiting `pause` between pieces of work of a few milliseconds.
 *
 * @throws {WireError} as parseChatRequest
 */
export async function parseLargeChatRequest(body: Uint8Array, pause: () => Promise<void>): Promise<ChatRequest> {
  const cursor = new JsonCursor(body)
  try {
    const request = await runInSlices(readRequest(cursor, { limit: sliceBytes }), pause)
    if (cursor.hasHighBytes) await checkUtf8(body, pause)
    return request
  } catch (error) {
    if (error instanceof JsonSyntaxError) throw notJson(error)
    if (!(error instanceof WireError)) throw error
    const whole = new JsonCursor(body)
    try {
      await runInSlices(skip(whole, { limit: sliceBytes }), pause)
      whole.end()
      if (whole.hasHighBytes) await checkUtf8(body, pause)
    } catch (cause) {
      throw cause instanceof JsonSyntaxError ? notJson(cause) : cause
    }
    throw error
  }
}

/**
 * The request's body for one upstream, in pieces: the caller's bytes but for `model` and what else `changes` says.
 * When the model keeps its name and nothing else changes, it is the caller's bytes.
 */
export function encodeChatRequest(request: ChatRequest, changes: ChatRequestChanges): readonly Uint8Array[] {
  const { body, members } = request
  const { model, overrides = {}, rename = {}, drop = [], append } = changes
  const hasNewNames = drop.length > 0 || Object.keys(rename).length > 0
  const names = hasNewNames ? upstreamNames(members, rename, drop) : members.map(({ name }) => name)
  const forced = Object.entries(overrides).filter(([name, value]) => name !== 'model' && value !== undefined)
  const lastMessages = append === undefined ? -1 : members.findLastIndex((member) => member.name === 'messages')
  const edits: Edit[] = []
  let isFirst = true
  members.forEach((member, index) => {
    const { start, valueStart, end } = member
    const name = names[index]
    if (name === undefined) {
      // The comma before it goes with it, or the one after it when nothing before it stays. `model` always stays.
      if (isFirst) edits.push({ start, end: members[index + 1]?.start ?? end, replacement: nothing })
      else edits.push({ start: members[index - 1]?.end ?? start, end, replacement: nothing })
      return
    }
    isFirst = false
    if (name === 'model') {
      if (model !== request.model) edits.push({ start: valueStart, end, replacement: encodeJson(model) })
      const added = forced.filter(([forcedName]) => !names.includes(forcedName))
      if (added.length > 0) edits.push({ start: end, end, replacement: encodeMembers(added) })
      return
    }
    if (name !== member.name) edits.push({ start, end: nameEnd(body, start), replacement: encodeJson(name) })
    const override = forced.find(([forcedName]) => forcedName === name)
    if (override !== undefined) edits.push({ start: valueStart, end, replacement: encodeJson(override[1]) })
    else if (append !== undefined && index === lastMessages) edits.push(appended(end, append))
  })
  return splice(body, edits)
}

/** The request with one more message, given as JSON, after its last. */
export function appendMessage(request: ChatRequest, message: Uint8Array): ChatRequest {
  const last = request.members.findLast((member) => member.name === 'messages')
  if (last === undefined) return request
  const edit = appended(last.end, message)
  const place = edit.start
  const added = edit.replacement.length
  const members = request.members.map((member) => {
    if (member.end <= place) return member
    if (member === last) return { ...member, end: member.end + added }
    return { name: member.name, start: member.start + added, valueStart: member.valueStart + added, end: member.end + added }
  })
  const body = join(splice(request.body, [edit]))
  return { ...request, body, members }
}

/** The name each member goes by upstream; undefined for those that are left out. */
function upstreamNames(
  members: readonly Member[],
  rename: Readonly<Record<string, string>>,
  drop: readonly string[],
): readonly (string | undefined)[] {
  const isDropped = (name: string) => name !== 'model' && drop.includes(name)
  const present = new Set(members.map(({ name }) => name))
  return members.map(({ name }) => {
    if (isDropped(name)) return undefined
    const target = name !== 'model' && Object.hasOwn(rename, name) ? rename[name] : undefined
    if (target === undefined || target === name) return name
    return present.has(target) && !isDropped(target) ? undefined : target
  })
}

/** Puts an element after the last of the array that ends at `arrayEnd` and is not empty. */
function appended(arrayEnd: number, element: Uint8Array): Edit {
  return { start: arrayEnd - 1, end: arrayEnd - 1, replacement: join([comma, element]) }
}

function encodeMembers(members: readonly (readonly [string, unknown])[]): Uint8Array {
  return encode(members.map(([name, value]) => `,${JSON.stringify(name)}:${JSON.stringify(value)}`).join(''))
}

function encodeJson(value: unknown): Uint8Array {
  return encode(JSON.stringify(value))
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text)
}

function nameEnd(body: Uint8Array, start: number): number {
  const cursor = new JsonCursor(body)
  cursor.position = start
  cursor.skip()
  return cursor.position
}

const comma = encode(',')
const nothing = new Uint8Array(0)

/** After how many bytes a large request lets others run: one to three milliseconds of work. */
const sliceBytes = 512 * 1024

/** The offset at which the walk lets others run. `runInSlices` moves it on. */
interface Pace {
  limit: number
}

/** A walk that stops now and then, always having passed the pace's limit. */
type Walk<Result> = Generator<Pace, Result, void>

function runThrough<Result>(walk: Walk<Result>): Result {
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
  }
}

async function runInSlices<Result>(walk: Walk<Result>, pause: () => Promise<void>): Promise<Result> {
  for (;;) {
    const step = walk.next()
    if (step.done === true) return step.value
    step.value.limit += sliceBytes
    await pause()
  }
}

/** Passes the next value, stopping at the pace's limits. */
function* skip(cursor: JsonCursor, pace: Pace): Walk<void> {
  while (!cursor.skip(pace.limit)) yield pace
}

/** What service.md 2.1 says of a member. */
type Rule =
  | { readonly kind: 'number', readonly min: number, readonly max: number }
  | { readonly kind: 'integer', readonly min: number, readonly max: number }
  | { readonly kind: 'boolean' }
  | { readonly kind: 'choice', readonly values: readonly string[] }
  | { readonly kind: 'model' | 'messages' | 'stop' | 'stream_options' }

const anyInteger: Rule = { kind: 'integer', min: -Infinity, max: Infinity }

/** Members that are checked. service.md gives the token counts no range, and some upstreams take -1 for no limit. */
const rules: Readonly<Record<string, Rule>> = {
  model: { kind: 'model' },
  messages: { kind: 'messages' },
  temperature: { kind: 'number', min: 0, max: 2 },
  max_tokens: anyInteger,
  max_completion_tokens: anyInteger,
  top_p: { kind: 'number', min: 0, max: 1 },
  frequency_penalty: { kind: 'number', min: -2, max: 2 },
  presence_penalty: { kind: 'number', min: -2, max: 2 },
  stop: { kind: 'stop' },
  seed: anyInteger,
  stream: { kind: 'boolean' },
  stream_options: { kind: 'stream_options' },
  logprobs: { kind: 'boolean' },
  top_logprobs: { kind: 'integer', min: 0, max: 20 },
  reasoning_effort: { kind: 'choice', values: ['low', 'medium', 'high', 'none', 'minimal', 'xhigh', 'max'] },
  enable_thinking: { kind: 'boolean' },
}

const fieldNames = Object.keys(rules)
const fieldRules = Object.values(rules)
const fields = nameTable(fieldNames)

/** Far more than any client sends; the place of each is remembered. */
const membersMax = 10_000
/** Names longer than this are not decoded. */
const nameBytesMax = 1024

function* readRequest(cursor: JsonCursor, pace: Pace): Walk<ChatRequest> {
  if (cursor.peek() !== 'object') {
    yield* skip(cursor, pace)
    cursor.end()
    throw invalidRequest('invalid_json', 'The request body must be a JSON object.')
  }
  const members: Member[] = []
  let model: string | undefined
  let hasMessages = false
  let stream = false
  let includeUsage = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    const start = cursor.nameStart
    const code = cursor.nameCode(fields)
    const rule = fieldRules[code]
    const name = fieldNames[code] ?? (cursor.nameEnd - start <= nameBytesMax ? cursor.name() : '')
    const valueStart = cursor.position
    switch (rule?.kind) {
      case undefined:
        if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
        break
      case 'model':
        if (model !== undefined) throw invalidRequest('invalid_value', "The body has more than one 'model'.", 'model')
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        model = readModel(cursor, valueStart)
        break
      case 'messages':
        yield* checkMessages(cursor, pace)
        hasMessages = true
        break
      case 'stop':
        yield* checkStop(cursor, pace)
        break
      case 'stream_options':
        includeUsage = yield* readStreamOptions(cursor, pace)
        break
      case 'boolean': {
        const value = readBoolean(cursor, name)
        if (name === 'stream') stream = value
        break
      }
      case 'choice':
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        checkChoice(cursor, valueStart, name, rule.values)
        break
      case 'number':
      case 'integer':
        checkNumber(cursor, name, rule)
        break
      default:
        rule satisfies never
    }
    if (members.length === membersMax) {
      throw invalidRequest('invalid_value', `The request body has more than ${membersMax} members.`)
    }
    members.push({ name, start, valueStart, end: cursor.position })
    if (cursor.position >= pace.limit) yield pace
  }
  cursor.end()
  if (model === undefined) throw missing('model')
  if (!hasMessages) throw missing('messages')
  return { body: cursor.bytes, model, stream, includeUsage, members }
}

const modelCharactersMax = 256

/** The model that stands from `start` on; when it is a string, it was passed already. */
function readModel(cursor: JsonCursor, start: number): string {
  if (cursor.position === start) throw wrongType('model', 'a string', cursor.peek())
  // An escaped character takes six bytes, or twelve as a surrogate pair.
  const isTooLong = cursor.position - start - 2 > modelCharactersMax * 12
  const model = isTooLong ? '' : cursor.stringAt(start, cursor.position)
  if (isTooLong || (model.length > modelCharactersMax && Array.from(model).length > modelCharactersMax)) {
    throw invalidRequest('invalid_value', `'model' must be at most ${modelCharactersMax} characters long.`, 'model')
  }
  if (model === '') throw invalidRequest('invalid_value', "'model' must not be empty.", 'model')
  if (controlCharacters.test(model) || !model.isWellFormed()) {
    throw invalidRequest('invalid_value', `'model' must not contain control characters or lone surrogates; found '${shown(model)}'.`, 'model')
  }
  return model
}

function* checkStop(cursor: JsonCursor, pace: Pace): Walk<void> {
  const kind = cursor.peek()
  if (kind !== 'array') {
    if (kind !== 'string' && kind !== 'null') throw wrongType('stop', 'a string or an array of strings', kind)
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    return
  }
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element !== 'string') throw wrongType(`stop[${index}]`, 'a string', element)
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
    index++
  }
}

const streamOptions = nameTable(['include_usage'])

function* readStreamOptions(cursor: JsonCursor, pace: Pace): Walk<boolean> {
  const kind = cursor.peek()
  if (kind === 'null') {
    cursor.skip()
    return false
  }
  if (kind !== 'object') throw wrongType('stream_options', 'an object', kind)
  let includeUsage = false
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(streamOptions) === 0) includeUsage = readBoolean(cursor, 'stream_options.include_usage')
    else if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
  }
  return includeUsage
}

/** A boolean; false for null, which means absent. */
function readBoolean(cursor: JsonCursor, param: string): boolean {
  const kind = cursor.peek()
  if (kind === 'boolean') return cursor.boolean()
  if (kind !== 'null') throw wrongType(param, 'a boolean', kind)
  cursor.skip()
  return false
}

/** Checks what stands from `start` on; when it is a string, it was passed already. */
function checkChoice(cursor: JsonCursor, start: number, param: string, values: readonly string[]): void {
  if (cursor.position === start) {
    const kind = cursor.peek()
    if (kind !== 'null') throw wrongType(param, 'a string', kind)
    cursor.skip()
    return
  }
  const isShort = cursor.position - start < 1024
  if (!isShort || !values.includes(cursor.stringAt(start, cursor.position))) throw notAmong(cursor, start, param, values)
}

function notAmong(cursor: JsonCursor, start: number, param: string, values: readonly string[]): WireError {
  const isShort = cursor.position - start < 1024
  const found = isShort ? `; found '${shown(cursor.stringAt(start, cursor.position))}'` : ''
  return invalidRequest('invalid_value', `'${param}' must be one of ${values.join(', ')}${found}.`, param)
}

/** An integer is a number without a fraction, however written: 1.0 and 1e2 are, 1.5 is of another type, as OpenAI has it. */
function checkNumber(cursor: JsonCursor, param: string, rule: Extract<Rule, { min: number }>): void {
  const expected = rule.kind === 'integer' ? 'an integer' : 'a number'
  const kind = cursor.peek()
  if (kind === 'null') {
    cursor.skip()
    return
  }
  if (kind !== 'number') throw wrongType(param, expected, kind)
  const start = cursor.position
  const value = cursor.number()
  const found = () => shown(latin1(cursor.bytes, start, Math.min(cursor.position, start + 65)))
  if (rule.kind === 'integer' && !Number.isInteger(value) && Number.isFinite(value)) {
    throw invalidRequest('invalid_type', `'${param}' must be an integer; found ${found()}.`, param)
  }
  if (Number.isFinite(value) && value >= rule.min && value <= rule.max) return
  const range = Number.isFinite(rule.min) ? `between ${rule.min} and ${rule.max}` : 'within the range of numbers'
  throw invalidRequest('invalid_value', `'${param}' must be ${range}; found ${found()}.`, param)
}

const messageNames = nameTable(['role', 'content'])
const roles = ['user', 'assistant', 'system', 'developer', 'tool', 'function']
const roleTable = nameTable(roles)

function* checkMessages(cursor: JsonCursor, pace: Pace): Walk<void> {
  const kind = cursor.peek()
  if (kind !== 'array') throw wrongType('messages', 'an array of objects', kind)
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const element = cursor.peek()
    if (element !== 'object') throw wrongType(`messages[${index}]`, 'an object', element)
    let role: string | undefined
    let content: JsonKind | undefined
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(messageNames)
      if (code === 0) {
        const start = cursor.position
        if (cursor.peek() === 'string' && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
        role = readRole(cursor, start, index)
      } else {
        if (code === 1) {
          content = cursor.peek()
          if (content === 'array') yield* checkParts(cursor, pace, index)
          else if (content !== 'string' && content !== 'null') {
            throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
          }
        }
        if ((code !== 1 || content !== 'array') && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      }
      if (cursor.position >= pace.limit) yield pace
    }
    if (role === undefined) throw missing(`messages[${index}].role`)
    if (role !== 'assistant' && role !== 'function') {
      if (content === undefined) throw missing(`messages[${index}].content`)
      if (content === 'null') throw wrongType(`messages[${index}].content`, 'a string or an array of parts', content)
    }
    index++
  }
  if (index === 0) throw invalidRequest('invalid_value', "'messages' must have at least one message.", 'messages')
}

/** The role that stands from `start` on; when it is a string, it was passed already. */
function readRole(cursor: JsonCursor, start: number, index: number): string {
  const role = roles[cursor.stringCode(roleTable, start, cursor.position)]
  if (role !== undefined) return role
  const param = `messages[${index}].role`
  if (cursor.position === start) throw wrongType(param, 'a string', cursor.peek())
  throw notAmong(cursor, start, param, roles)
}

const partNames = nameTable(['type', 'text', 'image_url'])
const imageNames = nameTable(['url'])
const partTypes = ['text', 'image_url', 'input_audio', 'file', 'refusal']
const partTypeTable = nameTable(partTypes)

function* checkParts(cursor: JsonCursor, pace: Pace, message: number): Walk<void> {
  let index = 0
  for (let more = cursor.firstElement(); more; more = cursor.nextElement()) {
    const part = () => `messages[${message}].content[${index}]`
    const kind = cursor.peek()
    if (kind !== 'object') throw wrongType(part(), 'an object', kind)
    let type: string | undefined
    let text: JsonKind | undefined
    let image: JsonKind | undefined
    let url: JsonKind | undefined
    for (let inside = cursor.firstMember(); inside; inside = cursor.nextMember()) {
      const code = cursor.nameCode(partNames)
      const member = cursor.peek()
      if (code === 0) type = readPartType(cursor, () => `${part()}.type`)
      else if (code === 1) text = member
      else if (code === 2) image = member
      if (code === 2 && member === 'object') url = yield* readUrlKind(cursor, pace)
      else if (code !== 0 && !cursor.skip(pace.limit)) yield* skip(cursor, pace)
      if (cursor.position >= pace.limit) yield pace
    }
    if (type === undefined) throw missing(`${part()}.type`)
    if (type === 'text') checkKind(text, 'string', `${part()}.text`)
    if (type === 'image_url') {
      checkKind(image, 'object', `${part()}.image_url`)
      checkKind(url, 'string', `${part()}.image_url.url`)
    }
    index++
  }
}

function readPartType(cursor: JsonCursor, param: () => string): string {
  const kind = cursor.peek()
  if (kind !== 'string') throw wrongType(param(), 'a string', kind)
  const start = cursor.position
  cursor.skip()
  const type = partTypes[cursor.stringCode(partTypeTable, start, cursor.position)]
  if (type === undefined) throw notAmong(cursor, start, param(), partTypes)
  return type
}

/** Passes the object of an image part; the kind of its `url`. */
function* readUrlKind(cursor: JsonCursor, pace: Pace): Walk<JsonKind | undefined> {
  let url: JsonKind | undefined
  for (let more = cursor.firstMember(); more; more = cursor.nextMember()) {
    if (cursor.nameCode(imageNames) === 0) url = cursor.peek()
    if (!cursor.skip(pace.limit)) yield* skip(cursor, pace)
    if (cursor.position >= pace.limit) yield pace
  }
  return url
}

function checkKind(found: JsonKind | undefined, expected: 'string' | 'object', param: string): void {
  if (found === undefined) throw missing(param)
  if (found !== expected) throw wrongType(param, withArticle(expected), found)
}

function missing(param: string): WireError {
  return invalidRequest('missing_required_parameter', `'${param}' is required.`, param)
}

function wrongType(param: string, expected: string, found: JsonKind): WireError {
  return invalidRequest('invalid_type', `'${param}' must be ${expected}; found ${withArticle(found)}.`, param)
}

function withArticle(kind: JsonKind): string {
  if (kind === 'null') return kind
  return kind === 'object' || kind === 'array' ? `an ${kind}` : `a ${kind}`
}

function notJson(cause: JsonSyntaxError): WireError {
  if (cause.position === 0 && cause.reason === 'unexpected end') return invalidRequest('invalid_json', 'The request body is empty.')
  return invalidRequest('invalid_json', `The request body is not valid JSON: ${cause.message}.`)
}

const controlCharacters = /[\u0000-\u001f\u007f-\u009f]/

/** A value of the caller's, fit to be shown: no control characters, at most 64 characters. */
function shown(text: string): string {
  const clean = text.toWellFormed().replace(/[\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, '\ufffd')
  return clean.length > 64 ? `${clean.slice(0, 63).toWellFormed()}…` : clean
}
