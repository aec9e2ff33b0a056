import type { JsonObject } from '../../base/json-value.ts'
import type { BilledFacts, TokenCounts } from '../answer.ts'
import { numberOf, objectOf, objectsOf, textOf } from '../exact-json.ts'
import { billedFacts, countsIn, withFacts } from '../token-counts.ts'

/** The members of a response that stay the same from its first event to its last. */
export interface ResponseObjectHead {
  readonly id: string
  /** Unix time in seconds. */
  readonly createdAt: number
  readonly model: string
}

/** The state of a response. */
export interface ResponseState {
  readonly status: 'in_progress' | 'completed' | 'incomplete' | 'failed'
  readonly error?: { readonly code: string; readonly message: string }
  /** Why it is incomplete. */
  readonly reason?: string
  /** Its items as JSON. */
  readonly output: readonly string[]
  readonly usage?: TokenCounts | undefined
}

/** Writes a response as JSON. @param echo see `echoOf` */
export function writeResponse(head: ResponseObjectHead, state: ResponseState, echo: string): string {
  const { id, createdAt, model } = head
  const { status, error = null, reason, output, usage } = state
  const own = JSON.stringify({
    id,
    object: 'response',
    created_at: createdAt,
    completed_at: status === 'completed' ? Math.floor(Date.now() / 1000) : null,
    status,
    error,
    incomplete_details: reason === undefined ? null : { reason },
    model,
    usage: usage === undefined ? null : writeUsage(usage),
  })
  return `${own.slice(0, -1)},"output":[${output.join(',')}],${echo}}`
}

/** Reads the head of a response. */
export function readHead({ id, created_at, model }: JsonObject): ResponseObjectHead {
  return { id: textOf(id) ?? '', createdAt: numberOf(created_at) ?? 0, model: textOf(model) ?? '' }
}

function writeUsage({ prompt, completion, total, cached, cacheWrite, reasoning }: TokenCounts): JsonObject {
  return {
    input_tokens: prompt,
    input_tokens_details: {
      cached_tokens: cached ?? 0,
      ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
    },
    output_tokens: completion,
    output_tokens_details: { reasoning_tokens: reasoning ?? 0 },
    total_tokens: total ?? prompt + completion,
  }
}

/** Reads the usage of a response, with its tools and service tier; undefined without counts. */
export function readResponseUsage({ usage, output, service_tier }: JsonObject): TokenCounts | undefined {
  const counts = countsIn(objectOf(usage), service_tier)
  const items = objectsOf(output)
  const searches = items.filter(isSearch).length
  return counts && withFacts(counts, billedFacts({ ...(searches > 0 && { searches }), tools: toolsOf(items) }))
}

/** Tools of the provider that are billed by the use. */
const billedTools: ReadonlySet<string> = new Set([
  'file_search',
  'code_interpreter',
  'image_generation',
  'x_search',
  'collections_search',
])

/** The uses of other tools than searches. Containers of code are billed, not the calls in them. */
function toolsOf(items: readonly JsonObject[]): BilledFacts['tools'] {
  const uses = items.flatMap(({ type, container_id, id }): readonly (readonly [string, unknown])[] => {
    const tool = textOf(type)?.replace(/_call$/, '') ?? ''
    return billedTools.has(tool) ? [[tool, container_id ?? id ?? {}]] : []
  })
  if (uses.length === 0) return undefined
  const names = [...new Set(uses.map(([tool]) => tool))]
  return Object.fromEntries(
    names.map((name) => [name, new Set(uses.flatMap(([tool, each]) => (tool === name ? [each] : []))).size]),
  )
}

/** Whether an item is a web search that is billed. Pages that the model opens are not. */
function isSearch({ type, action }: JsonObject): boolean {
  return type === 'web_search_call' && (textOf(objectOf(action)['type']) ?? 'search') === 'search'
}
