/** A metric and its samples, as a scraper reads them. */
export interface ParsedFamily {
  readonly type: string
  readonly help: string | undefined
  readonly samples: readonly ParsedSample[]
}

/** One line of values. */
export interface ParsedSample {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

const namePattern = '[a-zA-Z_:][a-zA-Z0-9_:]*'
const commentLine = new RegExp(`^# (HELP|TYPE) (${namePattern}) (.*)$`, 's')
const sampleLine = new RegExp(`^(${namePattern})(?:\\{(.*)\\})? (\\S+)$`, 's')
const label = /^([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\["\\n])*)"(?:,(?=.)|$)/s

/**
 * Parses the Prometheus text format 0.0.4 strictly, for tests.
 *
 * @throws for samples without a type or outside their family, repeated samples, and inconsistent buckets
 */
export function parseMetrics(text: string): ReadonlyMap<string, ParsedFamily> {
  const families = new Map<string, { type: string; help: string | undefined; samples: ParsedSample[] }>()
  if (text !== '' && !text.endsWith('\n')) throw new Error('the last line is not ended')
  let help: { readonly name: string; readonly text: string } | undefined
  let current = ''
  for (const line of text.split('\n').slice(0, -1)) {
    const comment = commentLine.exec(line)
    if (comment !== null) {
      const [, kind, name = '', rest = ''] = comment
      if (kind === 'HELP') {
        help = { name, text: unescape(rest) }
        continue
      }
      if (families.has(name) || !['counter', 'gauge', 'histogram'].includes(rest)) throw new Error(`bad type: ${line}`)
      families.set(name, { type: rest, help: help?.name === name ? help.text : undefined, samples: [] })
      current = name
      continue
    }
    const [, name = '', labels = '', value = ''] = sampleLine.exec(line) ?? []
    const family = families.get(current)
    const suffixes = family?.type === 'histogram' ? ['_bucket', '_sum', '_count'] : ['']
    if (family === undefined || !suffixes.some((suffix) => name === current + suffix))
      throw new Error(`a sample out of its family: ${line}`)
    family.samples.push({ name, labels: parseLabels(labels), value: parseNumber(value) })
  }
  for (const { type, samples } of families.values()) {
    const keys = samples.map((sample) => JSON.stringify([sample.name, sample.labels]))
    if (new Set(keys).size < keys.length) throw new Error('a sample stands twice')
    if (type === 'histogram') checkBuckets(samples)
  }
  return families
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {}
  for (let rest = text; rest !== '';) {
    const match = label.exec(rest)
    if (match === null) throw new Error(`bad labels: ${text}`)
    const [whole, name = '', value = ''] = match
    if (Object.hasOwn(labels, name)) throw new Error(`a label stands twice: ${text}`)
    labels[name] = unescape(value)
    rest = rest.slice(whole.length)
  }
  return labels
}

function parseNumber(text: string): number {
  if (text === '+Inf') return Infinity
  if (text === '-Inf') return -Infinity
  if (text === 'NaN') return NaN
  if (!/^-?\d+(\.\d+)?(e[+-]\d+)?$/.test(text)) throw new Error(`not a number: ${text}`)
  return Number(text)
}

function checkBuckets(samples: readonly ParsedSample[]): void {
  let last = 0
  for (const { name, labels, value } of samples) {
    if (name.endsWith('_sum')) continue
    if (value < last || (name.endsWith('_count') && value !== last)) throw new Error(`buckets do not add up: ${name}`)
    last = name.endsWith('_count') ? 0 : value
    if (name.endsWith('_bucket') !== (labels['le'] !== undefined)) throw new Error(`le is misplaced: ${name}`)
  }
}

function unescape(text: string): string {
  return text.replace(/\\(.)/gs, (_, letter: string) => (letter === 'n' ? '\n' : letter))
}
