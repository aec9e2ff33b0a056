import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir, rename, rm, symlink, unlink } from 'node:fs/promises'
import { metric } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { provider, startService } from '../harness.ts'
import type { ServiceUnderTest } from '../harness.ts'
import { ask, demandExact, demandOthersServed, demandServed } from './ask.ts'
import { demand } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { until } from './ground.ts'

function failedReloads({ url }: ServiceUnderTest): Promise<number> {
  return metric(url, 'svc_config_reloads_total{result="failed"}').then((count) => (Number.isNaN(count) ? 0 : count))
}

/** What is in force stays while the file is spoilt, with requests under way, and a sound file is taken over afterwards. */
function spoilt(id: string, what: string, spoil: (file: string) => Promise<void>, isShort = false): FaultCase {
  return {
    id,
    area: 'configuration',
    what,
    isShort,
    async run(ground) {
      const slow = faultUpstream(good({ pauseMs: 10 }))
      await ground.offer(provider('slow', slow.url, ['slow']))
      const { service } = ground,
        { file } = service,
        before = await failedReloads(service)
      const stream = ask(ground, { model: 'slow', stream: true, tokens: 60 })
      await spoil(file)
      await until(async () => (await failedReloads(service)) > before, 'the file is looked at and refused')
      await demandOthersServed(ground)
      demandExact(await stream, true)
      await demandServed(ground, 'slow', 'slow', [false])
      slow.stop()
      await rm(file, { recursive: true, force: true })
      const b = faultUpstream(good())
      await ground.offer(provider('b', b.url, ['m']))
      await demandServed(ground, 'm', 'b')
      b.stop()
      return 'refused as a whole, with a line in the log; what was in force went on, streams too; a sound file was taken over'
    },
  }
}

/** As an editor or a script that is not careful does. */
async function overwrite(file: string, text: string | Uint8Array): Promise<void> {
  writeFileSync(file, text)
}

const halfWritten: FaultCase = {
  id: 'config-half-written',
  area: 'configuration',
  what: 'a file of which one half comes half a second after the other',
  async run(ground) {
    const b = faultUpstream(good())
    await ground.offer(provider('b', b.url, ['other']))
    const text = readFileSync(ground.service.file, 'utf8').replace('"other"', '"m"')
    const before = await failedReloads(ground.service)
    writeFileSync(ground.service.file, text.slice(0, text.length / 2))
    await until(async () => (await failedReloads(ground.service)) > before, 'the half is refused')
    await demandOthersServed(ground)
    await Bun.sleep(500)
    writeFileSync(ground.service.file, text)
    await until(async () => (await ask(ground, { model: 'm' })).answer.status === 200, 'the whole is in force')
    b.stop()
    return 'the half is refused, what was in force goes on; the whole is taken over'
  },
}

const storm: FaultCase = {
  id: 'config-storm',
  area: 'configuration',
  what: '200 changes of the file in two seconds, every other one broken, under load',
  async run(ground) {
    const sound = readFileSync(ground.service.file, 'utf8')
    const load = Promise.all(
      Array.from({ length: 8 }, async (_, client) => {
        let count = 0
        for (; count < 100; count++) demandExact(await ask(ground, { stream: client % 2 === 0 }), client % 2 === 0)
        return count
      }),
    )
    for (let round = 0; round < 200; round++) {
      await ground.service.configure(round % 2 === 0 ? `${sound}{` : `${sound}${' '.repeat(round)}`)
      await Bun.sleep(10)
    }
    const counts = await load
    return `${counts.reduce((sum, count) => sum + count, 0)} requests meanwhile, all exact`
  },
}

const badStart: FaultCase = {
  id: 'config-bad-at-start',
  area: 'configuration',
  what: 'a start with a file that has a fault',
  isShort: true,
  async run() {
    const failure = await startService('{"providers": [{"id": "a", "base_urll": "x"}]}').then(
      () => 'it started',
      String,
    )
    demand(failure.includes('exited with 2') && failure.includes('base_urll'), `it says what is wrong, not ${failure}`)
    return 'no start, exit code 2; file, line and field are named'
  },
}

/** What can be wrong with providers.json while the service runs. */
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
  spoilt('config-10-mb-of-providers', 'a file of 10 MB with 100,000 faulty providers', (file) =>
    overwrite(
      file,
      `{"providers": [${Array.from({ length: 100_000 }, (_, index) => `{"id": "a${index}", "base_urll": "http://127.0.0.1:9/v1", "models": ["m"], "retries": "many"}`).join()}]}`,
    ),
  ),
  halfWritten,
  storm,
  badStart,
]
