import { afterEach, describe, expect, test } from 'bun:test'
import { chmod, mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { ConfigError } from '../../config/config.ts'
import { followHere, type Followed, type FollowFile } from '../../config/watch/follow-file.ts'
import { ExtensionConfigError, type Extension, type Host } from '../../extensions/extension.ts'
import { loadExtension, UnknownExtensionError } from '../../extensions/load.ts'
import { logger } from '../../observe/log.ts'
import { memoryStores } from '../../stores/memory.ts'
import { runExtension, type RunningExtension } from './run-extension.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/** A small extension of another kind than sign-in: it counts, and greets with a word of its file. */
function greeter(closed: string[] = [], hosts: Host[] = []): Extension {
  return {
    name: 'greeter',
    async start(host) {
      hosts.push(host)
      const config = await host.config()
      if (config === undefined || config.values['enabled'] === false) return undefined
      const { word } = config.values
      if (typeof word !== 'string') throw new ExtensionConfigError('word', 'a number', 'a text')
      return {
        routes: [{ method: 'GET', path: '/greeting', isPublic: true, handle: async () => new Response(word) }],
        close: async () => {
          closed.push(word)
        },
      }
    },
  }
}

interface Rig {
  readonly path: string
  readonly running: RunningExtension
  readonly changes: () => number
  readonly faults: unknown[]
  readonly lines: string[]
  readonly flush: () => Promise<void>
  greeting(): Promise<string | undefined>
  write(config: unknown): Promise<void>
  remove(): Promise<void>
}

async function start(
  config: unknown,
  extension: Extension = greeter(),
  follow: FollowFile = followHere(),
): Promise<Rig> {
  const home = await mkdtemp(join(tmpdir(), 'svc-run-extension-'))
  cleanUps.push(() => rm(home, { recursive: true }))
  const path = join(home, 'users', 'default', 'greeter', 'config.json')
  const faults: unknown[] = []
  const lines: string[] = []
  let changes = 0
  const write = async (next: unknown): Promise<void> => {
    await mkdir(dirname(path), { recursive: true })
    await Bun.write(path, typeof next === 'string' ? next : JSON.stringify(next), { mode: 0o600 })
  }
  if (config !== undefined) await write(config)
  const log = logger({ level: 'debug', format: 'json', gatherMs: 0, write: async (text) => void lines.push(text) })
  const running = await runExtension({
    name: 'greeter',
    environment: { SVC_HOME: home, WORD: 'hello' },
    stores: memoryStores(Date.now),
    log,
    fetch: () => Promise.reject(new Error('not asked for')),
    follow,
    onChange: () => {
      changes++
    },
    onFault: (error) => faults.push(error),
    load: async () => extension,
  })
  cleanUps.push(() => running.close())
  return {
    path,
    running,
    faults,
    lines,
    write,
    flush: () => log.flush(),
    changes: () => changes,
    greeting: async () =>
      (
        await running.contribution?.routes?.[0]?.handle({
          request: new Request('http://x/greeting'),
          path: '/greeting',
          address: '',
          caller: {},
          id: '',
          body: async () => new Uint8Array(),
        })
      )?.text(),
    remove: () => rm(path),
  }
}

describe('an extension', () => {
  test('is started with its own file, variables resolved', async () => {
    expect(await (await start({ word: '$WORD' })).greeting()).toBe('hello')
  })

  test.each([
    ['no file', undefined, 'there is no '],
    ['enabled: false', { word: 'x', enabled: false }, ' says so'],
  ])('that is off logs a warning: %s', async (_name, config, reason) => {
    const { running, lines, flush } = await start(config)
    expect(running.contribution).toBeUndefined()
    await flush()
    expect(lines.join('')).toContain('greeter was requested and is OFF')
    expect(lines.join('')).toContain(reason)
  })

  test('with a faulty file does not start; the fault has a line and column', async () => {
    const error = await start('{\n  "word": 5\n}').catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(ConfigError)
    expect(String(error)).toMatch(/config\.json:2:11: word: found a number, allowed: a text$/)
    await expect(start('{"word"')).rejects.toThrow(ConfigError)
  })

  test('that does not exist is not started', async () => {
    await expect(
      runExtension({
        name: 'none',
        environment: { SVC_HOME: tmpdir() },
        stores: memoryStores(Date.now),
        fetch: () => Promise.reject(new Error()),
        follow: followHere(),
        onChange() {},
        onFault() {},
        load: (name) => loadExtension(name, new Map()),
        log: logger({ level: 'silent', format: 'json', write: async () => undefined }),
      }),
    ).rejects.toThrow(UnknownExtensionError)
  })

  test('is restarted when its file has changed, and its previous contribution is closed', async () => {
    const closed: string[] = []
    const rig = await start({ word: 'one' }, greeter(closed))
    await rig.write({ word: 'two' })
    await rig.running.reload()
    expect(await rig.greeting()).toBe('two')
    expect(closed).toEqual(['one'])
    expect(rig.changes()).toBe(1)
  })

  test('is switched off and on by its file while the service runs', async () => {
    const rig = await start({ word: 'one' })
    await rig.write({ word: 'one', enabled: false })
    await rig.running.reload()
    expect(rig.running.contribution).toBeUndefined()
    await rig.write({ word: 'two' })
    await rig.running.reload()
    expect(await rig.greeting()).toBe('two')
  })

  test.each([
    ['faulty', (rig: Rig) => rig.write({ word: 5 })],
    ['no JSON', (rig: Rig) => rig.write('{')],
    ['gone', (rig: Rig) => rig.remove()],
  ])('stays active when its file becomes %s', async (_name, change) => {
    const rig = await start({ word: 'one' })
    await change(rig)
    await rig.running.reload()
    expect(await rig.greeting()).toBe('one')
    expect(rig.faults.at(-1)).toBeInstanceOf(ConfigError)
    expect(rig.changes()).toBe(0)
  })

  test.each([
    ['there was none', undefined],
    ['it said so', { word: 'one', enabled: false }],
  ])('that is off because %s closes the service when its file gets a fault', async (_name, config) => {
    const rig = await start(config)
    await rig.write({ word: 5 })
    await rig.running.reload()
    await expect(
      rig.running.contribution?.guard?.({ request: new Request('http://x/'), path: '/', address: '', id: '' }),
    ).rejects.toMatchObject({ status: 503, code: 'not_ready' })
    expect(rig.changes()).toBe(1)
    await rig.write({ word: 'two' })
    await rig.running.reload()
    expect(await rig.greeting()).toBe('two')
  })

  test('stays on when its file is deleted during its first start', async () => {
    let change: (text: string | undefined) => Promise<void> = async () => undefined
    let changing: Promise<void> | undefined
    const follow: FollowFile = <Value>({ path, load, apply, report }: Followed<Value>) => {
      change = async (text) => {
        try {
          await rm(path)
          await apply(await load(text), true)
        } catch (error) {
          await report(error, true)
        }
      }
      return {
        text: Promise.resolve('{"word":"hi"}'),
        reload: async () => true,
        again: async () => undefined,
        close: () => undefined,
      }
    }
    const slow: Extension = {
      name: 'greeter',
      async start(host) {
        const isFirst = changing === undefined
        changing ??= change(undefined)
        if (isFirst) await Bun.sleep(5)
        return greeter().start(host)
      },
    }
    const { running, faults } = await start({ word: 'hi' }, slow, follow)
    await changing
    expect([running.isOn, String(faults[0])]).toEqual([true, expect.stringContaining('no file any more')])
  })

  test('refuses all requests when its first start finds no file, and then one that cannot be read', async () => {
    let changing: Promise<void> | undefined
    const follow: FollowFile = <Value>({ path, report }: Followed<Value>) => {
      const write = async (): Promise<void> => {
        await mkdir(path, { recursive: true })
        await report(new ConfigError([{ file: path, field: '', found: 'a folder', allowed: 'a file' }]), true)
      }
      changing = Bun.sleep(1).then(write)
      return {
        text: Promise.resolve(undefined),
        reload: async () => true,
        again: async () => undefined,
        close: () => undefined,
      }
    }
    const slow: Extension = {
      name: 'greeter',
      async start(host) {
        await Bun.sleep(5)
        return greeter().start(host)
      },
    }
    const { running } = await start(undefined, slow, follow)
    await changing
    expect(running.isOn).toBe(true)
  })

  test('that is off stays off when its file is deleted', async () => {
    const rig = await start({ word: 'one', enabled: false })
    await rig.remove()
    await rig.running.reload()
    expect(rig.running.contribution).toBeUndefined()
  })

  test('that needs no file is started again without one, and stays as it is when its file is deleted', async () => {
    const always: Extension = { name: 'greeter', start: async () => ({ routes: [] }) }
    const { running, faults, write, remove, changes } = await start(undefined, always)
    await running.reload()
    expect([running.isOn, changes(), faults]).toEqual([true, 1, []])
    await write({ word: 'hello' })
    await running.reload()
    await remove()
    await running.reload()
    expect([running.isOn, faults.length > 0]).toEqual([true, true])
  })

  test('keeps its stores when it is restarted', async () => {
    const hosts: Host[] = []
    const rig = await start({ word: 'one' }, greeter([], hosts))
    await rig.running.reload()
    const options = {
      ttlMs: 1_000,
      valuesMax: 1,
      valuesPerOwnerMax: 1,
      parse: (value: unknown) => (typeof value === 'string' ? value : undefined),
    }
    await hosts[0]?.store('words', options).set('a', 'kept', 'owner')
    expect(await hosts[1]?.store('words', options).get('a')).toBe('kept')
  })

  test('warns when others can read its file', async () => {
    const rig = await start({ word: 'one' })
    expect(rig.lines.join('')).not.toContain('chmod 600')
    await chmod(rig.path, 0o644)
    await rig.running.reload()
    await rig.flush()
    expect(rig.lines.join('')).toContain('others can read it: chmod 600')
  })
})
