import {
  answerOf,
  chunkedBody,
  errorOf,
  isDone,
  question,
  rawChat,
  rawConnection,
  type Answer,
} from '../../test/client.ts'
import { tokens } from '../../test/fakes/replies.ts'

const wrongsKept = 100
const waitMs = 30_000
const tickMs = 10
/** Open requests above which no new one begins: the machine cannot sustain the rate. */
const underWayMax = 1_000

/** Counts of requests so far, by their results. */
export interface SoakTally {
  begun: number
  right: number
  /** Right answers after a failover or resume. */
  resumedOrMovedOn: number
  tokensRight: number
  /** Streams that ended with an error event, with only right tokens before it. */
  lost: number
  departed: number
  /** Requests cut off while a worker was killed, with only right tokens so far. */
  brokenByKill: number
  wrongs: number
  /** The first wrong answers, a line each. */
  readonly wrong: string[]
}

/** Requests at a steady rate, 70 % of them streams. */
export interface SoakLoad {
  readonly port: number
  readonly ratePerSecond: number
  readonly tally: SoakTally
  /** Whether a worker was killed since `ms` (`performance.now()`). */
  readonly hasKilledSince: (ms: number) => boolean
}

/** Makes a tally with all counts 0. */
export function soakTally(): SoakTally {
  return {
    begun: 0,
    right: 0,
    resumedOrMovedOn: 0,
    tokensRight: 0,
    lost: 0,
    departed: 0,
    brokenByKill: 0,
    wrongs: 0,
    wrong: [],
  }
}

/** Runs the load until `until` settles, and then waits for open requests. */
export async function soakFor(until: Promise<unknown>, load: SoakLoad): Promise<void> {
  const underWay = new Set<Promise<void>>()
  const started = performance.now()
  let due = 0
  const beginning = setInterval(() => {
    const wanted = ((performance.now() - started) * load.ratePerSecond) / 1_000
    for (; due < wanted; due++) {
      if (underWay.size >= underWayMax) continue
      const request = one(load).finally(() => underWay.delete(request))
      underWay.add(request)
    }
  }, tickMs)
  await until
  clearInterval(beginning)
  await Promise.all(underWay)
}

async function one({ port, tally, hasKilledSince }: SoakLoad): Promise<void> {
  const number = tally.begun++,
    name = `s${number}`,
    length = 5 + (number % 40)
  const streams = Math.random() < 0.7,
    departs = Math.random() < 0.05
  const body = JSON.stringify(
    question({
      messages: [{ role: 'user', content: `stream=${name} tokens=${length}` }],
      ...(streams ? { stream: true } : {}),
    }),
  )
  const began = performance.now()
  const connection = rawConnection(port, rawChat(body, { connection: 'close' }), waitMs)
  if (departs) {
    await Bun.sleep(Math.random() * 40)
    connection.socket.destroy()
    tally.departed += 1
    return
  }
  const response = await connection.response,
    expected = tokens(length, name).join('')
  if (hasKilledSince(began) && isCutOff(response) && expected.startsWith(contentSoFar(response))) {
    tally.brokenByKill += 1
    return
  }
  judge(read(response), expected, streams, tally)
}

/** Whether a connection ended before its answer was complete. */
function isCutOff(response: string): boolean {
  const [head = '', body = ''] = [
    response.slice(0, response.indexOf('\r\n\r\n')),
    response.slice(response.indexOf('\r\n\r\n') + 4),
  ]
  if (!response.includes('\r\n\r\n')) return true
  const length = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  return length === undefined ? !response.endsWith('0\r\n\r\n') : body.length < Number(length)
}

function contentSoFar(response: string): string {
  return [...response.matchAll(/"content":"([^"]*)"/g)].map(([, text]) => text).join('')
}

function read(response: string): Answer | string {
  try {
    const [head = ''] = response.split('\r\n\r\n', 1)
    const headers = new Headers(
      head
        .split('\r\n')
        .slice(1)
        .map((line): [string, string] => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 1).trim()]),
    )
    return answerOf(
      { status: Number(head.slice(9, 12)), headers },
      headers.has('transfer-encoding') ? chunkedBody(response) : response.slice(head.length + 4),
    )
  } catch (error) {
    return `${String(error)}: ${response.slice(0, 200)}`
  }
}

/** Right: complete and exact. Lost: a stream with an error event after only right tokens. All else is wrong. */
function judge(answer: Answer | string, expected: string, streams: boolean, tally: SoakTally): void {
  if (typeof answer === 'string') return blame(answer, tally)
  if (answer.status === 200 && answer.content === expected && (!streams || isDone(answer))) {
    tally.right += 1
    tally.tokensRight += expected.split(' ').length - 1
    if (answer.headers.get('x-svc-attempts') !== '1') tally.resumedOrMovedOn += 1
  } else if (
    streams &&
    answer.status === 200 &&
    !isDone(answer) &&
    errorOf(answer) !== undefined &&
    expected.startsWith(answer.content)
  )
    tally.lost += 1
  else blame(`${answer.status} ${answer.text.slice(-300)}`, tally)
}

function blame(what: string, tally: SoakTally): void {
  tally.wrongs += 1
  if (tally.wrong.length < wrongsKept) tally.wrong.push(`${new Date().toISOString()} ${what}`)
}
