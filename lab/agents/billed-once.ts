import { Database } from 'bun:sqlite'
import { openLedger } from '../../src/ledger/open-ledger.ts'
import { makeKey, parseKeyRequest } from '../../src/people/keys/manage-keys.ts'
import { pick } from '../../test/client.ts'
import { good, goodText } from '../../test/fakes/good.ts'
import { startRig, type Rig } from '../../test/rig.ts'
import type { Findings } from '../load/load-report.ts'

export interface BilledOnceAsked {
  /** Requests, each with an `Idempotency-Key`. */
  readonly requests: number
  readonly workers: number
}

const paced = { name: 'a', tokens: 8, pauseMs: 4 } as const
const text = goodText(paced)
/** Callers with keys of their own, each with one request at a time. */
const callers = 48
/** A client is killed this often at most. Then its request is repeated until it has an answer. */
const killsMax = 3
/** Some kills come before the request was read, others behind the last byte. */
const killedWithinMs = 60
const price = { input: 2, output: 10 }

interface Tally {
  kills: number
  replays: number
  lost: number
  doubled: number
  readonly complaints: string[]
}

/** Clients that are killed at random moments and come back: their answers, and what the provider was asked. */
export async function billedOnce({ requests, workers }: BilledOnceAsked): Promise<Findings> {
  await using rig = await startRig([good(paced)], {
    flags: ['--auth', 'keys', '--workers', String(workers), '--log-level', 'warn'],
    each: { a: { models: [{ name: 'm', price }] } },
  })
  const keys = await keysOf(rig)
  const tally: Tally = { kills: 0, replays: 0, lost: 0, doubled: 0, complaints: [] }
  let next = 0
  await Promise.all(
    keys.map(async (key) => {
      for (; next < requests;) await request(rig, { key, id: `request-${(next += 1)}` }, tally)
    }),
  )
  const hits = rig.hits()[0] ?? 0
  const cost = await bookedBy(rig, hits)
  const each = costOfOne()
  return {
    rows: [
      ['requests, callers, workers', `${requests}, ${callers}, ${workers}`],
      ['clients killed; answers given again', `${tally.kills}; ${tally.replays}`],
    ],
    targets: [
      { name: 'answers lost', found: String(tally.lost), isMet: tally.lost === 0 },
      { name: 'answers with a text twice, or another text', found: String(tally.doubled), isMet: tally.doubled === 0 },
      { name: 'requests at the provider', found: `${hits} of ${requests}`, isMet: hits === requests },
      {
        name: 'the ledger is the bill, to the nano-dollar',
        found: `${cost} of ${hits * each} nano-USD`,
        isMet: cost === hits * each,
      },
    ],
    complaints: tally.complaints,
  }
}

/** One request, repeated with its key until a client reads an answer to its end. */
async function request(
  rig: Rig,
  { key, id }: { readonly key: string; readonly id: string },
  tally: Tally,
): Promise<void> {
  const kills = Math.floor(Math.random() * (killsMax + 1))
  for (let attempt = 0; ; attempt += 1) {
    const abort = new AbortController()
    const timer = attempt < kills ? setTimeout(() => abort.abort(), Math.random() * killedWithinMs) : undefined
    try {
      const response = await fetch(`${rig.service.url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'idempotency-key': id, connection: 'close' },
        body: JSON.stringify({
          model: 'm',
          stream: true,
          stream_options: { include_usage: true },
          messages: [{ role: 'user', content: 'hello' }],
        }),
        signal: abort.signal,
      })
      const answer = await response.text()
      if (response.headers.get('x-svc-replayed') === '1') tally.replays += 1
      return check(response.status, answer, { id, tally })
    } catch (error) {
      if (!abort.signal.aborted) tally.complaints.push(`${id}: ${String(error)}`)
      if (!abort.signal.aborted && attempt > killsMax + 3) {
        tally.lost += 1
        return
      }
      tally.kills += 1
    } finally {
      clearTimeout(timer)
    }
  }
}

function check(status: number, answer: string, { id, tally }: { readonly id: string; readonly tally: Tally }): void {
  const events = answer.split('\n\n').flatMap((event) => (event.startsWith('data: {') ? [event.slice(6)] : []))
  const content = events.map((event) => pick(JSON.parse(event), 'choices', 0, 'delta', 'content') ?? '').join('')
  if (status !== 200 || !answer.endsWith('data: [DONE]\n\n')) {
    tally.lost += 1
    tally.complaints.push(`${id}: status ${status}, ${answer.slice(0, 200)}`)
  } else if (content !== text) {
    tally.doubled += 1
    tally.complaints.push(`${id}: ${content}`)
  }
}

async function keysOf({ service }: Rig): Promise<readonly string[]> {
  const ledger = await openLedger({ path: `${service.home}/svc.db` })
  const maker = { by: 'lab', now: Date.now() }
  const made = []
  for (let count = 0; count < callers; count += 1)
    made.push(
      await makeKey(ledger.keys, parseKeyRequest({ name: `agent-${count}`, scopes: ['chat', 'usage:read'] }), maker),
    )
  await ledger.close()
  return made.map(({ key }) => key)
}

/** nano-USD of 3 and 5 tokens, which the provider counts for each answer. */
function costOfOne(): number {
  return (3 * price.input + 5 * price.output) * 1_000
}

/** The costs in the ledger, when it has this number of requests, in nano-USD. */
async function bookedBy({ service }: Rig, requests: number): Promise<number> {
  using database = new Database(`${service.home}/svc.db`, { readonly: true })
  const sums = database.query<{ requests: number; cost: number }, []>(
    'SELECT total(requests) AS requests, total(cost) AS cost FROM usage_hour',
  )
  for (let tries = 0; (sums.get()?.requests ?? 0) < requests && tries < 100; tries += 1) await Bun.sleep(100)
  return sums.get()?.cost ?? 0
}
