import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtemp, rename, rm, symlink, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, type Config } from './config.ts'
import { loadConfig } from './load-config.ts'
import { watchConfig, type ConfigWatch } from './watch-config.ts'

const cleanUps: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

const quick = { restMs: 5, pollMs: 20 }

function text(id: string): string {
  return `{"providers":[{"id":"${id}","protocol":"echo"}]}`
}

async function makeFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-watch-'))
  cleanUps.push(() => rm(folder, { recursive: true, force: true }))
  return folder
}

interface Seen {
  readonly watch: ConfigWatch
  readonly applied: string[]
  readonly reported: unknown[]
  /** Settles when this many configurations were applied or reported. */
  until(count: number): Promise<void>
}

function observe(path: string, timing = quick, apply?: (config: Config) => Promise<void>): Seen {
  const applied: string[] = []
  const reported: unknown[] = []
  let wake = (): void => undefined
  const watch = watchConfig(
    path,
    () => loadConfig({ file: path, environment: {} }),
    async (config) => {
      await apply?.(config)
      applied.push(config.providers.map(({ id }) => id).join())
      wake()
    },
    (error) => {
      reported.push(error)
      wake()
    },
    timing,
  )
  cleanUps.push(() => watch.close())
  async function until(count: number): Promise<void> {
    while (applied.length + reported.length < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { watch, applied, reported, until }
}

/** Long enough for a watch that would act to have acted. */
function settle(): Promise<void> {
  return Bun.sleep(60)
}

describe('watchConfig', () => {
  test('applies what was written', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.ready
    await Bun.write(path, text('b'))
    await seen.until(1)
    expect(seen.applied).toEqual(['b'])
  })

  test('notices an atomic replacement, again and again', async () => {
    const folder = await makeFolder()
    const path = join(folder, 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path, { restMs: 5, pollMs: 60_000 })
    await seen.watch.ready
    for (const [index, id] of ['b', 'c', 'd'].entries()) {
      await Bun.write(join(folder, 'draft'), text(id))
      await rename(join(folder, 'draft'), path)
      await seen.until(index + 1)
    }
    expect(seen.applied).toEqual(['b', 'c', 'd'])
  })

  test('notices a file, and its folder, that come later', async () => {
    const path = join(await makeFolder(), 'later', 'providers.json')
    const seen = observe(path)
    await seen.watch.ready
    await Bun.write(path, text('a'))
    await seen.until(1)
    await Bun.write(path, text('b'))
    await seen.until(2)
    expect(seen.applied).toEqual(['a', 'b'])
  })

  test('notices by the date alone when the folder tells nothing', async () => {
    const folder = await makeFolder()
    const target = join(await makeFolder(), 'real.json')
    await Bun.write(target, text('a'))
    await symlink(target, join(folder, 'providers.json'))
    const seen = observe(join(folder, 'providers.json'))
    await seen.watch.ready
    await Bun.write(target, text('bb'))
    await seen.until(1)
    expect(seen.applied).toEqual(['bb'])
  })

  test('does not load the same content again', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.ready
    await Bun.write(path, text('a'))
    await settle()
    expect(seen.applied).toEqual([])
  })

  test('reports a faulty file once, and goes on with the next good one', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.ready
    await Bun.write(path, '{"providers":[{"id":"?"}]}')
    await seen.until(1)
    await settle()
    expect([seen.applied, seen.reported.map((error) => error instanceof ConfigError)]).toEqual([[], [true]])
    await Bun.write(path, text('b'))
    await seen.until(2)
    expect(seen.applied).toEqual(['b'])
  })

  test('reports a file that is gone, and keeps what is in force', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.ready
    await unlink(path)
    await seen.until(1)
    expect([seen.applied, String(seen.reported[0])]).toEqual([[], expect.stringContaining('no file any more')])
  })

  test('loads again when asked to, even the same content', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.reload()
    expect(seen.applied).toEqual(['a'])
  })

  test('never runs two reloads at once', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    let running = 0
    let most = 0
    const seen = observe(path, quick, async () => {
      most = Math.max(most, ++running)
      await Bun.sleep(2)
      running--
    })
    await Promise.all([seen.watch.reload(), seen.watch.reload(), seen.watch.reload()])
    expect([most, seen.applied]).toEqual([1, ['a', 'a', 'a']])
  })

  test('loads again what was written while it was loading, even if it is what it was before', async () => {
    const path = join(await makeFolder(), 'providers.json'),
      applied: string[] = [],
      { promise, resolve } = Promise.withResolvers<void>()
    let loads = 0
    const watch = watchConfig(
      path,
      async () => {
        const isFirst = ++loads === 1
        if (isFirst) await Bun.write(path, text('between'))
        const config = await loadConfig({ file: path, environment: {} })
        if (isFirst) await Bun.write(path, text('new'))
        return config
      },
      ({ providers }) => {
        applied.push(providers.map(({ id }) => id).join())
        if (applied.at(-1) === 'new') resolve()
      },
      () => resolve(),
      quick,
    )
    cleanUps.push(() => watch.close())
    await watch.ready
    await Bun.write(path, text('new'))
    await promise
    expect(applied.at(-1)).toBe('new')
  })

  test('does not apply what was still loading when it was closed', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const config = await loadConfig({ file: path, environment: {} })
    let applied = 0
    const watch = watchConfig(
      path,
      async () => {
        watch.close()
        return config
      },
      () => {
        applied++
      },
      () => undefined,
      quick,
    )
    await watch.reload()
    expect(applied).toBe(0)
  })

  test('does nothing once closed, not even what is under way', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    const reloaded = seen.watch.reload()
    seen.watch.close()
    await reloaded
    await Bun.write(path, text('b'))
    await settle()
    expect([seen.applied, seen.reported]).toEqual([[], []])
  })
})
