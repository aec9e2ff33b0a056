import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, quick } from '../../test/harness.ts'
import { ask, demandExact, demandMovesOn, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { demandEqual, type FaultCase } from './fault-case.ts'
import { startScript } from './start-script.ts'
import { openTestbed, until, type TestbedOptions } from './testbed.ts'

/** Makes the reply of a name server to a question; `undefined`: no reply. */
type NameAnswer = (question: Uint8Array) => Uint8Array | undefined

const address = '127.53.53.53'

/** An empty reply with this response code (RFC 1035 section 4.1.1). */
function saying(code: number): NameAnswer {
  return (question) => {
    const reply = Uint8Array.from(question)
    reply[2] = 0x81
    reply[3] = 0x80 | code
    return reply
  }
}

/** A reply with `address` for questions of type A, and an empty one for others (RFC 1035 section 4.1). */
function naming(address: () => string): NameAnswer {
  return (question) => {
    // The header is 12 bytes; the name ends with a length of 0; type and class are 4 bytes.
    const end = question.indexOf(0, 12) + 5,
      isIpv4 = question[end - 3] === 1
    const header = Uint8Array.of(question[0] ?? 0, question[1] ?? 0, 0x81, 0x80, 0, 1, 0, isIpv4 ? 1 : 0, 0, 0, 0, 0)
    const record = Uint8Array.of(0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 1, 0, 4, ...address().split('.').map(Number))
    return Buffer.concat([header, question.subarray(12, end), ...(isIpv4 ? [record] : [])])
  }
}

function lacksNames(): string | undefined {
  if (process.getuid?.() !== 0) return 'answering for names takes root'
  if (Bun.which('unshare') === null) return 'there is no unshare on this machine (Debian: util-linux)'
  const tried = Bun.spawnSync(['unshare', '--mount', 'mount', '--bind', '/dev/null', '/etc/resolv.conf'], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return tried.success ? undefined : 'mount namespaces are not allowed'
}

/** Options of a service whose only name server replies with `answer`. */
async function asking(answer: NameAnswer): Promise<TestbedOptions> {
  const server = await Bun.udpSocket({
    hostname: address,
    port: 53,
    socket: {
      data(socket, question, port, from) {
        const reply = answer(question)
        if (reply !== undefined) socket.send(reply, port, from)
      },
    },
  })
  const script = startScript((start, folder) => {
    const file = join(folder, 'resolv.conf')
    writeFileSync(file, `nameserver ${address}\noptions timeout:2 attempts:1\n`)
    return `exec unshare --mount sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' '${file}' ${start}`
  })
  return {
    ...script,
    async cleanUp() {
      server.close()
      await script.cleanUp()
    },
  }
}

function badNames(id: string, what: string, answer: NameAnswer): FaultCase {
  return {
    id,
    area: 'link',
    what,
    needs: lacksNames,
    own: async () => openTestbed(await asking(answer)),
    async run(testbed) {
      const b = faultUpstream(good())
      await testbed.offer(provider('a', 'http://provider.test/v1', ['m'], quick), provider('b', b.url, ['m']))
      await demandMovesOn(testbed, { hits: [] }, b, { hits: 0 })
      b.stop()
      return 'the next provider served'
    },
  }
}

const hungNames: FaultCase = {
  id: 'names-hang',
  area: 'link',
  what: '40 requests at once to providers whose DNS lookups get no reply',
  needs: lacksNames,
  own: async () => openTestbed(await asking(() => undefined)),
  async run(testbed) {
    const b = faultUpstream(good()),
      models = Array.from({ length: 40 }, (_, index) => `m${index}`)
    await testbed.offer(
      ...models.map((model) => provider(`a${model}`, `http://${model}.test/v1`, [model], quick)),
      provider('b', b.url, models),
    )
    const askings = Promise.all(models.map((model) => ask(testbed, { model })))
    await demandOthersServed(testbed)
    for (const each of await askings) demandExact(each, false)
    demandEqual(b.hits.length, 40, 'requests at the next provider')
    b.stop()
    return 'each given up after `connect_ms`, the next provider served, and others meanwhile'
  },
}

/** The runtime caches a name for half a minute, and a breaker may be open by then. */
const movedMsMax = 60_000

function moves(): FaultCase {
  let home = '127.0.0.1'
  return {
    id: 'names-move',
    area: 'link',
    what: 'a provider moves to another address under the same name',
    needs: lacksNames,
    own: async () => openTestbed(await asking(naming(() => home))),
    async run(testbed) {
      const old = faultUpstream(good()),
        b = faultUpstream(good())
      await testbed.offer(
        provider('a', `http://provider.test:${old.port}/v1`, ['m'], quick),
        provider('b', b.url, ['m']),
      )
      await demandServed(testbed, 'm', 'a')
      home = '127.0.0.2'
      const fresh = faultUpstream(good(), { hostname: home, port: old.port })
      old.stop()
      await until(
        async () => {
          await Bun.sleep(500)
          const asking = await ask(testbed, { model: 'm' })
          demandExact(asking, false)
          return servedBy(asking.answer) === 'a'
        },
        'the service uses the new address',
        movedMsMax,
      )
      fresh.stop()
      b.stop()
      return 'the next provider served until the new address was used, within a minute'
    },
  }
}

/** Faults of name servers. */
export const dnsFaults: readonly FaultCase[] = [
  badNames('names-silent', 'a name server that does not reply', () => undefined),
  badNames('names-fail', 'a name server that fails (SERVFAIL)', saying(2)),
  badNames('names-refuse', 'a name server that refuses', saying(5)),
  badNames('names-garbage', 'a name server that answers with random bytes', () =>
    crypto.getRandomValues(new Uint8Array(80)),
  ),
  badNames('names-empty', 'a name without an address', saying(0)),
  hungNames,
  moves(),
]
