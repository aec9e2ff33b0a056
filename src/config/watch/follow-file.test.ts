import { afterEach, describe, expect, test } from 'bun:test'
import { link, mkdtemp, rename, rm, symlink, unlink } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, type Config } from '../config.ts'
import { configOf } from '../file/load-config.ts'
import { followHere, type FollowedFile } from './follow-file.ts'

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
  readonly watch: FollowedFile
  readonly applied: string[]
  readonly reported: unknown[]
  /** Resolves when this many configurations were applied or reported. */
  until(count: number): Promise<void>
}

function observe(path: string, timing = quick, apply?: (config: Config) => Promise<void>): Seen {
  const applied: string[] = []
  const reported: unknown[] = []
  let wake = (): void => undefined
  const watch = followHere(timing)({
    path,
    load: (text) => configOf(text, { file: path, environment: {} }),
    async apply(config) {
      await apply?.(config)
      applied.push(config.providers.map(({ id }) => id).join())
      wake()
    },
    report(error) {
      reported.push(error)
      wake()
    },
  })
  cleanUps.push(() => watch.close())
  async function until(count: number): Promise<void> {
    while (applied.length + reported.length < count) await new Promise<void>((resolve) => (wake = resolve))
  }
  return { watch, applied, reported, until }
}

/** Waits long enough for a watch to act. */
function settle(): Promise<void> {
  return Bun.sleep(60)
}

describe('followHere', () => {
  test('applies what was written', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.text
    await Bun.write(path, text('b'))
    await seen.until(1)
    expect(seen.applied).toEqual(['b'])
  })

  test('detects repeated atomic replacements', async () => {
    const folder = await makeFolder()
    const path = join(folder, 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path, { restMs: 5, pollMs: 60_000 })
    await seen.watch.text
    for (const [index, id] of ['b', 'c', 'd'].entries()) {
      await Bun.write(join(folder, 'draft'), text(id))
      await rename(join(folder, 'draft'), path)
      await seen.until(index + 1)
    }
    expect(seen.applied).toEqual(['b', 'c', 'd'])
  })

  test('detects a replacement of a file that a hard link keeps', async () => {
    const folder = await makeFolder()
    const path = join(folder, 'providers.json')
    await Bun.write(path, text('a'))
    await link(path, join(folder, 'copy'))
    const seen = observe(path, { restMs: 5, pollMs: 60_000 })
    await seen.watch.text
    for (const [index, id] of ['b', 'c'].entries()) {
      await Bun.write(join(folder, 'draft'), text(id))
      await rename(join(folder, 'draft'), path)
      await seen.until(index + 1)
    }
    expect(seen.applied).toEqual(['b', 'c'])
  })

  test('detects a change behind a symbolic link', async () => {
    const target = join(await makeFolder(), 'real.json')
    await Bun.write(target, text('a'))
    const path = join(await makeFolder(), 'providers.json')
    await symlink(target, path)
    const seen = observe(path, { restMs: 5, pollMs: 60_000 })
    await seen.watch.text
    await Bun.write(target, text('b'))
    await seen.until(1)
    expect(seen.applied).toEqual(['b'])
  })

  test('detects a file and folder that are created later', async () => {
    const path = join(await makeFolder(), 'later', 'providers.json')
    const seen = observe(path)
    await seen.watch.text
    await Bun.write(path, text('a'))
    await seen.until(1)
    await Bun.write(path, text('b'))
    await seen.until(2)
    expect(seen.applied).toEqual(['a', 'b'])
  })

  test('detects by its date that a symbolic link has another target', async () => {
    const folder = await makeFolder()
    const path = join(folder, 'providers.json')
    for (const name of ['a', 'b']) await Bun.write(join(folder, name), text(name))
    await symlink('a', path)
    const seen = observe(path)
    await seen.watch.text
    await symlink('b', join(folder, 'draft'))
    await rename(join(folder, 'draft'), path)
    await seen.until(1)
    await Bun.write(join(folder, 'b'), text('c'))
    await seen.until(2)
    expect(seen.applied).toEqual(['b', 'c'])
  })

  test('does not load the same content again', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.text
    await Bun.write(path, text('a'))
    await settle()
    expect(seen.applied).toEqual([])
  })

  test('reports a faulty file once, and applies the next valid one', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.text
    await Bun.write(path, '{"providers":[{"id":"?"}]}')
    await seen.until(1)
    await settle()
    expect([seen.applied, seen.reported.map((error) => error instanceof ConfigError)]).toEqual([[], [true]])
    await Bun.write(path, text('b'))
    await seen.until(2)
    expect(seen.applied).toEqual(['b'])
  })

  test('reports a deleted file, and keeps the active configuration', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    await seen.watch.text
    await unlink(path)
    await seen.until(1)
    expect([seen.applied, String(seen.reported[0])]).toEqual([[], expect.stringContaining('found nothing')])
  })

  test('reloads unchanged content on request', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path)
    expect(await seen.watch.reload()).toBe(true)
    expect(seen.applied).toEqual(['a'])
  })

  test('says that a reload was not applied', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const { watch } = observe(path, quick, () => Promise.reject(new Error('the database is away')))
    expect(await watch.reload()).toBe(false)
  })

  test('does not overlap reloads', async () => {
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

  test('returns the initial text, and applies later changes', async () => {
    const path = join(await makeFolder(), 'providers.json')
    const seen = observe(path)
    expect(await seen.watch.text).toBeUndefined()
    await Bun.write(path, text('a'))
    await seen.until(1)
    expect(await observe(path).watch.text).toBe(text('a'))
  })

  test('applies a change made during a load', async () => {
    const path = join(await makeFolder(), 'providers.json')
    await Bun.write(path, text('a'))
    const seen = observe(path, quick, async (config) => {
      if (config.providers[0]?.id === 'b') await Bun.write(path, text('c'))
    })
    await seen.watch.text
    await Bun.write(path, text('b'))
    await seen.until(2)
    expect(seen.applied).toEqual(['b', 'c'])
  })

  test('does not apply a load that was pending when it was closed', async () => {
    let applied = 0
    const watch: FollowedFile = followHere(quick)({
      path: join(await makeFolder(), 'providers.json'),
      load: async () => watch.close(),
      apply: () => void applied++,
      report: () => undefined,
    })
    await watch.reload()
    expect(applied).toBe(0)
  })

  test('does nothing once closed, not even pending work', async () => {
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
