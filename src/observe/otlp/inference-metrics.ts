import type { Usage } from '../../formats/usage.ts'
import type { SpanTarget } from '../../service/trail.ts'
import type { RequestRecord } from '../record.ts'
import { boundedLabel, registry, type Counter, type Histogram, type MetricValues } from '../registry.ts'
import { operationOf, systemOf } from './names.ts'

const modelsMax = 500
const labelsMax = 200
const seriesMax = 200
/** Of the conventions: 0.01 to 81.92 s, and 1 to 67,108,864 tokens. */
const secondsBounds = Array.from({ length: 14 }, (_, index) => 2 ** index / 100)
const tokenBounds = Array.from({ length: 14 }, (_, index) => 4 ** index)

const labels = [
  'gen_ai.operation.name',
  'gen_ai.provider.name',
  'gen_ai.request.model',
  'gen_ai.response.model',
  'server.address',
  'server.port',
  'error.type',
]
const prefix = 'gen_ai.client.inference'

interface InferenceSeries {
  readonly seconds: Histogram
  readonly firstSeconds: Histogram
  readonly inputTokens: Histogram
  readonly outputTokens: Histogram
  readonly counters: readonly Counter[]
}

/** The series of requests that ended alike. */
interface KnownSeries extends SpanTarget, Pick<RequestRecord, 'api' | 'error' | 'upstream'> {
  readonly hasTokens: boolean
  readonly series: InferenceSeries
}

/** Metrics of inferences, by the names of the conventions (`names.ts`). Callers cannot create series. */
export class InferenceMetrics {
  readonly #all = registry()
  readonly #boundModel = boundedLabel(modelsMax)
  readonly #boundLabel = boundedLabel(labelsMax)
  readonly #series = new Map<string, readonly KnownSeries[]>()
  readonly #make: (values: readonly string[], hasTokens: boolean) => InferenceSeries

  constructor() {
    const all = this.#all
    const seconds = all.histogram(
      `${prefix}.duration`,
      'Duration of an inference, retries included',
      labels,
      secondsBounds,
      's',
    )
    const first = all.histogram(
      `${prefix}.time_to_first_chunk`,
      'Time to the first chunk of a stream',
      labels,
      secondsBounds,
      's',
    )
    const operation = `${prefix}.operation`
    const input = all.histogram(`${operation}.input_tokens`, 'Tokens of a prompt', labels, tokenBounds, '{token}')
    const output = all.histogram(`${operation}.output_tokens`, 'Tokens of an answer', labels, tokenBounds, '{token}')
    const usage = `${prefix}.usage`
    const ofTokens = [...labels, 'gen_ai.token.modality']
    const counters = Object.entries({
      input_tokens: 'Tokens of prompts, with cached ones',
      output_tokens: 'Tokens of answers, with reasoning',
      'cache_read.input_tokens': 'Tokens of prompts that came from a cache',
      'cache_write.input_tokens': 'Tokens of prompts that were written to a cache',
      'reasoning.output_tokens': 'Tokens of reasoning',
    }).map(([name, help]) => all.counter(`${usage}.${name}`, help, ofTokens, '{token}'))
    this.#make = (values, hasTokens) => ({
      seconds: seconds.with(...values),
      firstSeconds: first.with(...values),
      inputTokens: input.with(...values),
      outputTokens: output.with(...values),
      counters: counters.map((each) => each.with(...values, hasTokens ? 'text' : 'unknown')),
    })
  }

  /** Counts an inference. Requests that no provider was asked for are none. */
  add(record: RequestRecord): void {
    const { trail, provider, usage, stream, firstTokenMs, totalMs } = record
    const first = trail.find(({ span }) => span !== undefined)
    const served = trail.findLast(({ name, span }) => span !== undefined && name === provider) ?? first
    if (first?.span === undefined || served?.span === undefined) return
    const { afterMs } = first.span
    const counts = usage?.isEstimated === true ? undefined : usage
    const series = this.#seriesOf(record, served.span.target, counts !== undefined)
    series.seconds.observe((totalMs - afterMs) / 1000)
    if (stream && firstTokenMs !== undefined) series.firstSeconds.observe((firstTokenMs - afterMs) / 1000)
    if (counts !== undefined) addTokens(series, counts)
  }

  read(): readonly MetricValues[] {
    return this.#all.read()
  }

  /** The series of a request. Each model has few, so searching them costs less than making a key of their labels. */
  #seriesOf(record: RequestRecord, { system, address, port }: SpanTarget, hasTokens: boolean): InferenceSeries {
    const { api, listedAs = 'other', upstream, error } = record
    const known = this.#series.get(listedAs) ?? []
    const found = known.find(
      (each) =>
        each.api === api &&
        each.error === error &&
        each.upstream === upstream &&
        each.hasTokens === hasTokens &&
        each.system === system &&
        each.address === address &&
        each.port === port,
    )
    if (found !== undefined) return found.series
    const series = this.#make(
      [
        ...[operationOf(api), systemOf(system), this.#boundModel(listedAs)],
        upstream === undefined || listedAs === 'other' ? '' : this.#boundModel(upstream),
        ...[address, port === 0 ? '' : String(port), error === undefined ? '' : this.#boundLabel(error)],
      ],
      hasTokens,
    )
    // Names that callers make up share the series of `other`, and must not fill this list.
    if (known.length < seriesMax)
      this.#series.set(listedAs, [...known, { api, error, upstream, hasTokens, system, address, port, series }])
    return series
  }
}

/** What is not known is ignored by histograms and counters. */
function addTokens({ inputTokens, outputTokens, counters }: InferenceSeries, usage: Usage): void {
  const { promptTokens = NaN, completionTokens = NaN, cachedTokens, cacheWriteTokens, reasoningTokens } = usage
  inputTokens.observe(promptTokens)
  outputTokens.observe(completionTokens)
  const counts = [promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens]
  for (const [index, counter] of counters.entries()) counter.add(counts[index] ?? 0)
}
