import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { logger, type LoggerOptions } from './log.ts'

function captured(options: Partial<LoggerOptions> = {}) {
  const written: string[] = []
  const log = logger({
    level: 'info',
    format: 'json',
    gatherMs: 0,
    now: () => Date.UTC(2026, 0, 2, 3, 4, 5, 6),
    write: async (text) => {
      written.push(text)
    },
    ...options,
  })
  return { log, written, text: async () => (await log.flush(), written.join('')) }
}

describe('a JSON log', () => {
  test('writes one object for each line', async () => {
    const { log, text } = captured()
    log.info('listening', { port: 8000, host: '127.0.0.1', tls: false, nothing: undefined, odd: NaN })
    log.warn('slow')
    expect(await text()).toBe(
      '{"time":"2026-01-02T03:04:05.006Z","level":"info","message":"listening",' +
        '"port":8000,"host":"127.0.0.1","tls":false,"odd":null}\n' +
        '{"time":"2026-01-02T03:04:05.006Z","level":"warn","message":"slow"}\n',
    )
  })

  test('writes one parseable line for any input', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), async (message, value) => {
        const { log, text } = captured()
        log.error(message, { [value]: value, cause: new Error(value) })
        const line = await text()
        expect(line.indexOf('\n')).toBe(line.length - 1)
        expect(JSON.parse(line)).toMatchObject({ level: 'error', message })
      }),
      { numRuns: 30 },
    )
  })

  test('limits the length of its texts', async () => {
    const { log, text } = captured()
    log.info('m'.repeat(10_000), { field: 'f'.repeat(10_000) })
    expect((await text()).length).toBeLessThan(3_200)
  })

  test('names an error with its causes, and adds its stack only at level debug', async () => {
    const error = new Error('no provider', { cause: new TypeError('refused') })
    const atInfo = captured()
    atInfo.log.error('failed', { error })
    expect(JSON.parse(await atInfo.text())).toEqual({
      time: '2026-01-02T03:04:05.006Z',
      level: 'error',
      message: 'failed',
      error: 'Error: no provider ← TypeError: refused',
    })
    const atDebug = captured({ level: 'debug' })
    atDebug.log.error('failed', { error })
    expect(JSON.parse(await atDebug.text()).stack).toContain('log.test.ts')
  })
})

describe('a human log', () => {
  test('aligns level and message, and quotes values with blanks', async () => {
    const { log, text } = captured({ format: 'human' })
    log.info('listening', { url: 'http://127.0.0.1:8000', note: 'the echo\n' })
    expect(await text()).toMatch(
      /^\d\d:\d\d:\d\d info  listening {2}url=http:\/\/127\.0\.0\.1:8000 {2}note="the echo\\n"\n$/,
    )
  })

  test('is coloured only on request, and never in JSON', async () => {
    const coloured = captured({ format: 'human', hasColour: true })
    coloured.log.warn('x')
    expect(await coloured.text()).toContain('\u001b[33mwarn \u001b[0m')
    const json = captured({ hasColour: true })
    json.log.warn('x')
    expect(await json.text()).not.toContain('\u001b')
  })
})

describe('a logger', () => {
  test.each([
    ['debug', 4],
    ['info', 3],
    ['warn', 2],
    ['error', 1],
    ['silent', 0],
  ] as const)('at level %s writes %p of four lines', async (level, count) => {
    const { log, text } = captured({ level })
    log.debug('a')
    log.info('b')
    log.warn('c')
    log.error('d')
    expect((await text()).split('\n').length - 1).toBe(count)
  })

  test('writes lines together', async () => {
    const { log, written, text } = captured()
    for (let index = 0; index < 100; index++) log.info('x')
    expect(written).toEqual([])
    await text()
    expect(written).toHaveLength(1)
  })

  test('writes lines after a short time', async () => {
    const { log, written } = captured()
    log.info('x')
    await Bun.sleep(5)
    expect(written).toHaveLength(1)
  })

  test('calls write again only after it has finished, without losing lines', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    const written: string[] = []
    const log = logger({ level: 'info', format: 'json', gatherMs: 0, write: (text) => (written.push(text), promise) })
    log.info('first')
    await Bun.sleep(3)
    log.info('second')
    await Bun.sleep(3)
    expect(written).toHaveLength(1)
    resolve()
    await log.flush()
    expect(written.join('').split('\n')).toHaveLength(3)
  })

  test('drops and counts lines beyond a limit while writing is blocked, without waiting', () => {
    const log = logger({ level: 'info', format: 'json', gatherMs: 0, write: () => new Promise(() => {}) })
    for (let index = 0; index < 5_000; index++) log.info('x'.repeat(1_000))
    expect(log.dropped).toBeGreaterThan(3_000)
    expect(log.dropped).toBeLessThan(5_000)
  })

  test('counts the lines of a failed write, and continues', async () => {
    let fails = true
    const { log, text } = captured({
      write: async () => {
        if (fails) throw new Error('EPIPE')
      },
    })
    log.info('a')
    log.info('b')
    await text()
    fails = false
    log.info('c')
    await text()
    expect(log.dropped).toBe(2)
  })

  test('continues after a write that throws synchronously', async () => {
    const { log, text } = captured({
      write: () => {
        throw new Error('closed')
      },
    })
    log.info('a')
    await text()
    expect(log.dropped).toBe(1)
  })
})
