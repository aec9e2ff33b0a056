import { Database } from 'bun:sqlite'
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { parseJson, pick } from '../../test/client.ts'
import { faultUpstream, type Script } from '../../test/fakes/fault-upstream.ts'
import { good } from '../../test/fakes/good.ts'
import { reply } from '../../test/fakes/replies.ts'
import { provider } from '../../test/harness.ts'
import { demandOthersServed, demandServed } from './ask.ts'
import { demand, demandEqual, type FaultCase } from './fault-case.ts'
import { startScript } from './start-script.ts'
import { openTestbed, until, type Testbed } from './testbed.ts'

function lacksMount(): string | undefined {
  if (process.getuid?.() !== 0) return 'mounting a small disk takes root'
  const tried = Bun.spawnSync(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return tried.success ? undefined : 'mounting is not allowed'
}

/** Mounts a disk of this size over a folder. @returns a function that removes it */
function mountDisk(folder: string, size: string): () => void {
  const mount = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', `size=${size}`, 'none', folder])
  demand(mount.success, `a small disk can be mounted: ${mount.stderr.toString()}`)
  const remove = () => void Bun.spawnSync(['umount', '--lazy', folder])
  process.once('exit', remove)
  return () => {
    process.removeListener('exit', remove)
    remove()
  }
}

/** Mounts a disk of 64 KB over a folder while `act` runs. */
async function onSmallDisk<Value>(folder: string, act: () => Promise<Value>): Promise<Value> {
  const unmount = mountDisk(folder, '64k')
  try {
    return await act()
  } finally {
    unmount()
  }
}

function fill(folder: string): void {
  try {
    for (let count = 0; ; count++) writeFileSync(join(folder, `filler-${count}`), Buffer.alloc(4_096))
  } catch {
    // The disk is full now, as intended.
  }
}

/** Disables a provider through the API of the page. @returns the status */
async function disable({ service }: Testbed, id: string): Promise<number> {
  const state = parseJson(await (await fetch(`${service.url}/api/providers`)).text())
  const response = await fetch(`${service.url}/api/providers`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ version: pick(state, 'version'), id, change: 'disable' }),
  })

  await response.text()
  return response.status
}

/** Demands that a change of the providers fails and leaves nothing behind. @returns its status */
async function demandChangeRefused(testbed: Testbed): Promise<number> {
  const { file } = testbed.service,
    before = readFileSync(file, 'utf8')
  const status = await disable(testbed, 'sound')
  demand(status >= 400, `the change fails, not ${status}`)
  demandEqual(
    [readFileSync(file, 'utf8') === before, readdirSync(dirname(file)).filter((name) => name.startsWith('.'))],
    [true, []],
    'the file as before, and drafts beside it',
  )
  return status
}

const providersFile: FaultCase = {
  id: 'disk-full-providers',
  area: 'process',
  what: 'an owner changes the providers while the disk is full',
  needs: lacksMount,
  own: () => openTestbed(),
  run: (testbed) =>
    onSmallDisk(dirname(testbed.service.file), async () => {
      const folder = dirname(testbed.service.file)
      // This write puts the file on the small disk.
      await testbed.offer(provider('spare', testbed.sound.url, ['well']))
      fill(folder)
      const status = await demandChangeRefused(testbed)
      await demandServed(testbed, 'well', 'spare')
      for (const name of readdirSync(folder).filter((each) => each.startsWith('filler')))
        await Bun.file(join(folder, name)).delete()
      demandEqual(await disable(testbed, 'sound'), 200, 'the same change with free space')
      await testbed.offer()
      return `${status} with the reason, the file as before, no draft left beside it; succeeds once there is free space`
    }),
}

/** Models of the upstream below. */
const models = ['m', ...Array.from({ length: 99 }, (_, index) => `model-${index}`)]
const listing: Script = (exchange) =>
  exchange.hit.method === 'GET'
    ? exchange.write(
        reply(200, JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) })),
      )
    : good()(exchange)

/** Demands that a model list is fetched and used although it cannot be cached. */
async function demandListServed(testbed: Testbed): Promise<string> {
  const a = faultUpstream(listing)
  await testbed.offer({ id: 'a', base_url: a.url })
  await until(async () => (await fetch(`${testbed.service.url}/v1/models/m`)).status === 200, 'the model is known')
  await demandServed(testbed, 'm', 'a')
  await demandOthersServed(testbed)
  a.stop()
  return 'the list is used, though not cached; all requests are served'
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

const fullCache: FaultCase = {
  id: 'disk-full-cache',
  area: 'process',
  what: 'a full disk for the cache of model lists',
  needs: lacksMount,
  own: () => openTestbed(),
  run: (testbed) =>
    onSmallDisk(testbed.home, async () => {
      mkdirSync(join(testbed.home, 'cache'))
      fill(testbed.home)
      const words = await demandListServed(testbed)
      demandEqual(filesOf(join(testbed.home, 'cache')), [], 'files begun and not finished')
      return words
    }),
}

const spoiltCache: FaultCase = {
  id: 'cache-is-a-file',
  area: 'process',
  what: 'a file where the folder of the cache should be',
  own: () => openTestbed(),
  async run(testbed) {
    writeFileSync(join(testbed.home, 'cache'), 'no folder')
    return await demandListServed(testbed)
  },
}

/** Like a full disk, without root: files cannot grow beyond 512 bytes. */
const smallFiles: FaultCase = {
  id: 'small-files',
  area: 'process',
  what: 'a limit of file size (`ulimit -f`): an owner changes the providers, and a model list is fetched',
  own: () => openTestbed(startScript((start) => `ulimit -f 1\nexec ${start}`)),
  async run(testbed) {
    await testbed.offer(provider('spare', testbed.sound.url, ['well'], { headers: { 'x-filler': 'a'.repeat(1_000) } }))
    const status = await demandChangeRefused(testbed)
    const words = await demandListServed(testbed)
    demandEqual(filesOf(join(testbed.home, 'cache')), [], 'files begun and not finished')
    return `${status} with the reason, the file as before; ${words}`
  },
}

/** A service with a budget keeps sums of use. */
function fullLedger(): FaultCase {
  let home = ''

  /** Requests for the model `m` in the sums of svc.db. */
  function summed(): number {
    const ledger = new Database(join(home, 'svc.db'), { readonly: true })
    try {
      const query = `SELECT sum(requests) AS sum FROM usage_hour JOIN label ON label.id = model WHERE text = 'm'`
      return ledger.query<{ sum: number | null }, []>(query).get()?.sum ?? 0
    } finally {
      ledger.close()
    }
  }

  return {
    id: 'disk-full-ledger',
    area: 'process',
    what: 'a full disk under the database of keys and use',
    isShort: true,
    needs: lacksMount,
    own() {
      home = mkdtempSync(join(tmpdir(), 'svc-disk-'))
      // The reserve of 8 MiB is made where 64 MiB are left beside it.
      const unmount = mountDisk(home, '100m')
      const limits = [{ for: 'everyone', usd: 1_000, per: 'total', models: ['m'] }]
      writeFileSync(join(home, 'access.json'), JSON.stringify({ limits }))
      return openTestbed({
        environment: { SVC_HOME: home },
        cleanUp() {
          unmount()
          rmSync(home, { recursive: true })
        },
      })
    },
    async run(testbed) {
      const a = faultUpstream(good())
      const models = [{ name: 'm', price: { input: 3, output: 15 } }]
      await testbed.offer(provider('a', a.url, [], { models }))
      await until(() => existsSync(join(home, 'svc.db-reserve')), 'the reserve is made')
      writeFileSync(join(home, 'filler'), '')
      for (let size = 1024 * 1024; size >= 512; size /= 2) fillBy(join(home, 'filler'), size)
      for (let turn = 0; turn < 20; turn += 1) await demandServed(testbed, 'm', 'a')
      await until(() => summed() === a.hits.length, 'all requests are in the sums, on a full disk')
      rmSync(join(home, 'filler'))
      await demandServed(testbed, 'm', 'a')
      await until(() => summed() === a.hits.length, 'so are those after it')
      a.stop()
      return `all ${a.hits.length} requests are served, and are in the sums: they have the reserve`
    },
  }
}

/** Adds pieces of a size to a file until the disk takes none. */
function fillBy(path: string, size: number): void {
  try {
    for (;;) appendFileSync(path, Buffer.alloc(size))
  } catch {
    // The rest of the disk is smaller.
  }
}

/** Faults of the disk. */
export const diskFaults: readonly FaultCase[] = [providersFile, fullCache, smallFiles, spoiltCache, fullLedger()]
