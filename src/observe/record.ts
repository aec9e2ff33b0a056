import type { RequestSettings } from '../formats/request-settings.ts'
import type { Usage } from '../formats/usage.ts'
import type { Person } from '../people/person.ts'
import type { Cost } from '../prices/cost.ts'
import type { Attempt } from '../service/trail.ts'
import { column, field, readOf, shownOf, unitOfList, units, usd, type RecordField, type Row } from './fields.ts'
import type { AttemptEntry, MetLimit, RequestEntry } from './request-entry.ts'
import {
  costSourceOf,
  flagsOfAttempt,
  flagsOfRequest,
  hasFlag,
  hasTokens,
  hasCounts,
  isOfKey,
  kindsOf,
  sumOf,
  tokenColumns,
  unitsOf,
} from './row-facts.ts'
import type { TraceFacts } from './trace.ts'

/**
 * The facts of a request. `recordOf` (http/entrance/progress.ts) makes a {@link RequestRecord} when the request has
 * ended. The tables below name each fact once for all that write it, by the functions of `fields.ts`: the log line
 * (`request-line.ts`), the list of recent requests (`recent-requests.ts`), its histograms (`gateway-metrics.ts`), rows
 * of both databases (`ledger/use/`), and the entries and files of the page's API (`http/page/log-api.ts`).
 *
 * A new fact is a member of {@link RequestRecord}, a line of {@link requestFields}, and a value in `recordOf`. One that
 * is stored also needs a migration, one that the page shows a member of {@link RequestEntry}.
 */
export interface RequestRecord {
  /** Unix milliseconds of its arrival. */
  readonly time: number
  /** `x-request-id`. */
  readonly id: string
  /** The format of the request, such as `chat` or `embeddings`. */
  readonly api: string
  /** The model asked for: at most 128 characters, no control characters; empty when it could not be read. */
  readonly model: string
  /** The model's name as spelled in the configuration or a model list; absent when neither contains it. */
  readonly listedAs?: string | undefined
  readonly stream: boolean
  /** HTTP status sent to the caller; 499 when the caller left. */
  readonly status: number
  /** `error.code` of the answer or of the error event that ended a stream; absent on success. */
  readonly error?: string | undefined
  /** Id of the provider that answered; absent when none did. */
  readonly provider?: string | undefined
  /** The provider's name for the model. */
  readonly upstream?: string | undefined
  /** The model that the answer names, if it is not `upstream`. */
  readonly served?: string | undefined
  /** `served` is another model than was asked for. Absent: the name that was asked for is none of a model. */
  readonly isOtherModel?: true | undefined
  readonly trail: readonly RecordedAttempt[]
  /** Milliseconds to the first meaningful event; absent without a stream or event. */
  readonly firstTokenMs?: number | undefined
  readonly totalMs: number
  readonly usage?: Usage | undefined
  /** Cost of the answer; absent when the price or the usage is not known. An estimate if the usage is one. */
  readonly cost?: Cost | undefined
  /**
   * What limits of money booked for an attempt that the caller left before its answer, or whose provider counted
   * nothing: its provider and the estimate in nano-USD.
   */
  readonly unrecorded?: readonly { readonly provider: string; readonly nanoUsd: number }[] | undefined
  /** Limits of access.json that it waited for, was refused by, or that passed a provider over. Absent: none. */
  readonly limits?: readonly MetLimit[] | undefined
  /** How long it waited for a slot of a limit. Absent: it did not. */
  readonly waitedMs?: number | undefined
  /** The signed-in user, or `key:NAME` for a program. */
  readonly user?: string | undefined
  /** Whose use it is: the signed-in person, or the person that an own key belongs to. Other keys act as no person. */
  readonly person?: Person | undefined
  /** Id of the first key of the line, when a program sent a key. */
  readonly line?: number | undefined
  /** Name of the team that the key of a program belongs to. */
  readonly team?: string | undefined
  /** Absent: it is not traced. */
  readonly trace?: TraceFacts | undefined
  /** Absent: its spans are not exported. */
  readonly settings?: RequestSettings | undefined
  /** The session of an agent, as it named it: at most 128 characters of visible ASCII. */
  readonly session?: string | undefined
}

/** An attempt of a request. Its reason is short, without secrets, and neither kept nor stored. */
export interface RecordedAttempt extends Omit<Attempt, 'failure'> {
  readonly failure?: string | undefined
  /** What limits of money booked for an attempt without an answer that may have been billed, in nano-USD. */
  readonly bookedNanoUsd?: number | undefined
  /** Cost of its tokens at the attempt's provider; absent when it is not known. */
  readonly cost?: Cost | undefined
}

/** Attempts that are logged, remembered and stored of one request; a longer trail has many retries. */
export const trailMax = 32

/** Limits of one request, and models of a limit, that are logged and stored. */
export const limitsMax = 8
/** Labels have an index, whose entries PostgreSQL limits to 2,704 bytes. */
const labelBytesMax = 2_000

/** Whether the provider was asked: limits of money pass providers over, which takes no time. */
export function wasSent({ failure }: Pick<RecordedAttempt, 'failure'>): boolean {
  return failure !== 'budget' && failure !== 'no_price'
}

/** What the ledger charges for the answer of a request: the names as they are kept, and its tokens by kind. */
export interface StoredCharge {
  readonly line: number
  readonly person?: Person | undefined
  readonly team?: string | undefined
  readonly model: string
  readonly provider: string
  readonly counters: Readonly<Partial<Record<(typeof tokenColumns)[number] | 'unpriced', number>>>
}

const limitFields: readonly RecordField<MetLimit>[] = [
  field(units.name, ({ met }) => met, { name: 'met', log: 'met' }),
  field(units.text, (limit) => limit.for, { name: 'for', log: 'for' }),
  field(units.name, ({ kind }) => kind, { name: 'kind', log: 'kind' }),
  field(units.number, amountOf, { name: 'limit', log: 'limit' }),
  field(units.name, ({ per }) => per, { name: 'per', log: 'per' }),
  field(units.names, ({ models }) => models?.slice(0, limitsMax), { name: 'models', log: 'models' }),
]

/** The attempts of a request. Rows also have `seq`, the number of the request, and `n`, their place. */
export const attemptFields: readonly RecordField<RecordedAttempt>[] = [
  field(units.name, (attempt) => attempt.name, {
    name: 'provider',
    log: 'provider',
    column: 'provider',
    label: 'provider',
    spans: { attempt: 'svc.provider' },
  }),
  field(units.number, ({ status }) => status, {
    ...{ name: 'status', log: 'status', column: 'status', spans: { attempt: 'http.response.status_code' } },
    stored: ({ status = 0 }) => status,
    read: (row) => row.number('status') || undefined,
  }),
  field(units.name, ({ failure }) => failure, {
    ...{ name: 'failure', log: 'class', column: 'class', label: 'error', spans: { attempt: 'error.type' } },
  }),
  field(units.text, ({ span }) => span?.target.address || undefined, { spans: { attempt: 'server.address' } }),
  field(units.number, ({ span }) => span?.target.port || undefined, { spans: { attempt: 'server.port' } }),
  field(units.flag, ({ ambiguous }) => ambiguous, {
    ...{ name: 'mayBeBilled', log: 'ambiguous', spans: { attempt: 'svc.may_be_billed' } },
    read: (row) => hasFlag(row, 'ambiguous') || undefined,
  }),
  field(units.number, ({ tokens }) => tokens?.promptTokens, {
    ...{ name: 'promptTokens', log: 'prompt_tokens', column: 'input' },
    stored: (attempt) => unitsOf(attempt).input,
    read: (row) => (hasTokens(row) ? row.number('input') : undefined),
  }),
  field(units.number, ({ tokens }) => tokens?.completionTokens, {
    ...{ name: 'completionTokens', log: 'completion_tokens', column: 'output' },
    stored: (attempt) => unitsOf(attempt).output,
    read: (row) => (hasTokens(row) ? row.number('output') : undefined),
  }),
  field(units.number, ({ answerTokensMax }) => answerTokensMax, { log: 'max_tokens' }),
  field(units.text, ({ served }) => served, {
    ...{ name: 'served', log: 'served', spans: { attempt: 'gen_ai.response.model' } },
    read: () => undefined,
  }),
  field(units.flag, ({ isEndedAtLimit }) => isEndedAtLimit, { log: 'ended_at_limit' }),
  field(units.flag, ({ isResumed }) => isResumed, { log: 'resumed', spans: { attempt: 'svc.resumed' } }),
  field(units.name, ({ differedAt }) => differedAt, { log: 'differed_at', spans: { attempt: 'svc.differed_at' } }),
  field(units.names, ({ adapted }) => adapted, { log: 'adapted', spans: { attempt: 'svc.adapted' } }),
  field(units.names, ({ dropped }) => dropped, { log: 'dropped', spans: { attempt: 'svc.dropped' } }),
  field(units.names, ({ adjusted }) => adjusted, { log: 'adjusted', spans: { attempt: 'svc.adjusted' } }),
  field(units.money, ({ cost }) => cost?.nanoUsd, {
    ...{ name: 'cost', column: 'cost' },
    // As in the sums.
    stored: ({ bookedNanoUsd, cost }) => bookedNanoUsd ?? cost?.nanoUsd,
    read: (row) => (hasFlag(row, 'booked') ? undefined : usd(row.optional('cost'))),
  }),
  field(units.money, ({ bookedNanoUsd }) => bookedNanoUsd, {
    name: 'bookedCost',
    read: (row) => (hasFlag(row, 'booked') ? usd(row.optional('cost')) : undefined),
  }),
  field(units.milliseconds, ({ ms }) => ms, { name: 'ms', log: 'ms', column: 'ms' }),
  column('flags', flagsOfAttempt),
]

/** A request; those with `file` in the order of their columns. */
export const requestFields: readonly RecordField<RequestRecord, StoredCharge, RequestEntry>[] = [
  field(units.number, ({ time }) => time, {
    ...{ name: 'time', column: 'time' },
    file: ({ time }) => new Date(time).toISOString(),
  }),
  field(units.text, ({ id }) => id, {
    ...{ name: 'id', log: 'id', column: 'id', isText: true, file: true, spans: { server: 'svc.request_id' } },
  }),
  field(units.text, ({ trace }) => trace?.id, { log: 'trace_id' }),
  field(units.text, ({ person }) => person?.id, { spans: { server: 'user.id' } }),
  field(units.text, ({ user }) => user, {
    ...{ name: 'user', log: 'user', file: true, spans: { server: 'user.name' } },
    read: (row) => (isOfKey(row) ? `key:${row.text('line')}` : row.text('person') || undefined),
  }),
  // That of a signed-in user is the user.
  field(units.text, ({ line, person }) => (line === undefined ? undefined : person?.name), {
    ...{ name: 'person', file: true },
    read: (row) => (isOfKey(row) ? row.text('person') || undefined : undefined),
  }),
  column('line', (_, { line }) => line),
  column('person', (_, { person }) => person, 'person'),
  column('team', (_, { team }) => team, 'team'),
  field(units.name, ({ api }) => api, { name: 'api', log: 'api', column: 'api', label: 'api', file: true }),
  field(units.text, ({ model }) => model, {
    ...{ name: 'model', log: 'model', column: 'model', label: 'model', file: true },
    spans: { inference: 'gen_ai.request.model' },
    stored: (_, { model }) => model,
    read: (row) => row.text('model'),
  }),
  field(units.name, ({ provider }) => provider, {
    ...{ name: 'provider', log: 'provider', column: 'provider', label: 'provider', file: true },
    stored: (_, { provider }) => provider,
  }),
  field(units.text, ({ upstream, served = upstream }) => served, { spans: { inference: 'gen_ai.response.model' } }),
  field(units.text, ({ served }) => served, {
    ...{ name: 'served', log: 'served', column: 'served', isText: true, file: true },
    read: (row) => row.text('served') || undefined,
  }),
  field(units.flag, ({ isOtherModel }) => isOtherModel, {
    ...{ name: 'isOtherModel', log: 'other_model', spans: { inference: 'svc.other_model' } },
    read: (row) => hasFlag(row, 'otherModel') || undefined,
  }),
  field(units.truth, ({ stream }) => stream, { name: 'stream', log: 'stream', read: (row) => hasFlag(row, 'stream') }),
  field(units.flag, ({ stream }) => stream, { spans: { inference: 'gen_ai.request.stream' } }),
  field(units.number, ({ status }) => status, {
    ...{ name: 'status', log: 'status', column: 'status', file: true, spans: { server: 'http.response.status_code' } },
  }),
  field(units.name, ({ error }) => error, {
    ...{ name: 'error', log: 'error', column: 'error', label: 'error', file: true },
    spans: { server: 'error.type', inference: 'error.type' },
  }),
  field(units.milliseconds, ({ firstTokenMs }) => firstTokenMs, {
    ...{ name: 'firstTokenMs', log: 'first_token_ms', column: 'first_ms', file: true },
    seconds: {
      name: 'svc_first_token_seconds',
      help: 'Time from a request to the first meaningful event of its stream, failed attempts included',
      isByProvider: true,
    },
  }),
  field(units.seconds, ({ firstTokenMs }) => firstTokenMs, {
    spans: { inference: 'gen_ai.response.time_to_first_chunk' },
  }),
  field(units.milliseconds, ({ totalMs }) => totalMs, {
    ...{ name: 'totalMs', log: 'total_ms', column: 'ms', file: true },
    seconds: {
      name: 'svc_request_seconds',
      help: 'Duration of requests, including whole streams',
      isByProvider: false,
    },
  }),
  field(units.milliseconds, msPerToken, {
    seconds: {
      name: 'svc_output_token_seconds',
      help: 'Time of a stream for each token behind the first, of streams with counted tokens',
      isByProvider: true,
      bounds: [0.001, 0.0025, 0.005, 0.01, 0.02, 0.03, 0.05, 0.075, 0.1, 0.2, 0.5, 1],
    },
  }),
  field(units.number, ({ usage }) => usage?.promptTokens, {
    ...{ name: 'promptTokens', log: 'prompt_tokens', file: true, spans: { inference: 'gen_ai.usage.input_tokens' } },
    read: (row) => (hasCounts(row) ? sumOf(row, ['input', 'cached', 'write5', 'write60']) : undefined),
  }),
  field(units.number, ({ usage }) => usage?.completionTokens, {
    ...{ name: 'completionTokens', log: 'completion_tokens', file: true },
    spans: { inference: 'gen_ai.usage.output_tokens' },
    read: (row) => (hasCounts(row) ? sumOf(row, ['output', 'reasoning']) : undefined),
  }),
  ...onInference(units.number, {
    'gen_ai.usage.cache_read.input_tokens': ({ usage }) => usage?.cachedTokens,
    'gen_ai.usage.cache_write.input_tokens': ({ usage }) => usage?.cacheWriteTokens,
    'gen_ai.usage.reasoning.output_tokens': ({ usage }) => usage?.reasoningTokens,
    'gen_ai.request.max_tokens': ({ settings }) => settings?.answerTokensMax,
    'gen_ai.request.top_k': ({ settings }) => settings?.topK,
    'gen_ai.request.seed': ({ settings }) => settings?.seed,
    'gen_ai.request.choice.count': ({ settings }) => (settings?.choices === 1 ? undefined : settings?.choices),
  }),
  ...onInference(units.fraction, {
    'gen_ai.request.temperature': ({ settings }) => settings?.temperature,
    'gen_ai.request.top_p': ({ settings }) => settings?.topP,
    'gen_ai.request.frequency_penalty': ({ settings }) => settings?.frequencyPenalty,
    'gen_ai.request.presence_penalty': ({ settings }) => settings?.presencePenalty,
  }),
  ...tokenColumns.map((kind) => column<RequestRecord, StoredCharge>(kind, (_, { counters }) => counters[kind] ?? 0)),
  field(units.number, () => undefined, { name: 'tokens', read: (row) => (hasCounts(row) ? kindsOf(row) : undefined) }),
  field(units.money, ({ cost }) => cost?.nanoUsd, {
    ...{ name: 'cost', log: 'cost_usd', column: 'cost', file: true, spans: { inference: 'svc.cost_usd' } },
  }),
  field(units.money, ({ cost }) => cost?.savedNanoUsd, {
    ...{ name: 'saved', log: 'saved_usd', column: 'saved', file: true, spans: { inference: 'svc.saved_usd' } },
  }),
  field(units.text, ({ cost }) => cost?.source, {
    ...{ name: 'costSource', file: true },
    read: (row) => costSourceOf(row.number('flags')),
  }),
  field(units.flag, ({ cost }) => cost?.hasConflict, {
    name: 'hasConflict',
    read: (row) => hasFlag(row, 'conflict') || undefined,
  }),
  field(units.flag, ({ cost }) => cost?.isOfServed, {
    ...{ name: 'isPriceOfServed', log: 'price_of_served' },
    read: (row) => hasFlag(row, 'priceOfServed') || undefined,
  }),
  field(units.flag, ({ usage }) => usage?.isEstimated, {
    ...{ name: 'isEstimated', log: 'tokens_estimated', spans: { inference: 'svc.tokens_estimated' } },
    read: (row) => hasFlag(row, 'estimated') || undefined,
    file: ({ isEstimated }) => (isEstimated === true ? 1 : 0),
  }),
  column('flags', (record, { counters }) => flagsOfRequest(record, counters.unpriced === 1)),
  field(units.number, ({ trail }) => trail.length, {
    ...{ column: 'attempts', spans: { server: 'svc.attempts' } },
  }),
  field(unitOfList(attemptFields, trailMax), ({ trail }) => trail, {
    ...{ name: 'trail', log: 'trail', read: trailOf },
    fileAs: 'attempts',
    file: ({ trail }) => trail.map(attemptText).join('; '),
  }),
  field(units.milliseconds, ({ waitedMs }) => waitedMs, {
    ...{ name: 'waitedMs', log: 'waited_ms', column: 'waited_ms', file: true, spans: { server: 'svc.waited_ms' } },
  }),
  field(unitOfList(limitFields, limitsMax), ({ limits }) => limits, {
    ...{ name: 'limits', log: 'limits', column: 'limits', label: 'limits' },
    stored: ({ limits }) => limitsLabel(limits),
    read: (row) => shownLimits(limitsOfLabel(row.text('limits'))),
    file: ({ limits }) => limits?.map(limitText).join('; '),
  }),
  field(units.text, ({ session }) => session, {
    ...{ name: 'session', log: 'session', column: 'session', isText: true, file: true },
    spans: { inference: 'gen_ai.conversation.id' },
    read: (row) => row.text('session') || undefined,
  }),
  field(units.flag, () => undefined, { name: 'isStored', read: () => true }),
]

/** Milliseconds of a stream for each token behind the first. */
function msPerToken({ firstTokenMs, totalMs, usage }: RequestRecord): number | undefined {
  const { completionTokens = 0, isEstimated } = usage ?? {}
  if (firstTokenMs === undefined || completionTokens < 2 || isEstimated === true) return undefined
  return Math.max(0, totalMs - firstTokenMs) / (completionTokens - 1)
}

/** Facts that only the span of all attempts has. */
function onInference(
  unit: (typeof units)['number'],
  attributes: Readonly<Record<string, (record: RequestRecord) => number | undefined>>,
): readonly RecordField<RequestRecord, StoredCharge, RequestEntry>[] {
  return Object.entries(attributes).map(([name, of]) => field(unit, of, { spans: { inference: name } }))
}

/** A request that is remembered. */
export function rememberedEntry(record: RequestRecord): RequestEntry {
  return shownOf(requestFields, record)
}

/** The attempts so far of a request under way, as those of one that has ended: at most 32, without their reasons. */
export function trailEntries(trail: readonly RecordedAttempt[]): readonly AttemptEntry[] {
  return trail
    .slice(0, trailMax)
    .map((attempt) => shownOf<RecordedAttempt, unknown, AttemptEntry>(attemptFields, attempt))
}

/** A request of the ledger. */
export function storedEntry(row: Row): RequestEntry {
  return readOf(requestFields, row)
}

/** A first attempt that was answered is not stored beside its request. */
function trailOf(row: Row): unknown {
  if (row.attempts.length > 0) return row.attempts.map((attempt) => readOf(attemptFields, attempt))
  const [provider, status] = [row.text('provider'), row.number('status')]
  if (row.number('attempts') === 0 || provider === '') return []
  return [{ provider, ...(status < 400 ? { status } : {}), ms: row.number('ms') }]
}

/** The amount of a limit as it is shown: of money in USD. */
function amountOf({ kind, limit }: MetLimit): number | undefined {
  return kind === 'usd' ? usd(limit) : limit
}

function shownLimits(limits: readonly MetLimit[]): unknown {
  return limits.length === 0 ? undefined : limits.map((limit) => shownOf(limitFields, limit))
}

function attemptText({ provider, status, failure = 'ok' }: AttemptEntry): string {
  return `${provider}${status === undefined ? '' : ` ${status}`} ${failure}`
}

/** `refused each key requests 60 per minute of gpt-*`. */
function limitText({ met, for: subject, kind, limit, per, models }: MetLimit): string {
  const amount = limit === undefined ? '' : ` ${limit}`
  const period = per === undefined ? '' : ` per ${per}`
  return `${met} ${subject} ${kind}${amount}${period}${models === undefined ? '' : ` of ${models.join()}`}`
}

/** The limits that a request met as the text of a label: most requests that meet limits meet the same ones. */
export function limitsLabel(limits: readonly MetLimit[] = []): string {
  if (limits.length === 0) return ''
  const kept = limits.slice(0, limitsMax)
  const text = JSON.stringify(
    kept.map(({ models, ...limit }) =>
      models === undefined ? limit : { ...limit, models: models.slice(0, limitsMax) },
    ),
  )
  if (Buffer.byteLength(text) <= labelBytesMax) return text
  return JSON.stringify(kept.map(({ models: _, ...limit }) => limit))
}

/** The limits of a label. A label that stands for many others has none. */
export function limitsOfLabel(text: string): readonly MetLimit[] {
  // This service wrote it, or it is the text of many others.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return text.startsWith('[') ? (JSON.parse(text) as readonly MetLimit[]) : []
}
