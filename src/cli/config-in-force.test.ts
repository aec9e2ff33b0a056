import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Config } from '../config/config.ts'
import { followHere } from '../config/follow-file.ts'
import { loadConfig } from '../config/load-config.ts'
import { fakeTransport } from '../protocols/testing.ts'
import { endlessRoom } from '../service/answer-room.ts'
import { healthBook } from '../service/health.ts'
import { configInForce } from './config-in-force.ts'

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
  const logged: string[] = []
  let loads = 0
  let wake = (): void => undefined
  const log = (message: string) => void logged.push(message)

  async function until(count: number): Promise<void> {
    while (reloads.length < count)
      await new Promise<void>((resolve) => {
        wake = resolve
      })
  }

  async function load(): Promise<Config> {
    loads += 1
    const isFirst = loads === 1
    const config = await loadConfig({ file: path, environment: {} })
    if (isFirst) await during(until)
    return config
  }

  async function start() {
    const inForce = await configInForce({
      path,
      load,
      surroundings: {
        transport: fakeTransport(),
        health: healthBook(() => 0),
        answerRoom: endlessRoom,
        log: { debug: log, warn: log },
      },
      log: { info: log, warn: log, error: log },
      onReload(result) {
        reloads.push(result)
        wake()
      },
      follow: followHere({ restMs: 5, pollMs: 20 }),
    })
    cleanUps.push(() => inForce.close())
    return inForce
  }

  return { path, start, reloads, logged, until, write: (content: string) => writeFileSync(path, content) }
}

describe('the configuration in force', () => {
  test('is that of the file, and follows it; one with faults leaves it as it is, and is told until it is mended', async () => {
    const { start, write, until, reloads } = subject()
    const inForce = await start()
    const seen = () => [
      inForce.config.providers.map(({ id }) => id),
      inForce.gateway.providers.map(({ id }) => id),
      inForce.notice?.faults.length,
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
    expect(reloads).toEqual(['ok', 'failed', 'ok'])
  })

  test('is told of a faulty change that comes while it is read for the first time', async () => {
    const { start, write, reloads, logged } = subject(async (until) => {
      write('{')
      await until(1)
    })
    const inForce = await start()
    expect([inForce.config.providers[0]?.id, inForce.notice?.faults.length, reloads, logged]).toEqual([
      'a',
      1,
      ['failed'],
      ['the configuration was not reloaded; the one before stays in force'],
    ])
    await inForce.reload()
    expect(reloads).toEqual(['failed', 'failed'])
  })

  test('takes over a sound change that comes while it is read for the first time', async () => {
    const { start, write, until } = subject(async () => write(text('b')))
    const inForce = await start()
    await until(1)
    expect(inForce.config.providers[0]?.id).toBe('b')
  })

  test('is none where the first one has faults', async () => {
    const { start, write, path } = subject()
    write('{')
    expect(
      await start().then(
        () => 'started',
        (error: unknown) => String(error).includes(path),
      ),
    ).toBe(true)
  })

  test('is followed no longer once it is closed', async () => {
    const { start, write, reloads } = subject()
    const inForce = await start()
    inForce.close()
    write(text('b'))
    await inForce.reload()
    expect([inForce.config.providers[0]?.id, reloads]).toEqual(['a', []])
  })
})
