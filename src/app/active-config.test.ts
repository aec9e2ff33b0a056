import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { ConfigError, type Config } from '../config/config.ts'
import { configOf } from '../config/file/load-config.ts'
import { followHere } from '../config/watch/follow-file.ts'
import { fakeTransport } from '../protocols/testing.ts'
import { unlimitedAnswerBudget } from '../service/answer-budget.ts'
import { healthBook } from '../service/health/health.ts'
import { activeConfig, reloadNotice } from './active-config.ts'

const cleanUps: (() => void)[] = []
afterEach(() => {
  for (const cleanUp of cleanUps.splice(0).reverse()) cleanUp()
})

function text(id: string): string {
  return `{"providers":[{"id":"${id}","protocol":"echo"}]}`
}

/**
 * A file with provider `a`, ready to be taken into force. `during` is called while it is read for the first time, and
 * awaited.
 */
function subject(during: (until: (count: number) => Promise<void>) => Promise<void> = async () => undefined) {
  const folder = mkdtempSync(join(tmpdir(), 'svc-in-force-'))
  cleanUps.push(() => rmSync(folder, { recursive: true }))
  const path = join(folder, 'providers.json')
  writeFileSync(path, text('a'))
  const reloads: string[] = []
  const activated: (string | undefined)[] = []
  const logged: string[] = []
  const refused = { id: '' }
  let loads = 0
  let wake = (): void => undefined
  const log = (message: string) => void logged.push(message)

  async function until(count: number): Promise<void> {
    while (reloads.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }

  async function load(text: string | undefined): Promise<Config> {
    loads += 1
    const isFirst = loads === 1
    const config = await configOf(text, { file: path, environment: {} })
    if (isFirst) await during(until)
    return config
  }

  async function start() {
    const active = await activeConfig({
      path,
      load,
      admit({ providers: [first] }) {
        if (first?.id === refused.id)
          throw new ConfigError([{ file: path, field: '', found: first.id, allowed: 'others' }])
      },
      dependencies: {
        transport: fakeTransport(),
        health: healthBook(() => 0),
        answerBudget: unlimitedAnswerBudget,
        log: { debug: log, warn: log },
      },
      log: { info: log, warn: log, error: log },
      onActive: ({ providers: [first] }) => void activated.push(first?.id),
      onReload(result) {
        reloads.push(result)
        wake()
      },
      follow: followHere({ restMs: 5, pollMs: 20 }),
    })
    cleanUps.push(() => active.close())
    return active
  }

  return {
    path,
    start,
    reloads,
    refused,
    activated,
    logged,
    until,
    write: (content: string) => writeFileSync(path, content),
  }
}

describe('the active configuration', () => {
  test('is not one that conflicts with what has changed while it was loaded', async () => {
    const { start, write, until, refused, activated } = subject()
    const active = await start()
    write(text('b'))
    refused.id = 'b'
    await until(1)
    expect([active.config.providers[0]?.id, active.notice?.faults.length, activated]).toEqual(['a', 1, ['a']])
    refused.id = ''
    await active.reload()
    expect(active.config.providers[0]?.id).toBe('b')
  })

  test('follows the file; a faulty one changes nothing, and is reported until it is repaired', async () => {
    const { start, write, until, reloads, activated } = subject()
    const active = await start()
    const seen = () => [
      active.config.providers.map(({ id }) => id),
      active.gateway.providers.map(({ id }) => id),
      active.notice?.faults.length,
    ]
    expect(seen()).toEqual([['a'], ['a'], undefined])
    write(text('b'))
    await until(1)
    expect(seen()).toEqual([['b'], ['b'], undefined])
    write('{')
    await until(2)
    expect(seen()).toEqual([['b'], ['b'], 1])
    write(text('c'))
    await until(3)
    expect(seen()).toEqual([['c'], ['c'], undefined])
    expect([reloads, activated]).toEqual([
      ['ok', 'failed', 'ok'],
      ['a', 'b', 'c'],
    ])
  })

  test('reports a faulty change during the first load', async () => {
    const { start, write, reloads, logged } = subject(async (until) => {
      write('{')
      await until(1)
    })
    const active = await start()
    expect([active.config.providers[0]?.id, active.notice?.faults.length, reloads, logged]).toEqual([
      'a',
      1,
      ['failed'],
      ['the configuration was not reloaded; the previous one stays active'],
    ])
    await active.reload()
    expect(reloads).toEqual(['failed', 'failed'])
  })

  test('takes over a valid change during the first load', async () => {
    const { start, write, until } = subject(async () => write(text('b')))
    const active = await start()
    await until(1)
    expect(active.config.providers[0]?.id).toBe('b')
  })

  test('does not exist when the first load fails', async () => {
    const { start, write, path } = subject()
    write('{')
    expect(
      await start().then(
        () => 'started',
        (error: unknown) => String(error).includes(path),
      ),
    ).toBe(true)
  })

  test('does not change once it is closed', async () => {
    const { start, write, reloads } = subject()
    const active = await start()
    active.close()
    write(text('b'))
    await active.reload()
    expect([active.config.providers[0]?.id, reloads]).toEqual(['a', []])
  })
})

test('a notice has a line a fault, harmless to show', () => {
  const error = new ConfigError([
    { file: 'p.json', line: 3, column: 5, field: 'x', found: '"\u202e"', allowed: 'a word' },
    { file: 'p.json', field: '', found: 'nothing', allowed: 'a file' },
  ])
  expect(reloadNotice(error, 5)).toEqual({
    time: 5,
    faults: ['p.json:3:5: x: found "\\u202e", allowed: a word', 'p.json: found nothing, allowed: a file'],
  })
})

test('a notice of a mistake of ours tells nothing of it', () => {
  expect(reloadNotice(new TypeError('with a-key-for-tests in it'), 5)).toEqual({
    time: 5,
    faults: ['internal error; see the service log'],
  })
})
