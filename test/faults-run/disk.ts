import { mkdirSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { parseJson, pick } from '../client.ts'
import { faultUpstream } from '../fakes/fault-upstream.ts'
import type { Script } from '../fakes/fault-upstream.ts'
import { good } from '../fakes/good.ts'
import { reply } from '../fakes/replies.ts'
import { provider } from '../harness.ts'
import { demandOthersServed, demandServed } from './ask.ts'
import { demand, demandEqual } from './fault-case.ts'
import type { FaultCase } from './fault-case.ts'
import { openGround, until } from './ground.ts'
import type { Ground } from './ground.ts'
import { startScript } from './start-script.ts'

function lacksMount(): string | undefined {
  if (process.getuid?.() !== 0) return 'mounting a small disk takes root'
  const tried = Bun.spawnSync(['unshare', '--mount', 'mount', '-t', 'tmpfs', 'none', '/mnt'], {
    stdout: 'ignore',
    stderr: 'ignore',
  })
  return tried.success ? undefined : 'mounting is not allowed'
}

/** A disk of 64 KB in place of a folder, until `act` is over. */
async function onSmallDisk<Value>(folder: string, act: () => Promise<Value>): Promise<Value> {
  const mount = Bun.spawnSync(['mount', '-t', 'tmpfs', '-o', 'size=64k', 'none', folder])
  demand(mount.success, `a small disk can be mounted: ${mount.stderr.toString()}`)
  const unmount = () => void Bun.spawnSync(['umount', '--lazy', folder])
  process.once('exit', unmount)
  try {
    return await act()
  } finally {
    process.removeListener('exit', unmount)
    unmount()
  }
}

function fill(folder: string): void {
  try {
    for (let count = 0; ; count++) writeFileSync(join(folder, `filler-${count}`), Buffer.alloc(4_096))
  } catch {
    // Full, as it should be.
  }
}

/** One change of the order, as the page makes it. @returns the status */
async function switchOff({ service }: Ground, id: string): Promise<number> {
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
async function demandChangeRefused(ground: Ground): Promise<number> {
  const { file } = ground.service,
    before = readFileSync(file, 'utf8')
  const status = await switchOff(ground, 'sound')
  demand(status >= 400, `the change fails, not ${status}`)
  demandEqual(
    [readFileSync(file, 'utf8') === before, readdirSync(dirname(file)).filter((name) => name.startsWith('.'))],
    [true, []],
    'the file as it was, and drafts beside it',
  )
  return status
}

const providersFile: FaultCase = {
  id: 'disk-full-providers',
  area: 'process',
  what: 'an owner changes the providers while the disk is full',
  needs: lacksMount,
  own: () => openGround(),
  run: (ground) =>
    onSmallDisk(dirname(ground.service.file), async () => {
      const folder = dirname(ground.service.file)
      // The file lies on the small disk from now on.
      await ground.offer(provider('spare', ground.sound.url, ['well']))
      fill(folder)
      const status = await demandChangeRefused(ground)
      await demandServed(ground, 'well', 'spare')
      for (const name of readdirSync(folder).filter((each) => each.startsWith('filler')))
        await Bun.file(join(folder, name)).delete()
      demandEqual(await switchOff(ground, 'sound'), 200, 'the same change when there is room')
      await ground.offer()
      return `${status} with the reason, the file as it was, and no draft left beside it; the same change succeeds when there is room`
    }),
}

/** Knows a hundred models, `m` among them, and answers. */
const models = ['m', ...Array.from({ length: 99 }, (_, index) => `model-${index}`)]
const listing: Script = (exchange) =>
  exchange.hit.method === 'GET'
    ? exchange.write(
        reply(200, JSON.stringify({ object: 'list', data: models.map((id) => ({ id, object: 'model' })) })),
      )
    : good()(exchange)

/** The list of models is learned and served, whether it can be kept or not. */
async function demandListServed(ground: Ground): Promise<string> {
  const a = faultUpstream(listing)
  await ground.offer({ id: 'a', base_url: a.url })
  await until(async () => (await fetch(`${ground.service.url}/v1/models/m`)).status === 200, 'the model is known')
  await demandServed(ground, 'm', 'a')
  await demandOthersServed(ground)
  a.stop()
  return 'the list is used, though not kept; all is served'
}

function filesOf(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)
}

const fullCache: FaultCase = {
  id: 'disk-full-cache',
  area: 'process',
  what: 'a full disk, where the cache of model lists is',
  needs: lacksMount,
  own: () => openGround(),
  run: (ground) =>
    onSmallDisk(ground.home, async () => {
      mkdirSync(join(ground.home, 'cache'))
      fill(ground.home)
      const words = await demandListServed(ground)
      demandEqual(filesOf(join(ground.home, 'cache')), [], 'files begun and not finished')
      return words
    }),
}

const spoiltCache: FaultCase = {
  id: 'cache-is-a-file',
  area: 'process',
  what: 'a file where the folder of the cache should be',
  own: () => openGround(),
  async run(ground) {
    writeFileSync(join(ground.home, 'cache'), 'no folder')
    return await demandListServed(ground)
  },
}

/** As a full disk, for whoever may not mount one: files become no larger than 512 bytes. */
const smallFiles: FaultCase = {
  id: 'small-files',
  area: 'process',
  what: 'files that may not become larger (`ulimit -f`): an owner changes the providers, and a list of models is learned',
  own: () => openGround(startScript((start) => `ulimit -f 1\nexec ${start}`)),
  async run(ground) {
    await ground.offer(provider('spare', ground.sound.url, ['well'], { headers: { 'x-filler': 'a'.repeat(1_000) } }))
    const status = await demandChangeRefused(ground)
    const words = await demandListServed(ground)
    demandEqual(filesOf(join(ground.home, 'cache')), [], 'files begun and not finished')
    return `${status} with the reason, the file as it was; ${words}`
  },
}

/** A disk that takes nothing more. */
export const diskFaults: readonly FaultCase[] = [providersFile, fullCache, smallFiles, spoiltCache]
