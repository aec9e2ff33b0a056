import { question, rawChat } from '../../test/client.ts'
import { faultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { firstTokens } from '../../test/fakes/faults/cut.ts'
import { residentMb } from '../../test/fakes/memory.ts'
import { framed, head, streamHead } from '../../test/fakes/replies.ts'
import { provider } from '../../test/harness.ts'
import { demandOthersServed } from './ask.ts'
import { clients, crowd, disperse } from './crowd.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { until } from './testbed.ts'

/** The promise is 50 ms at the median (docs/failover.md, rule 7); the machine may be busy. */
const abortMsMax = 1_000

/**
 * Memory limit for one client that does not read. Socket buffers of client and provider take some 10 MB before the
 * stream stalls; pages that those bytes passed through are not all free again.
 */
const neverReadsMiB = 16

/** Sends tokens as fast as they are taken. */
const torrent: Script = async (exchange) => {
  await exchange.write(streamHead)
  for (;;) {
    await exchange.write(framed(firstTokens('more', 200)))
    await exchange.pause(0)
  }
}

const neverReads: FaultCase = {
  id: 'never-reads',
  area: 'client',
  what: `${clients} clients that ask for a stream without end and read nothing`,
  async run(testbed) {
    const a = faultUpstream(torrent)
    await testbed.offer(provider('a', a.url, ['m']))
    const before = residentMb(testbed.service.pid)
    const readers = crowd(testbed, clients, '')
    for (const { socket } of readers) {
      socket.pause()
      socket.write(rawChat(JSON.stringify(question({ stream: true }))))
    }
    await until(() => a.hits.length === clients, 'all requests have reached the provider')
    await demandOthersServed(testbed)
    let most = 0
    await until(() => {
      most = Math.max(most, residentMb(testbed.service.pid) - before)
      return a.open === 0
    }, 'every request at the provider is aborted')
    disperse(readers)
    a.stop()
    demand(
      most < clients * neverReadsMiB,
      `they cost less than ${neverReadsMiB} MiB each, not ${(most / clients).toFixed(1)}`,
    )
    return (
      'dropped after `SVC_STALL_MS`, the request at the provider aborted; ' +
      `at most ${Math.ceil(most / clients)} MiB of memory each, others were served meanwhile`
    )
  },
}

/** Clients leave: their requests at the provider are aborted, and no other provider is asked. */
function leaves(id: string, what: string, script: Script, stream: boolean, sign?: string): FaultCase {
  return {
    id,
    area: 'client',
    what: `${clients} clients that leave ${what}`,
    isShort: true,
    async run(testbed) {
      const a = faultUpstream(script),
        b = faultUpstream()
      await testbed.offer(provider('a', a.url, ['m']), provider('b', b.url, ['m']))
      const here = crowd(testbed, clients, rawChat(JSON.stringify(question(stream ? { stream } : {}))))
      await until(() => a.hits.length === clients, 'all requests have reached the provider')
      if (sign !== undefined) await Promise.all(here.map((client) => client.until(sign)))
      const started = performance.now()
      here.forEach(({ socket }, index) => void (index % 2 === 0 ? socket.destroy() : socket.resetAndDestroy()))
      const left = await Promise.all(a.hits.map((hit) => hit.left))
      const ms = Math.max(...left) - started
      demand(ms < abortMsMax, `requests at the provider are aborted within ${abortMsMax} ms, not ${ms.toFixed(0)}`)
      demandEqual(b.hits.length, 0, 'requests at the next provider')
      a.stop()
      b.stop()
      return `all requests at the provider aborted within ${ms < 50 ? '50 ms' : '1 s'}, no other provider was asked`
    },
  }
}

const leavesUploading: FaultCase = {
  id: 'leaves-uploading',
  area: 'client',
  what: `${clients} clients that leave while they send 2 MB`,
  isShort: true,
  async run(testbed) {
    const hits = testbed.sound.hits.length
    const here = crowd(testbed, clients, rawChat('{"model":"well","x":"', { 'content-length': '2000000' }))
    for (const { socket } of here) socket.write('a'.repeat(1_000_000))
    await Bun.sleep(100)
    disperse(here)
    demandEqual(testbed.sound.hits.length, hits, 'requests at the provider')
    return 'no provider was asked'
  },
}

const silent: Script = (exchange) => exchange.hang()

const insideBody: Script = async (exchange) => {
  await exchange.write(`${head(200, { 'content-type': 'application/json', 'content-length': '500' })}{"id":`)
  await exchange.hang()
}

const beforeFirstToken: Script = async (exchange) => {
  await exchange.write(streamHead)
  await exchange.hang()
}

const inMidStream: Script = async (exchange) => {
  await exchange.write(Buffer.concat([Buffer.from(streamHead), framed(firstTokens())]))
  await exchange.hang()
}

const departures: FaultCase = {
  id: 'departures-at-random',
  area: 'client',
  what: '200 streams whose clients leave at any moment',
  async run(testbed) {
    const a = faultUpstream((exchange) => torrent(exchange))
    await testbed.offer(provider('a', a.url, ['m']))
    await Promise.all(
      crowd(testbed, 200, rawChat(JSON.stringify(question({ stream: true })))).map(async ({ socket }) => {
        await Bun.sleep(Math.random() * 1_000)
        socket.destroy()
      }),
    )
    await until(() => a.open === 0, 'every request at the provider is aborted')
    a.stop()
    return 'every request at the provider was aborted'
  },
}

/** Clients that stop reading, or leave. */
export const departureFaults: readonly FaultCase[] = [
  neverReads,
  leavesUploading,
  leaves('leaves-before-head', 'before an answer has begun', silent, false),
  leaves('leaves-in-body', 'in the middle of a plain answer', insideBody, false),
  leaves('leaves-before-token', 'before the first token of a stream', beforeFirstToken, true),
  leaves('leaves-mid-stream', 'in the middle of a stream', inMidStream, true, 'same-2'),
  departures,
]
