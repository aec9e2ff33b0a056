import { isRecord, type JsonObject } from '../base/json-value.ts'
import { utf8 } from '../bytes/text.ts'

/**
 * An upstream's error, read from any usual shape. `message` is raw: `redact` it before it is shown
 * (`upstream/redact.ts`).
 */
export interface UpstreamError {
  /** At most 2,048 characters; may be empty. */
  readonly message: string
  /** Such as `rate_limit_error`. */
  readonly type?: string | undefined
  /** Such as `insufficient_quota`; a code that is an HTTP status is also the `status`. */
  readonly code?: string | undefined
  /** The HTTP status in the body, for errors inside a 200. */
  readonly status?: number | undefined
  /** Gemini's `retryDelay`. */
  readonly retryDelayMs?: number | undefined
}

/** Fields longer than this are cut. */
const fieldCharactersMax = 2048
/** The beginning of a longer body is read as text. */
const parsedBytesMax = 1024 * 1024

/**
 * Reads the error out of a body: OpenAI `{error:{message,type,code}}`, Anthropic `{type:"error",error:{…}}`, Gemini
 * `{error:{code,status,details}}` (also in an array), Azure `{code,message}`, Ollama `{error:"…"}`, FastAPI `{detail}`,
 * Amazon `{Message}`, vLLM `{object:"error",…}`, plain text and HTML. Undefined for an empty body and for JSON without
 * an error.
 */
export function readUpstreamError(body: Uint8Array): UpstreamError | undefined {
  const text = utf8(body, 0, Math.min(body.length, parsedBytesMax)).trim()
  if (text === '') return undefined
  if (!/^[[{"]/.test(text)) return textError(text)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return textError(text) // Invalid or truncated JSON.
  }
  return errorOf(value)
}

/** As {@link readUpstreamError}, for parsed JSON. */
export function errorOf(value: unknown): UpstreamError | undefined {
  if (Array.isArray(value)) return errorOf(value[0])
  if (typeof value === 'string') return textError(value)
  if (!isRecord(value)) return undefined
  return errorOfMember(value) ?? errorOfList(value['errors']) ?? errorOfFields(value)
}

/** The error in `error`, which may be an object, a list of objects, or text. */
function errorOfMember(value: JsonObject): UpstreamError | undefined {
  const error: unknown = Array.isArray(value['error']) ? value['error'][0] : value['error']
  if (isRecord(error)) return errorFields({ ...outerFields(value), ...error })
  if (typeof error !== 'string' || error === '') return undefined
  const { message, code } = { message: value['message'], code: value['code'] }
  return errorFields(typeof message === 'string' ? { message, code, type: error } : { message: error, code })
}

function errorOfList(errors: unknown): UpstreamError | undefined {
  if (!Array.isArray(errors) || errors.length === 0) return undefined
  return errorFields(isRecord(errors[0]) ? errors[0] : { message: errors[0] })
}

/** The error of an object that is the error itself, or has it in `detail`. */
function errorOfFields(value: JsonObject): UpstreamError | undefined {
  const { message, detail } = { message: value['message'] ?? value['Message'], detail: value['detail'] }
  if (typeof message === 'string' || typeof value['code'] === 'string') return errorFields(value)
  if (typeof detail === 'string') return errorFields({ ...value, message: detail })
  if (isRecord(detail)) return errorOf(isRecord(detail['error']) ? detail : { error: detail })
  if (Array.isArray(detail)) return errorFields({ message: detail.map(describeDetail).join('; ') })
  return undefined
}

/** Finish reasons by which an upstream says that it failed: it was not the model that ended the answer. */
const failedReason = /^(?:.{0,64}[_ -])?error$|^(?:abort|aborted|cancelled|canceled|insufficient_system_resource)$/i

/** Whether a finish reason says that the upstream failed. */
export function isFailedReason(reason: string): boolean {
  return failedReason.test(reason)
}

/** The error in an answer or event that is JSON: at its top, or in a choice (OpenRouter), also as its finish reason. */
export function errorWithin(data: Uint8Array): UpstreamError | undefined {
  let value: unknown
  try {
    value = JSON.parse(utf8(data))
  } catch {
    return undefined // The caller reports invalid JSON, with its position.
  }
  if (!isRecord(value)) return undefined
  if (value['object'] === 'error' || isError(value['error'])) return errorOf(value)
  const choices: readonly unknown[] = Array.isArray(value['choices']) ? value['choices'] : []
  const failed = choices.find((choice) => isRecord(choice) && isError(choice['error']))
  return failed === undefined ? errorOfReason(choices) : errorOf(failed)
}

function errorOfReason(choices: readonly unknown[]): UpstreamError | undefined {
  const reasons = choices.map((choice) => textOf(isRecord(choice) ? choice['finish_reason'] : undefined) ?? '')
  const code = reasons.find(isFailedReason)
  return code === undefined ? undefined : errorFields({ message: `the answer ended with '${code}'`, code })
}

function isError(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return Boolean(value)
  return Object.keys(value).length > 0
}

/** Members of the object around the error that the error may lack: LiteLLM and OpenRouter put `code` there. */
function outerFields(value: JsonObject): JsonObject {
  const names = ['code', 'status', 'message'].filter((name) => value[name] !== undefined)
  return Object.fromEntries(names.map((name) => [name, value[name]]))
}

function errorFields(fields: JsonObject): UpstreamError {
  const { code, status } = { code: fields['code'], status: fields['status'] }
  const text = typeof code === 'string' || typeof code === 'number' ? String(code) : undefined
  const type = textOf(fields['type']) ?? (typeof status === 'string' ? textOf(status) : undefined)
  return {
    message: textOf(fields['message']) ?? textOf(fields['Message']) ?? textOf(fields['msg']) ?? '',
    type,
    code: textOf(text),
    status: statusOf(code) ?? statusOf(status) ?? statusOf(fields['status_code']),
    retryDelayMs: retryDelayOf(fields['details']),
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return cut(value)
  if (value === undefined || value === null) return undefined
  return typeof value === 'object' ? cut(JSON.stringify(value)) : String(value)
}

function statusOf(value: unknown): number | undefined {
  const status = typeof value === 'string' && /^\d{3}$/.test(value) ? Number(value) : value
  return typeof status === 'number' && Number.isInteger(status) && status >= 400 && status <= 599 ? status : undefined
}

/** `details[].retryDelay` of google.rpc.RetryInfo, such as `34.4s`. */
function retryDelayOf(details: unknown): number | undefined {
  if (!Array.isArray(details)) return undefined
  for (const detail of details) {
    const delay: unknown = isRecord(detail) ? detail['retryDelay'] : undefined
    const seconds = typeof delay === 'string' ? /^(\d{1,9}(?:\.\d{1,9})?)s$/.exec(delay)?.[1] : undefined
    if (seconds !== undefined) return Math.ceil(Number(seconds) * 1000)
  }
  return undefined
}

/** One entry of FastAPI's `detail`: `{loc:["body","model"],msg:"field required"}`. */
function describeDetail(detail: unknown): string {
  if (!isRecord(detail)) return textOf(detail) ?? ''
  const location = Array.isArray(detail['loc']) ? `${detail['loc'].join('.')}: ` : ''
  return `${location}${textOf(detail['msg']) ?? ''}`
}

/** An error of plain text or HTML. The title of an HTML page is its message, else its text. */
function textError(text: string): UpstreamError {
  const beginning = text.slice(0, 16_384)
  const message = cut(
    (beginning.trimStart().startsWith('<') ? textOfHtml(beginning) : beginning).replace(/\s+/g, ' ').trim(),
  )
  return { message, type: undefined, code: undefined, status: undefined, retryDelayMs: undefined }
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
  return text.length <= fieldCharactersMax ? text : text.slice(0, fieldCharactersMax).toWellFormed()
}
