import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, quick } from '../harness.ts'
import { ask, demandExact, demandMovesOn, demandOthersServed, demandServed, servedBy } from './ask.ts'
import { demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { openGround, until } from './ground.ts'
import type { GroundOptions } from './ground.ts'
import { startScript } from './start-script.ts'

/** A server of names that does as it is told with each question; `undefined`: it says nothing. */
type NameAnswer = (question: Uint8Array) => Uint8Array | undefined

const address = '127.53.53.53'

/** A reply to a question that carries nothing but this code (RFC 1035 section 4.1.1). */
function saying(code: number): NameAnswer {
  return (question) => {
    const reply = Uint8Array.from(question)
    reply[2] = 0x81
    reply[3] = 0x80 | code
    return reply
  }
}

/** A reply that names this address to whoever asks for one of IPv4, and none to others (RFC 1035 section 4.1). */
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

/** A service that asks that server for names, and nobody else. */
async function asking(answer: NameAnswer): Promise<GroundOptions> {
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
    writeFileSync(join(folder, 'resolv.conf'), `nameserver ${address}\noptions timeout:2 attempts:1\n`)
    return `exec unshare --mount sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' '${join(folder, 'resolv.conf')}' ${start}`
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
    own: async () => openGround(await asking(answer)),
    async run(ground) {
      const b = faultUpstream(good())
      await ground.offer(provider('a', 'http://provider.test/v1', ['m'], quick), provider('b', b.url, ['m']))
      await demandMovesOn(ground, { hits: [] }, b, { hits: 0 })
      b.stop()
      return 'the next provider served'
    },
  }
}

const hungNames: FaultCase = {
  id: 'names-hang',
  area: 'link',
  what: '40 requests at once to providers whose names are looked up without an answer',
  needs: lacksNames,
  own: async () => openGround(await asking(() => undefined)),
  async run(ground) {
    const b = faultUpstream(good()),
      models = Array.from({ length: 40 }, (_, index) => `m${index}`)
    await ground.offer(
      ...models.map((model) => provider(`a${model}`, `http://${model}.test/v1`, [model], quick)),
      provider('b', b.url, models),
    )
    const askings = Promise.all(models.map((model) => ask(ground, { model })))
    await demandOthersServed(ground)
    for (const each of await askings) demandExact(each, false)
    demandEqual(b.hits.length, 40, 'requests at the next provider')
    b.stop()
    return 'each given up after `connect_ms`, the next provider served, and others meanwhile'
  },
}

/** The runtime keeps a name for half a minute, and a breaker may be open by then. */
const movedMsMax = 60_000

function moves(): FaultCase {
  let home = '127.0.0.1'
  return {
    id: 'names-move',
    area: 'link',
    what: 'a provider moves to another address under the same name',
    needs: lacksNames,
    own: async () => openGround(await asking(naming(() => home))),
    async run(ground) {
      const old = faultUpstream(good()),
        b = faultUpstream(good())
      await ground.offer(
        provider('a', `http://provider.test:${old.port}/v1`, ['m'], quick),
        provider('b', b.url, ['m']),
      )
      await demandServed(ground, 'm', 'a')
      home = '127.0.0.2'
      const fresh = faultUpstream(good(), { hostname: home, port: old.port })
      old.stop()
      await until(
        async () => {
          await Bun.sleep(500)
          const asking = await ask(ground, { model: 'm' })
          demandExact(asking, false)
          return servedBy(asking.answer) === 'a'
        },
        'the new address is known',
        movedMsMax,
      )
      fresh.stop()
      b.stop()
      return 'the next provider served until the new address was known, within a minute'
    },
  }
}

/** A server of names that fails. */
export const dnsFaults: readonly FaultCase[] = [
  badNames('names-silent', 'a name server that says nothing', () => undefined),
  badNames('names-fail', 'a name server that fails (SERVFAIL)', saying(2)),
  badNames('names-refuse', 'a name server that refuses', saying(5)),
  badNames('names-garbage', 'a name server that answers with random bytes', () =>
    crypto.getRandomValues(new Uint8Array(80)),
  ),
  badNames('names-empty', 'a name without an address', saying(0)),
  hungNames,
  moves(),
]
