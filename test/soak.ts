import { readdirSync, readFileSync } from 'node:fs'
import { answerOf, chat, chunkedBody, errorOf, isDone, metric, question, rawChat, rawConnection } from './client.ts'
import { faultUpstream } from './fakes/fault-upstream.ts'
import { kindsOf } from './fakes/faults/fault.ts'
import { good, isStream } from './fakes/good.ts'
import { faults } from './fakes/modes.ts'
import { chunk, event, framed, streamHead, tokens } from './fakes/replies.ts'
import { provider, quick, startService } from './harness.ts'
import type { Answer } from './client.ts'
import type { Exchange, Script } from './fakes/fault-upstream.ts'
import type { ServiceUnderTest } from './harness.ts'

/**
 * `npm run soak [-- --seconds N]`: mixed load on the real process for N seconds (default 60), 70 % of it streams, with faults, cuts, departures and reloads.
 * Prints a short table; exits with 1 when an answer was wrong, or when descriptors, memory or open streams do not come back to where they were.
 */

/** Requests at the same time. */
const workers = 48
/** After the load, everything has so long to come back. */
const settleMs = 20_000
/** Kept-alive connections and files opened late may remain. */
const descriptorsMore = 32
/** Resident memory may end so much above where it stood after the warm-up. */
const memoryFactorMax = 1.3, memoryMoreMiB = 24

interface Tally {
  right: number
  resumedOrMovedOn: number
  lost: number
  departed: number
  readonly wrong: string[]
}

/** What a first provider does: most often well, now and then any fault there is, or a cut inside the text that was asked for. */
function moody(): Script {
  const quickOnes = faults.filter(({ name }) => !/2-GB|33-MiB|gzip/.test(name))
  const suitable = [false, true].map((stream) => quickOnes.flatMap((fault) => (fault.script !== undefined && kindsOf(fault).includes(stream) ? [fault.script] : [])))
  return async (exchange) => {
    const draw = Math.random()
    if (draw < 0.85) return await good({ pauseMs: 3 })(exchange)
    if (draw >= 0.95) return await cutInside(exchange)
    const scripts = suitable[isStream(exchange) ? 1 : 0] ?? []
    await scripts[Math.floor(Math.random() * scripts.length)]?.(exchange)
  }
}

/** Sends the first tokens of the text the request names, and then one of the ends that are none. */
async function cutInside(exchange: Exchange): Promise<void> {
  const name = /stream=([\w-]+)/.exec(new TextDecoder().decode(exchange.hit.body))?.[1]
  if (name === undefined) return exchange.reset()
  await exchange.write(Buffer.concat([Buffer.from(streamHead), ...tokens(3, name).map((text) => framed(event(chunk({ content: text }))))]))
  await exchange.pause(5)
  if (Math.random() < 0.5) exchange.reset()
  else exchange.close()
}

async function one(service: ServiceUnderTest, number: number, tally: Tally): Promise<void> {
  const name = `s${number}`, length = 5 + (number % 40)
  const streams = Math.random() < 0.7, departs = Math.random() < 0.05
  const body = JSON.stringify(question({ messages: [{ role: 'user', content: `stream=${name} tokens=${length}` }], ...(streams ? { stream: true } : {}) }))
  const connection = rawConnection(service.port, rawChat(body, { connection: 'close' }), 30_000)
  if (departs) {
    await Bun.sleep(Math.random() * 40)
    connection.socket.destroy()
    tally.departed += 1
    return
  }
  judge(read(await connection.response), tokens(length, name).join(''), streams, tally)
}

function read(response: string): Answer | string {
  try {
    const [head = ''] = response.split('\r\n\r\n', 1)
    const headers = new Headers(head.split('\r\n').slice(1).map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]))
    return answerOf({ status: Number(head.slice(9, 12)), headers }, headers.has('transfer-encoding') ? chunkedBody(response) : response.slice(head.length + 4))
  } catch (error) {
    return `${String(error)}: ${response.slice(0, 200)}`
  }
}

/** Right: complete and exact. Lost: a stream that says that it is lost, and had only right tokens so far. Anything else is wrong. */
function judge(answer: Answer | string, expected: string, streams: boolean, tally: Tally): void {
  if (typeof answer === 'string') tally.wrong.push(answer)
  else if (answer.status === 200 && answer.content === expected && (!streams || isDone(answer))) {
    tally.right += 1
    if (answer.headers.get('x-svc-attempts') !== '1') tally.resumedOrMovedOn += 1
  } else if (streams && answer.status === 200 && !isDone(answer) && errorOf(answer) !== undefined && expected.startsWith(answer.content)) tally.lost += 1
  else tally.wrong.push(`${answer.status} ${answer.text.slice(-300)}`)
}

interface Gauge {
  readonly descriptors: number
  readonly memoryMiB: number
  readonly streams: number
}

async function measure(service: ServiceUnderTest): Promise<Gauge> {
  const resident = /^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${service.pid}/status`, 'utf8'))?.[1]
  return {
    streams: await metric(service.url, 'svc_streams_open'),
    descriptors: readdirSync(`/proc/${service.pid}/fd`).length,
    memoryMiB: Number(resident) / 1024,
  }
}

async function load(service: ServiceUnderTest, seconds: number, tally: Tally): Promise<void> {
  const end = performance.now() + seconds * 1_000
  let number = 0
  await Promise.all(Array.from({ length: workers }, async () => {
    while (performance.now() < end) await one(service, number++, tally)
  }))
}

/** Waits until `after` is back where `before` was, and returns the last measurement. */
async function settle(service: ServiceUnderTest, before: Gauge): Promise<Gauge> {
  const end = performance.now() + settleMs
  for (;;) {
    const now = await measure(service)
    if (complaints(before, now).length === 0 || performance.now() > end) return now
    await Bun.sleep(500)
  }
}

function complaints(before: Gauge, after: Gauge): readonly string[] {
  return [
    ...(after.streams === 0 ? [] : [`${after.streams} streams are still open`]),
    ...(after.descriptors <= before.descriptors + descriptorsMore ? [] : [`descriptors rose from ${before.descriptors} to ${after.descriptors}`]),
    ...(after.memoryMiB <= before.memoryMiB * memoryFactorMax + memoryMoreMiB ? [] : [`memory rose from ${before.memoryMiB.toFixed(0)} to ${after.memoryMiB.toFixed(0)} MiB`]),
  ]
}

function secondsAsked(): number {
  const at = process.argv.indexOf('--seconds'), value = at === -1 ? 60 : Number(process.argv[at + 1])
  if (!(value >= 1 && value <= 1_000_000)) throw new Error('--seconds wants a number from 1')
  return value
}

const seconds = secondsAsked()
const a = faultUpstream(moody()), b = faultUpstream(good({ pauseMs: 1 })), c = faultUpstream(good())
const order = [provider('a', a.url, ['m'], quick), provider('b', b.url), provider('c', c.url)]
const service = await startService({ providers: order })
const tally: Tally = { right: 0, resumedOrMovedOn: 0, lost: 0, departed: 0, wrong: [] }

await load(service, Math.min(5, seconds / 4), tally)
await Bun.sleep(1_000)
const before = await measure(service)

const reloads = setInterval(() => void service.configure({ providers: Math.random() < 0.5 ? order : order.toReversed().toSorted((one) => (one.id === 'a' ? -1 : 0)) }), 2_000)
await load(service, seconds, tally)
clearInterval(reloads)
const atEnd = await measure(service)
const after = await settle(service, before)
const last = await chat(service.url, question())
await service.stop()
for (const upstream of [a, b, c]) upstream.stop()

const wrongs = [...complaints(before, after), ...tally.wrong.slice(0, 5), ...(last.status === 200 ? [] : ['the last request failed']), ...a.faults.slice(0, 3)]
const row = (name: string, value: (gauge: Gauge) => string) => `${name.padEnd(16)}${[before, atEnd, after].map((gauge) => value(gauge).padStart(10)).join('')}`
console.log([
  `${seconds} s, ${workers} at a time: ${tally.right} right (${tally.resumedOrMovedOn} by failover or resume), ${tally.lost} streams lost and said so, ${tally.departed} departed, ${tally.wrong.length} wrong`,
  `${''.padEnd(16)}${['warm', 'loaded', 'settled'].map((name) => name.padStart(10)).join('')}`,
  row('descriptors', (gauge) => String(gauge.descriptors)),
  row('memory, MiB', (gauge) => gauge.memoryMiB.toFixed(0)),
  row('open streams', (gauge) => String(gauge.streams)),
  ...wrongs.map((wrong) => `wrong: ${wrong}`),
].join('\n'))
process.exit(wrongs.length === 0 ? 0 : 1)
