import { isRecord, type JsonObject } from '../base/json-value.ts'
import { utf8 } from '../bytes/text.ts'

/**
 * Facts of an upstream's error, read from any usual shape; those of an inner error, such as the error of a provider
 * behind a gateway, come before those of the outer one. Texts are raw: `redact` them before they are shown
 * (`upstream/redact.ts`).
 */
export interface UpstreamError {
  /** The first of `texts`, or empty. At most 2,048 characters. */
  readonly message: string
  readonly texts: readonly string[]
  /** Codes, types, reasons and names of statuses, such as `insufficient_quota`. */
  readonly codes: readonly string[]
  /** An HTTP status in the body. */
  readonly status?: number | undefined
  /** Members that name a wait, such as Gemini's `retryDelay`: name in lower case → value. */
  readonly waits: ReadonlyMap<string, string>
  /** A gateway passes on the error of a provider behind it. */
  readonly isPassedOn: boolean
}

/** Longer texts are cut. */
const textCharactersMax = 2048
/** The beginning of a longer body is read as text. */
const parsedBytesMax = 1024 * 1024
/** Members and elements that one walk visits. */
const visitsMax = 500
const depthMax = 12
/** JSON in text, in JSON in text … */
const textDepthMax = 3
const factsMax = 16
/** Of all texts. */
const charactersMax = 8192

/**
 * Reads the error out of a body: JSON of any maker, plain text or HTML. Undefined for an empty body and for JSON
 * without an error.
 */
export function readUpstreamError(body: Uint8Array): UpstreamError | undefined {
  const text = utf8(body, 0, Math.min(body.length, parsedBytesMax)).trim()
  if (text === '') return undefined
  const value = /^[[{"]/.test(text) ? parsed(text) : undefined
  return value === undefined ? errorOfText(text) : errorOf(value)
}

/** As {@link readUpstreamError}, for parsed JSON. */
export function errorOf(value: unknown): UpstreamError | undefined {
  if (typeof value === 'string') return errorOfText(value)
  const walk = new Walk()
  walk.visit(value, 0, 0)
  return walk.error()
}

/** An error with this text alone. */
function errorOfText(text: string): UpstreamError | undefined {
  const walk = new Walk()
  walk.visitText(plainText(text), 0, 0)
  return walk.error()
}

/** Finish reasons by which an upstream says that it failed: it was not the model that ended the answer. */
const failedReason = /^(?:.{0,64}[_ -])?error$|^(?:abort|aborted|cancelled|canceled|insufficient_system_resource)$/i

/** Whether a finish reason says that the upstream failed. */
export function isFailedReason(reason: string): boolean {
  return failedReason.test(reason)
}

/**
 * The error in an answer or event that is JSON: at its top, or in a choice (OpenRouter), also as its finish reason. An
 * error need not be called so: the text of an error, in one of its usual members, is one where no member of an answer
 * is (failover.md row 33).
 */
export function errorWithin(data: Uint8Array): UpstreamError | undefined {
  const value = parsed(utf8(data))
  return isRecord(value) ? errorInside(value) : undefined
}

/** As {@link errorWithin}, for parsed JSON. */
export function errorInside(value: JsonObject): UpstreamError | undefined {
  return saidError(value) ?? (isAnswer(value) || !hasErrorText(value) ? undefined : errorOf(value))
}

function saidError(value: JsonObject): UpstreamError | undefined {
  if (value['object'] === 'error' || value['type'] === 'error' || isFilled(value['error'])) return errorOf(value)
  if (!Array.isArray(value['choices'])) return undefined
  const choices = value['choices'].filter(isRecord)
  const failed = choices.find((choice) => isFilled(choice['error']))
  if (failed !== undefined) return errorOf(failed['error'])
  const reasons = choices.map((choice) => choice['finish_reason'])
  const code = reasons.find((reason) => typeof reason === 'string' && isFailedReason(reason))
  return typeof code === 'string' ? errorOf({ message: `the answer ended with '${code}'`, code }) : undefined
}

const answerMembers = ['choices', 'candidates', 'content', 'output', 'delta', 'content_block', 'item', 'promptFeedback']
const answerTypes = /^(?:ping|keep-?alive|message_\w+|content_block_\w+|response\.[\w.]+)$/

function isAnswer(value: JsonObject): boolean {
  const { type } = value
  return answerMembers.some((name) => isFilled(value[name])) || (typeof type === 'string' && answerTypes.test(type))
}

const errorTexts = [
  'message',
  'Message',
  'msg',
  'detail',
  'errors',
  'error_msg',
  'error_message',
  'errorMessage',
  'Error',
]

function hasErrorText(value: JsonObject): boolean {
  const { base_resp: base, ResponseMetadata: metadata } = value
  if (isRecord(base) && isFilled(base['status_code']) && isFilled(base['status_msg'])) return true
  if (isRecord(metadata) && isFilled(metadata['Error'])) return true
  return errorTexts.some((name) => isFilled(value[name]) && typeof value[name] !== 'number')
}

function isFilled(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value)
  return (Array.isArray(value) ? value : Object.keys(value)).length > 0
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Members that hold an inner error, as an object, a list or text. */
const innerMembers = ['raw', 'error', 'errors', 'Error', 'ResponseMetadata', 'response', 'cause', 'body', 'base_resp']
const textMembers = ['message', 'Message', 'msg', 'error_msg', 'error_message', 'errorMessage', 'status_msg', 'err_msg']
/** Members with more about the error. */
const outerMembers = [
  'detail',
  'details',
  'metadata',
  'innererror',
  'error_description',
  'title',
  'param',
  'violations',
]
const codeMembers = ['code', 'Code', 'type', 'status', 'reason', 'error_code', 'errorCode', 'error_type', '__type']
const numberMembers = ['status_code', 'statusCode', 'http_code', 'httpCode']
const waitMember = new RegExp(
  [
    String.raw`^retry[_-]?(?:delay|after)(?:[_-]?(?:ms|seconds))?$`,
    String.raw`^quotaresetdelay$|^resets?_?in_?(?:ms|seconds)$|^x-ratelimit-reset\S*$`,
  ].join('|'),
)
/** Text around an error that a gateway passes on. */
const passedOn = /\b(?:error from|upstream|provider returned|provider_?response)\b/i

/** A walk over the known members of an error, inner errors first. Bounded in depth, visits and facts. */
class Walk {
  readonly #texts = new Set<string>()
  readonly #codes = new Set<string>()
  readonly #waits = new Map<string, string>()
  #status: number | undefined
  #isPassedOn = false
  #visits = 0
  #charactersLeft = charactersMax

  error(): UpstreamError | undefined {
    if (this.#texts.size === 0 && this.#codes.size === 0 && this.#status === undefined) return undefined
    const texts = [...this.#texts]
    return {
      message: texts[0] ?? '',
      texts,
      codes: [...this.#codes],
      status: this.#status,
      waits: this.#waits,
      isPassedOn: this.#isPassedOn,
    }
  }

  visit(value: unknown, depth: number, textDepth: number): void {
    if (depth > depthMax || (this.#visits += 1) > visitsMax) return
    if (typeof value === 'string') this.visitText(value, depth, textDepth)
    else if (Array.isArray(value)) this.#visitList(value, depth, textDepth)
    else if (isRecord(value)) this.#visitRecord(ofProvider(value), depth, textDepth)
  }

  /** Keeps a text; JSON in it comes first. */
  visitText(text: string, depth: number, textDepth: number): void {
    const start = text.search(/\{\s*"|\[\s*\{/)
    const inner = start === -1 || textDepth >= textDepthMax ? undefined : jsonAt(text, start)
    if (inner !== undefined) {
      const before = text.slice(0, start)
      this.#isPassedOn ||= passedOn.test(before)
      this.visit(inner, depth + 1, textDepth + 1)
      if (this.#texts.size > 0) return this.#addText(before)
    }
    this.#addText(text)
  }

  #visitList(list: readonly unknown[], depth: number, textDepth: number): void {
    // FastAPI's list of faults in a request.
    const described = list.flatMap((each) => describeFault(each) ?? [])
    if (described.length > 0) this.#addText(described.join('; '))
    else for (const each of list.slice(0, factsMax)) this.visit(each, depth + 1, textDepth)
  }

  #visitRecord(record: JsonObject, depth: number, textDepth: number): void {
    const visitAll = (names: readonly string[]) => {
      for (const name of names) this.visit(record[name], depth + 1, textDepth)
    }
    const { metadata, error } = record
    if (isRecord(metadata) && isFilled(metadata['raw'])) {
      this.#isPassedOn = true
      this.visit(metadata['raw'], depth + 1, textDepth)
    }
    // A short name beside the sentence is no sentence.
    const isNamed = typeof error === 'string' && typeof record['message'] === 'string'
    visitAll(isNamed ? innerMembers.filter((name) => name !== 'error') : innerMembers)
    visitAll(textMembers)
    if (isNamed) this.visit(error, depth + 1, textDepth)
    this.#readNames(record)
    visitAll(outerMembers)
    this.#readWaits(record)
    if (isRecord(record['headers'])) this.#readWaits(record['headers'])
  }

  #readNames(record: JsonObject): void {
    for (const name of [...codeMembers, ...numberMembers]) {
      const value = record[name]
      if (typeof value !== 'string' && typeof value !== 'number') continue
      this.#status ??= statusOf(value)
      if (value !== '' && this.#codes.size < factsMax) this.#codes.add(cut(String(value)))
    }
    this.#isPassedOn ||= record['type'] === 'AI_APICallError'
  }

  #readWaits(record: JsonObject): void {
    for (const [name, value] of Object.entries(record).slice(0, visitsMax)) {
      const lower = name.toLowerCase()
      if (!waitMember.test(lower) || (typeof value !== 'string' && typeof value !== 'number')) continue
      if (!this.#waits.has(lower) && this.#waits.size < factsMax) this.#waits.set(lower, String(value).slice(0, 64))
    }
  }

  #addText(text: string): void {
    const kept = cut(text.trim())
    if (kept === '' || kept.length > this.#charactersLeft || this.#texts.size >= factsMax || this.#texts.has(kept))
      return
    this.#texts.add(kept)
    this.#charactersLeft -= kept.length
  }
}

/** Without what a failed object of Responses repeats of its request: in `metadata` a caller may say anything. */
function ofProvider(value: JsonObject): JsonObject {
  return value['object'] === 'response' ? { error: value['error'] } : value
}

/** The JSON at `start` of a text, up to the last bracket; `undefined` without one. */
function jsonAt(text: string, start: number): unknown {
  const end = text.lastIndexOf(text[start] === '{' ? '}' : ']')
  const value = end <= start ? undefined : parsed(text.slice(start, end + 1))
  return isRecord(value) || (Array.isArray(value) && isRecord(value[0])) ? value : undefined
}

function statusOf(value: string | number): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

/** One entry of FastAPI's `detail`: `{loc:["body","model"],msg:"field required"}`. */
function describeFault(fault: unknown): string | undefined {
  if (!isRecord(fault) || !Array.isArray(fault['loc']) || typeof fault['msg'] !== 'string') return undefined
  return `${fault['loc'].join('.')}: ${fault['msg']}`
}

/** Text of a body. The title of an HTML page is its text, else the text without markup. */
function plainText(text: string): string {
  const beginning = text.slice(0, 16_384)
  return (beginning.trimStart().startsWith('<') ? textOfHtml(beginning) : beginning).replace(/\s+/g, ' ').trim()
}

/** The title, or the text without markup. A single walk: regular expressions can take quadratic time here. */
function textOfHtml(html: string): string {
  let plain = ''
  let position = 0
  for (let open = html.indexOf('<'); open !== -1; open = html.indexOf('<', position)) {
    plain += `${html.slice(position, open)} `
    const close = html.indexOf('>', open)
    if (close === -1) return plain
    position = close + 1
    const name = /^[a-z]{1,10}/i.exec(html.slice(open + 1, open + 12))?.[0].toLowerCase()
    if (name === 'title') {
      const end = html.indexOf('<', position)
      const title = html.slice(position, end === -1 ? undefined : end).trim()
      if (title !== '') return title
    }
    if (name === 'script' || name === 'style') {
      const end = html.indexOf(`</${name}`, position)
      if (end === -1) return plain
      position = end
    }
  }
  return plain + html.slice(position)
}

function cut(text: string): string {
  return text.length <= textCharactersMax ? text : text.slice(0, textCharactersMax).toWellFormed()
}
