/**
 * `npm run bench:telemetry -- [ROUNDS]`: what OTLP costs a request, in user time of one process without sockets: spans
 * and metrics, with the messages that are sent, whose collector answers at once. Exits with 1 when the goal is missed.
 */
import { Exporter } from '../src/observe/otlp/exporter.ts'
import { readTelemetrySettings } from '../src/observe/otlp/settings.ts'
import { Traces } from '../src/observe/trace.ts'
import { requestPath, userUs } from './request-path.ts'
import { summarize } from './statistics.ts'
import { formatSummary, markdownTable } from './table.ts'

const addedUsMax = 10
const rounds = Number(process.argv[2] ?? 60)
if (!Number.isInteger(rounds) || rounds < 1) throw new Error(`rounds: found '${process.argv[2]}', allowed: 1 or more`)
const roundRequests = 2_000

const environment = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }
const settings = readTelemetrySettings(environment, '1')
let bytes = 0
let requests = 0

async function take(body: readonly Uint8Array[]) {
  bytes += body.reduce((sum, { length }) => sum + length, 0)
  return { status: 200 }
}

async function takeCompressed(body: readonly Uint8Array[]) {
  // In the service another thread does it.
  return take([Bun.gzipSync(Buffer.concat(body), { level: 1 })])
}

function exporting(post: typeof take): Exporter {
  return new Exporter({
    settings,
    posts: { traces: post, metrics: post },
    version: '1',
    metrics: () => [],
    warn: console.error,
    now: Date.now,
  })
}

const tracer = new Traces({ sampler: settings.sampler, hasOwn: true })
const exporters = { plain: exporting(take), gzip: exporting(takeCompressed) }
const paths = {
  'off, µs': await requestPath(),
  'off, a second one, µs': await requestPath(),
  'on, µs': await requestPath({ tracer, record: exporters.plain.record }),
  'on, with gzip, µs': await requestPath({ tracer, record: exporters.gzip.record }),
}
const names = Object.keys(paths)
const all = Object.values(paths)
for (const path of [...all, ...all]) await userUs(path)
bytes = 0
const found: number[][] = []
for (let round = 0; round < rounds; round += 1) {
  const row: number[] = []
  for (const path of all) row.push(await userUs(path, roundRequests))
  found.push(row)
  requests += 2 * roundRequests
}
for (const exporter of Object.values(exporters)) await exporter.close()
for (const path of all) await path.close()

/** Other programs on the machine can only add to the least. */
const least = names.map((_, index) => Math.min(...found.map((row) => row[index] ?? Infinity)))
const [off = 0, other = 0, on = 0, onWithGzip = 0] = least
const rows = names.map((name, index) => [
  name,
  formatSummary(summarize(found.map((row) => row[index] ?? 0))),
  (least[index] ?? 0).toFixed(2),
])
console.log(markdownTable([`user time of a request, ${rounds} rounds`, 'median (least–most)', 'least'], rows))
const added = on - off
const dropped = Object.values(exporters).reduce((sum, each) => sum + each.dropped, 0)
console.log(
  `\nadded, by the least: ${added.toFixed(2)} µs (goal ${addedUsMax}), ` +
    `with gzip ${(onWithGzip - off).toFixed(2)} µs; ` +
    `two paths without it: ${(other - off).toFixed(2)} µs; ` +
    `${(bytes / requests).toFixed(0)} bytes a request, ${dropped} spans dropped`,
)
if (!(added <= addedUsMax)) process.exitCode = 1
