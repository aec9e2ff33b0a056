import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm, symlink, unlink } from 'node:fs/promises'
import { metric } from '../../test/client.ts'
import { faultUpstream } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { provider, startService, type ServiceUnderTest } from '../../test/harness.ts'
import { ask, demandExact, demandOthersServed, demandServed } from './ask.ts'
import { demand, type FaultCase } from './fault-case.ts'
import { until } from './testbed.ts'

function failedReloads({ url }: ServiceUnderTest): Promise<number> {
  return metric(url, 'svc_config_reloads_total{result="failed"}').then((count) => (Number.isNaN(count) ? 0 : count))
}

/** A bad file changes nothing for open and new requests; the next valid file is loaded. */
function spoilt(id: string, what: string, spoil: (file: string) => Promise<void>, isShort = false): FaultCase {
  return {
    id,
    area: 'configuration',
    what,
    isShort,
    async run(testbed) {
      const slow = faultUpstream(good({ pauseMs: 10 }))
      await testbed.offer(provider('slow', slow.url, ['slow']))
      const { service } = testbed,
        { file } = service,
        before = await failedReloads(service)
      const stream = ask(testbed, { model: 'slow', stream: true, tokens: 60 })
      await spoil(file)
      await until(async () => (await failedReloads(service)) > before, 'the file is read and rejected')
      await demandOthersServed(testbed)
      demandExact(await stream, true)
      await demandServed(testbed, 'slow', 'slow', [false])
      slow.stop()
      await rm(file, { recursive: true, force: true })
      const b = faultUpstream(good())
      await testbed.offer(provider('b', b.url, ['m']))
      await demandServed(testbed, 'm', 'b')
      b.stop()
      return (
        'rejected as a whole, with a line in the log; the active configuration stayed, streams went on; ' +
        'the next valid file was loaded'
      )
    },
  }
}

/** Writes in place, as careless editors and scripts do. */
async function overwrite(file: string, text: string | Uint8Array): Promise<void> {
  writeFileSync(file, text)
}

const halfWritten: FaultCase = {
  id: 'config-half-written',
  area: 'configuration',
  what: 'a file of which one half comes half a second after the other',
  async run(testbed) {
    const b = faultUpstream(good())
    await testbed.offer(provider('b', b.url, ['other']))
    const text = readFileSync(testbed.service.file, 'utf8').replace('"other"', '"m"')
    const before = await failedReloads(testbed.service)
    writeFileSync(testbed.service.file, text.slice(0, text.length / 2))
    await until(async () => (await failedReloads(testbed.service)) > before, 'the half is rejected')
    await demandOthersServed(testbed)
    await Bun.sleep(500)
    writeFileSync(testbed.service.file, text)
    await until(async () => (await ask(testbed, { model: 'm' })).answer.status === 200, 'the whole file is loaded')
    b.stop()
    return 'the half is rejected, the active configuration stays; the whole file is loaded'
  },
}

const storm: FaultCase = {
  id: 'config-storm',
  area: 'configuration',
  what: '200 changes of the file in two seconds, every other one broken, under load',
  async run(testbed) {
    const sound = readFileSync(testbed.service.file, 'utf8')
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        let count = 0
        for (; count < 100; count++) demandExact(await ask(testbed, { stream: client % 2 === 0 }), client % 2 === 0)
        return count
      }),
    )
    for (let round = 0; round < 200; round++) {
      await testbed.service.configure(round % 2 === 0 ? `${sound}{` : `${sound}${' '.repeat(round)}`)
      await Bun.sleep(10)
    }
    const counts = await load
    return `${counts.reduce((sum, count) => sum + count, 0)} requests meanwhile, all exact`
  },
}

const badStart: FaultCase = {
  id: 'config-bad-at-start',
  area: 'configuration',
  what: 'a start with a faulty file',
  isShort: true,
  async run() {
    const failure = await startService('{"providers": [{"id": "a", "base_urll": "x"}]}').then(
      () => 'it started',
      String,
    )
    demand(failure.includes('exited with 2') && failure.includes('base_urll'), `it names the fault, not ${failure}`)
    return 'no start, exit code 2; file, line and field are named'
  },
}

/** Faults of providers.json while the service runs. */
export const configurationFaults: readonly FaultCase[] = [
  spoilt('config-invalid', 'a file that is no JSON', (file) => overwrite(file, '{"providers": ['), true),
  spoilt('config-unknown-field', 'a file with a field that does not exist', (file) =>
    overwrite(file, '{"providers": [{"id": "echo", "base_urll": "x"}]}'),
  ),
  spoilt('config-empty', 'an empty file', (file) => overwrite(file, '')),
  spoilt('config-not-utf-8', 'a file that is not UTF-8', (file) =>
    overwrite(file, Uint8Array.of(0x7b, 0xff, 0xfe, 0x7d)),
  ),
  spoilt('config-deleted', 'a file that is deleted', (file) => unlink(file)),
  spoilt('config-directory', 'a folder where the file was', async (file) => {
    await rename(file, `${file}.old`)
    await mkdir(file)
  }),
  spoilt('config-link-to-itself', 'a symbolic link to itself', async (file) => {
    await unlink(file)
    await symlink(file, file)
  }),
  spoilt('config-10-mb', 'a file of 10 MB of brackets', (file) => overwrite(file, '['.repeat(10_000_000))),
  spoilt('config-10-mb-of-providers', 'a file of 10 MB with 100,000 faulty providers', (file) => {
    const members = '"base_urll": "http://127.0.0.1:9/v1", "models": ["m"], "retries": "many"'
    const providers = Array.from({ length: 100_000 }, (_, index) => `{"id": "a${index}", ${members}}`)
    return overwrite(file, `{"providers": [${providers.join()}]}`)
  }),
  halfWritten,
  storm,
  badStart,
]
