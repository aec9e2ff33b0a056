import { afterEach, describe, expect, test } from 'bun:test'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { followHere } from '../../config/watch/follow-file.ts'
import type { Extension, PartClaim } from '../../extensions/extension.ts'
import { UnknownExtensionError } from '../../extensions/load.ts'
import { SlotError } from '../../extensions/slots.ts'
import { logger } from '../../observe/log.ts'
import { callerOf } from '../../people/caller-of.ts'
import { memoryStores } from '../../stores/memory.ts'
import { RunningExtensions } from './run-extensions.ts'

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

/**
 * An extension that claims the slots its file names, and says when it is closed. @param meet awaited before each of its
 * starts is over
 */
function claimer(name: string, events: string[], meet: () => Promise<void>): Extension {
  return {
    name,
    async start(host) {
      const slots = (await host.config())?.values['slots']
      if (!Array.isArray(slots)) return undefined
      const part: PartClaim = { slots: slots.map(String), settings: { from: name } }
      events.push(`${name} started`)
      await meet()
      return {
        part,
        guard: async () => ({ user: name }),
        close: async () => {
          events.push(`${name} closed`)
        },
      }
    },
  }
}

/** The parts of a service that these tests do not look at. */
const quietParts = () => ({
  stores: memoryStores(Date.now),
  fetch: () => Promise.reject(new Error('not asked for')),
  log: logger({ level: 'silent', format: 'json', write: async () => undefined }),
  follow: followHere(),
})

interface Rig {
  readonly running: RunningExtensions
  readonly faults: unknown[]
  readonly events: string[]
  write(name: string, slots: readonly string[]): Promise<void>
}

/** Extensions of these names, each with the slots its file names; `null`: it has no file, and is off. */
async function start(
  files: Readonly<Record<string, readonly string[] | null>>,
  events: string[] = [],
  names: readonly string[] = Object.keys(files),
  meet = async (): Promise<void> => {},
): Promise<Rig> {
  const home = await mkdtemp(join(tmpdir(), 'svc-run-extensions-'))
  cleanUps.push(() => rm(home, { recursive: true }))
  const faults: unknown[] = []
  async function write(name: string, slots: readonly string[]): Promise<void> {
    const path = join(home, 'users', 'default', name, 'config.json')
    await mkdir(dirname(path), { recursive: true })
    await Bun.write(path, JSON.stringify({ slots }), { mode: 0o600 })
  }
  for (const [name, slots] of Object.entries(files)) if (slots !== null) await write(name, slots)
  const running = new RunningExtensions()
  await running.start({
    names,
    environment: { SVC_HOME: home },
    ...quietParts(),
    onFault: (name, error) => faults.push([name, error instanceof Error ? error.message : error]),
    load: async (name) => {
      if (!Object.hasOwn(files, name)) throw new UnknownExtensionError(name)
      return claimer(name, events, meet)
    },
  })
  cleanUps.push(() => running.close())
  return { running, faults, events, write }
}

describe('several extensions', () => {
  test('run in the given order; those that are off contribute nothing', async () => {
    const { running } = await start({ two: [], off: null, one: ['SignIn'] })
    expect(running.all.map(({ name, isOn }) => [name, isOn])).toEqual([
      ['two', true],
      ['off', false],
      ['one', true],
    ])
    const visit = { request: new Request('http://x/'), path: '/', address: '', id: '' }
    expect(await Promise.all(running.guards.map((guard) => guard(visit)))).toEqual([
      callerOf({ user: 'two' }),
      callerOf({ user: 'one' }),
    ])
    expect(running.parts).toEqual([
      { extension: 'two', slots: [], settings: { from: 'two' } },
      { extension: 'one', slots: ['SignIn'], settings: { from: 'one' } },
    ])
  })

  test('are none without names', async () => {
    const { running } = await start({})
    expect([running.all, running.contributions, running.parts]).toEqual([[], [], []])
    await running.reload()
  })

  test('that claim the same slot do not start, and none is left running', async () => {
    const events: string[] = []
    await expect(start({ one: ['SignIn'], two: ['SignIn'] }, events)).rejects.toThrow(
      new SlotError("one and two both claim the slot 'SignIn' of the page: only one of them can be on"),
    )
    expect(events).toEqual(['one started', 'two started', 'two closed', 'one closed'])
  })

  test.each([
    ['a slot that does not exist', { one: ['Nowhere'] }, ['one'], SlotError],
    ['an extension that does not exist', { one: [] }, ['one', 'none'], UnknownExtensionError],
  ] as const)('do not start with %s', async (_name, files, names, error) => {
    const events: string[] = []
    await expect(start(files, events, names)).rejects.toThrow(error)
    expect(events).toEqual(['one started', 'one closed'])
  })

  test('keep their state when one would claim the slot of another', async () => {
    const { running, faults, events, write } = await start({ one: ['SignIn'], two: [] })
    await write('two', ['SignIn'])
    await running.reload()
    expect(running.parts.map(({ slots }) => slots)).toEqual([['SignIn'], []])
    expect(faults[0]).toEqual([
      'two',
      "one and two both claim the slot 'SignIn' of the page: only one of them can be on",
    ])
    expect(events.filter((event) => event === 'two closed')).toHaveLength(faults.length)
  })

  test('that change at once do not both get a slot', async () => {
    const both = Promise.withResolvers<void>()
    let starts = 0
    const { running, faults, write } = await start({ one: [], two: [] }, [], ['one', 'two'], async () => {
      starts++
      if (starts === 4) both.resolve()
      if (starts > 2) await both.promise
    })
    await Promise.all([write('one', ['SignIn']), write('two', ['SignIn'])])
    await running.reload()
    expect(running.parts.map(({ slots }) => slots).toSorted()).toEqual([[], ['SignIn']])
    expect(new Set(faults.map(String)).size).toBe(1)
  })

  test('may hand a slot over', async () => {
    const { running, faults, write } = await start({ one: ['SignIn'], two: [] })
    await write('one', [])
    await running.reload()
    await write('two', ['SignIn'])
    await running.reload()
    expect(running.parts.map(({ slots }) => slots)).toEqual([[], ['SignIn']])
    expect(faults).toEqual([])
  })
})

describe('extensions that are switched while others run', () => {
  const names = (running: RunningExtensions) => running.all.map(({ name }) => name)

  test('begin and end by the prepared names, in their order; the others stay as they are', async () => {
    const { running, events } = await start({ one: [], two: ['SignIn'], three: [] }, [], ['one', 'two'])
    const kept = running.all[1]
    let calls = 0
    running.onSwitch(() => void calls++)
    const { version } = running
    await running.prepare(['three', 'two'])
    expect([names(running), running.version]).toEqual([['one', 'two'], version])
    expect(running.switch()).toEqual({ added: ['three'], ended: ['one'] })
    expect(names(running)).toEqual(['three', 'two'])
    expect([running.all[1] === kept, running.version > version, calls]).toEqual([true, true, 1])
    await Bun.sleep(0)
    expect(events).toEqual(['one started', 'two started', 'three started', 'one closed'])
    expect([running.switch(), calls]).toEqual([undefined, 1])
  })

  test('change nothing when they are not admitted together, and what was prepared ends', async () => {
    const { running, events } = await start({ one: [], two: [] }, [], ['one'])
    await running.prepare(['one', 'two'])
    const refuse = (contributions: readonly unknown[], earlier?: readonly unknown[]) => {
      throw new Error(`${contributions.length} ${earlier !== undefined}`)
    }
    expect(() => running.switch(refuse)).toThrow('2 true')
    await Bun.sleep(0)
    expect([names(running), events.at(-1)]).toEqual([['one'], 'two closed'])
    expect(() => running.switch(refuse)).toThrow('1 false')
  })

  test.each([
    ['an extension that does not exist', ['one', 'two', 'none'], UnknownExtensionError],
    ['a slot that another one has', ['one', 'two', 'three'], SlotError],
  ] as const)('change nothing with %s', async (_name, next, error) => {
    const { running, events } = await start({ one: ['SignIn'], two: [], three: ['SignIn'] }, [], ['one'])
    await expect(running.prepare(next)).rejects.toThrow(error)
    expect([running.switch(), names(running), events.includes('one closed')]).toEqual([undefined, ['one'], false])
    expect(events).toContain('two closed')
  })

  test('wait for the start, and are nothing before it', async () => {
    const running = new RunningExtensions()
    await running.prepare(['none'])
    expect([running.switch(), names(running)]).toEqual([undefined, []])
  })
})

test('a person may enter when an extension knows them and none refuses them', async () => {
  const asked = async (...answers: readonly (boolean | undefined)[]): Promise<boolean> => {
    const running = new RunningExtensions()
    await running.start({
      names: answers.map((_, index) => String(index)),
      environment: { SVC_HOME: tmpdir() },
      ...quietParts(),
      onFault() {},
      load: async (name) => ({
        name,
        async start() {
          const answer = answers[Number(name)]
          return answer === undefined ? {} : { mayEnter: () => answer }
        },
      }),
    })
    const may = running.mayEnter({ id: 'p', name: 'ann' })
    await running.close()
    return may
  }
  expect(await asked()).toBe(false)
  expect(await asked(undefined)).toBe(false)
  expect(await asked(true, undefined)).toBe(true)
  expect(await asked(true, false)).toBe(false)
})
