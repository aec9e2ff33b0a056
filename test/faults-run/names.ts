import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, quick } from '../harness.ts'
import { ask, demandExact, demandMovesOn, demandOthersServed } from './ask.ts'
import { demandEqual } from './fault-case.ts'
import { openGround } from './ground.ts'
import { startScript } from './start-script.ts'
import type { FaultCase } from './fault-case.ts'
import type { GroundOptions } from './ground.ts'

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

function lacksNames(): string | undefined {
  if (process.getuid?.() !== 0) return 'answering for names takes root'
  if (Bun.which('unshare') === null) return 'there is no unshare on this machine (Debian: util-linux)'
  const tried = Bun.spawnSync(['unshare', '--mount', 'mount', '--bind', '/dev/null', '/etc/resolv.conf'], { stdout: 'ignore', stderr: 'ignore' })
  return tried.success ? undefined : 'mount namespaces are not allowed'
}

/** A service that asks that server for names, and nobody else. */
async function asking(answer: NameAnswer): Promise<GroundOptions> {
  const server = await Bun.udpSocket({ hostname: address, port: 53, socket: {
    data(socket, question, port, from) {
      const reply = answer(question)
      if (reply !== undefined) socket.send(reply, port, from)
    },
  } })
  const script = startScript((start, folder) => {
    writeFileSync(join(folder, 'resolv.conf'), `nameserver ${address}\noptions timeout:2 attempts:1\n`)
    return `exec unshare --mount sh -c 'mount --bind "$0" /etc/resolv.conf && exec "$@"' '${join(folder, 'resolv.conf')}' ${start}`
  })
  return { ...script, async cleanUp() {
    server.close()
    await script.cleanUp()
  } }
}

function badNames(id: string, what: string, answer: NameAnswer): FaultCase {
  return { id, area: 'link', what, needs: lacksNames, own: async () => openGround(await asking(answer)), async run(ground) {
    const b = faultUpstream(good())
    await ground.offer(provider('a', 'http://provider.test/v1', ['m'], quick), provider('b', b.url, ['m']))
    await demandMovesOn(ground, { hits: [] }, b, { hits: 0 })
    b.stop()
    return 'the next provider served'
  } }
}

const hungNames: FaultCase = {
  id: 'names-hang', area: 'link', what: '40 requests at once to providers whose names are looked up without an answer', needs: lacksNames, own: async () => openGround(await asking(() => undefined)),
  async run(ground) {
    const b = faultUpstream(good()), models = Array.from({ length: 40 }, (_, index) => `m${index}`)
    await ground.offer(...models.map((model) => provider(`a${model}`, `http://${model}.test/v1`, [model], quick)), provider('b', b.url, models))
    const askings = Promise.all(models.map((model) => ask(ground, { model })))
    await demandOthersServed(ground)
    for (const each of await askings) demandExact(each, false)
    demandEqual(b.hits.length, 40, 'requests at the next provider')
    b.stop()
    return 'each given up after `connect_ms`, the next provider served, and others meanwhile'
  },
}

/** A server of names that fails. */
export const dnsFaults: readonly FaultCase[] = [
  badNames('names-silent', 'a name server that says nothing', () => undefined),
  badNames('names-fail', 'a name server that fails (SERVFAIL)', saying(2)),
  badNames('names-refuse', 'a name server that refuses', saying(5)),
  badNames('names-garbage', 'a name server that answers with random bytes', () => crypto.getRandomValues(new Uint8Array(80))),
  badNames('names-empty', 'a name without an address', saying(0)),
  hungNames,
]
