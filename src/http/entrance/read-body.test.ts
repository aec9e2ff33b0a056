import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import { bodyBudget } from './body-budget.ts'
import { ClientLeft, readBody, type BodyLimits } from './read-body.ts'
import { uploadsUnderWay } from './slow-uploads.ts'

const limits: BodyLimits = { bytesMax: 200_000, totalMs: 30_000, idleMs: 10_000 }

/** A body of pieces that then ends, fails or hangs. */
function bodyOf(
  pieces: readonly (Uint8Array | string)[],
  end: 'ends' | 'breaks' | 'hangs' = 'ends',
  everyMs = 0,
): ReadableStream<Uint8Array> & { readonly wasCancelled?: boolean } {
  const left = [...pieces]
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (everyMs > 0) await Bun.sleep(everyMs)
        const piece = left.shift()
        if (piece !== undefined) controller.enqueue(typeof piece === 'string' ? new TextEncoder().encode(piece) : piece)
        else if (end === 'ends') controller.close()
        else if (end === 'breaks') controller.error(new Error('connection lost'))
        else await new Promise(() => undefined)
      },
    },
    { highWaterMark: 0 },
  )
}

function post(
  body: string | Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>,
  headers: Readonly<Record<string, string>> = {},
): Request {
  return new Request('http://x/v1/chat/completions', { method: 'POST', body, headers })
}

async function textOf(request: Request, given: Partial<BodyLimits> = {}): Promise<string> {
  return new TextDecoder().decode(await readBody(request, { ...limits, ...given }))
}

const failure = (request: Request, given: Partial<BodyLimits> = {}): Promise<unknown> =>
  textOf(request, given).then(
    (text) => new Error(`read ${text.length}`),
    (error: unknown) => error,
  )

describe("a request's body", () => {
  test.each(['7, 7', '7,7', '07, 7'])(
    'with Content-Length: %s is refused, and the connection closed',
    async (length) => {
      expect(await failure(post('{"a":1}', { 'content-length': length }))).toMatchObject({
        status: 400,
        code: 'bad_request',
        headers: { connection: 'close' },
        message: "The Content-Length header is repeated or malformed: found '" + length + "'",
      })
    },
  )

  const large = 'x'.repeat(100_000)
  const bodies: readonly (readonly [string, () => Request, string])[] = [
    ['small and of a known length', () => post('{"a":1}', { 'content-length': '7' }), '{"a":1}'],
    ['small and chunked', () => post(bodyOf(['{"a"', ':1}'])), '{"a":1}'],
    [
      'large and of a known length',
      () => post(bodyOf([large.slice(0, 70_000), large.slice(70_000)]), { 'content-length': '100000' }),
      large,
    ],
    ['large and chunked', () => post(bodyOf([large.slice(0, 70_000), large.slice(70_000)])), large],
    ['nothing', () => new Request('http://x/', { method: 'POST' }), ''],
    ['nothing and says so', () => post('', { 'content-length': '0' }), ''],
    ['encoded as itself', () => post('hi', { 'content-encoding': 'Identity' }), 'hi'],
    ['exactly as long as it may be', () => post(bodyOf(['x'.repeat(200_000)])), 'x'.repeat(200_000)],
  ]
  test.each(bodies)('that is %s is read', async (_name, request, expected) => {
    expect(await textOf(request())).toBe(expected)
  })

  test('that is of several characters split anywhere is read', async () => {
    const bytes = new TextEncoder().encode('Grüße 🌍')
    expect(await textOf(post(bodyOf([...bytes].map((byte) => new Uint8Array([byte])))))).toBe('Grüße 🌍')
  })

  test.each(['gzip', 'br', 'deflate, gzip', 'x'])('with Content-Encoding %s is refused with 415', async (encoding) => {
    expect(await failure(post('x', { 'content-encoding': encoding }))).toMatchObject({
      status: 415,
      type: 'invalid_request_error',
      code: 'unsupported_encoding',
    })
  })

  test('that ends before its declared length has only the received bytes', async () => {
    const request = new Request('http://svc.test/', {
      method: 'POST',
      body: bodyOf(['short']),
      headers: { 'content-length': '100000' },
    })
    expect(new TextDecoder().decode(await readBody(request, limits))).toBe('short')
  })

  test('that is too large is refused with the name of the setting, if there is one', async () => {
    expect(await failure(post('x'.repeat(20)), { bytesMax: 10 })).toMatchObject({
      message: 'The request body is larger than 10 bytes',
    })
    expect(await failure(post('x'.repeat(20)), { bytesMax: 10, setting: 'limits.body_bytes' })).toMatchObject({
      message: 'The request body is larger than 10 bytes (limits.body_bytes)',
    })
  })

  test('that declares too many bytes is refused with 413 before it is read', async () => {
    const request = post(bodyOf([], 'hangs'), { 'content-length': '200001' })
    expect(await failure(request)).toMatchObject({
      status: 413,
      type: 'invalid_request_error',
      code: 'request_too_large',
    })
    expect(request.bodyUsed).toBe(false)
  })

  test('without a declared length is refused with 413 as soon as it is too large', async () => {
    let given = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          given += 1
          controller.enqueue(new Uint8Array(50_000))
        },
      },
      { highWaterMark: 0 },
    )
    expect(await failure(post(endless))).toMatchObject({ status: 413, code: 'request_too_large' })
    expect(given).toBeLessThan(10)
  })

  const slow: readonly (readonly [string, () => Request, Partial<BodyLimits>])[] = [
    ['says nothing for too long', () => post(bodyOf(['{'], 'hangs')), { idleMs: 10 }],
    ['is small and idle for too long', () => post(bodyOf(['{'], 'hangs'), { 'content-length': '2' }), { idleMs: 10 }],
    [
      'never ends and never pauses',
      () =>
        post(
          new ReadableStream<Uint8Array>(
            {
              pull(controller) {
                controller.enqueue(new Uint8Array(1))
              },
            },
            { highWaterMark: 0 },
          ),
        ),
      { totalMs: 15, bytesMax: 100_000_000 },
    ],
    [
      'takes too long as a whole',
      () =>
        post(
          bodyOf(
            Array.from({ length: 100 }, () => 'x'),
            'ends',
            4,
          ),
        ),
      { totalMs: 15 },
    ],
  ]
  test.each([
    ['small', { 'content-length': '2' }],
    ['chunked', {}],
  ] as const)('that has arrived while the process stood still is read, when it is %s', async (_name, headers) => {
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const reading = textOf(post(readable, headers), { idleMs: 20 })
    Bun.sleepSync(50)
    // As after SIGSTOP: the timer runs first, then the sockets.
    setTimeout(() => {
      const writer = writable.getWriter()
      void writer.write(new TextEncoder().encode('{}'))
      void writer.close()
    }, 0)
    expect(await reading).toBe('{}')
  })

  test.each(slow)('that %s is refused with 408', async (_name, request, given) => {
    expect(await failure(request(), given)).toMatchObject({
      status: 408,
      type: 'invalid_request_error',
      code: 'request_timeout',
      headers: { connection: 'close' },
    })
  })

  test('may take longer than the idle limit while pieces arrive', async () => {
    expect(await textOf(post(bodyOf([...'abcdefgh'], 'ends', 10)), { idleMs: 70 })).toBe('abcdefgh')
  })

  test.each([[undefined], ['5'], ['100000']])(
    'that is aborted means that the client left (content-length %p)',
    async (length) => {
      const error = await failure(
        post(bodyOf(['ab'], 'breaks'), length === undefined ? {} : { 'content-length': length }),
      )
      expect(error).toBeInstanceOf(ClientLeft)
      expect(error).not.toBeInstanceOf(WireError)
    },
  )
})

describe('the reservation of a body', () => {
  /** Reads a body. @returns the reserved bytes before each piece, and at the end */
  async function held(
    pieces: readonly string[],
    headers: Readonly<Record<string, string>> = {},
    end: 'ends' | 'breaks' = 'ends',
  ): Promise<readonly number[]> {
    const budget = bodyBudget(() => 10_000_000)
    const seen: number[] = []
    const left = [...pieces]
    const body = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          seen.push(budget.reserved)
          const piece = left.shift()
          if (piece !== undefined) controller.enqueue(new TextEncoder().encode(piece))
          else if (end === 'ends') controller.close()
          else controller.error(new Error('connection lost'))
        },
      },
      { highWaterMark: 0 },
    )
    await readBody(post(body, headers), { ...limits, bytesMax: 4_000_000 }, budget.reservation()).catch(() => undefined)
    return [...seen, budget.reserved]
  }

  const piece = 'x'.repeat(30_000)
  test.each<readonly [string, readonly string[], Readonly<Record<string, string>>, readonly number[]]>([
    ['that is small is there before it is read', ['{"a":1}'], { 'content-length': '7' }, [7, 7, 7]],
    ['that is announced and does not come is little', ['{'], { 'content-length': '2000000' }, [65_536, 65_536, 1]],
    [
      'of a known length grows with the received bytes, up to that length',
      [piece, piece, piece],
      { 'content-length': '90000' },
      [65_536, 65_536, 65_536, 90_000, 90_000],
    ],
    [
      'of an unknown length grows with the received bytes, and is their number at the end',
      [piece, piece, piece],
      {},
      [65_536, 65_536, 65_536, 180_000, 90_000],
    ],
  ])('%s', async (_name, pieces, headers, expected) => {
    expect(await held(pieces, headers)).toEqual([...expected])
  })

  test.each([['7'], ['100000']])(
    'refuses a body whose declared length exceeds the budget (content-length %p)',
    async (length) => {
      const budget = bodyBudget(() => 100_000)
      budget.reservation().reserve(99_999)
      const request = post(bodyOf([], 'hangs'), { 'content-length': length })
      expect(await readBody(request, limits, budget.reservation()).catch((error: unknown) => error)).toMatchObject({
        status: 503,
        code: 'overloaded',
      })
      expect([request.bodyUsed, budget.reserved]).toEqual([false, 99_999])
    },
  )

  test('ends a body when the budget is exhausted on the way', async () => {
    const budget = bodyBudget(() => 100_000)
    budget.reservation().reserve(34_000)
    let given = 0
    const endless = new ReadableStream<Uint8Array>(
      {
        pull(controller) {
          given += 1
          controller.enqueue(new Uint8Array(20_000))
        },
      },
      { highWaterMark: 0 },
    )
    expect(await readBody(post(endless), limits, budget.reservation()).catch((error: unknown) => error)).toMatchObject({
      status: 503,
      code: 'overloaded',
    })
    expect(given).toBe(3)
  })

  test.each<readonly [string, Readonly<Record<string, string>>]>([
    ['small', { 'content-length': '16000' }],
    ['of a known length', { 'content-length': '100000' }],
    ['chunked', {}],
  ])('and does not come is given up for one that needs its room: %s', async (_name, headers) => {
    let time = 0
    const budget = bodyBudget(
      () => 100_100,
      uploadsUnderWay(() => time),
    )
    const reservation = budget.reservation()
    const slow = readBody(post(bodyOf(['{'.repeat(9_000), '{'], 'hangs'), headers), limits, reservation).catch(
      (error: unknown) => error,
    )
    while (budget.reserved < 16_000) await Bun.sleep(0)
    expect(() => budget.reservation().reserve(90_000)).toThrow(expect.objectContaining({ status: 503 }))
    time = 3_000
    budget.reservation().reserve(90_000)
    expect(budget.reserved).toBe(90_000)
    expect(await slow).toMatchObject({
      status: 408,
      code: 'request_timeout',
      headers: { connection: 'close' },
      message: 'The request body arrived too slowly while others needed request memory',
    })
    expect(budget.reserved).toBe(90_000)
  })

  test('never ends the upload that grows: slow others are ended, or it is refused', async () => {
    let time = 0
    const budget = bodyBudget(
      () => 250_000,
      uploadsUnderWay(() => time),
    )
    const hoarder = budget.reservation()
    hoarder.reserve(100_000)
    const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
    const writer = writable.getWriter()
    const reading = readBody(post(readable, { 'content-length': '190000' }), limits, budget.reservation()).then(
      (bytes) => bytes.length,
      (error: unknown) => error,
    )
    await writer.write(new Uint8Array(60_000))
    hoarder.begin({ arrived: () => 0, end: () => hoarder.release() })
    time = 10_000
    await writer.write(new Uint8Array(130_000))
    await writer.close()
    expect(await reading).toBe(190_000)
    expect(budget.reserved).toBe(190_000)
  })

  test('is no upload any more after its time limit', async () => {
    let time = 0
    const uploads = uploadsUnderWay(() => time)
    const reservation = bodyBudget(() => 100_000, uploads).reservation()
    expect(
      await readBody(
        post(bodyOf([], 'hangs'), { 'content-length': '7' }),
        { ...limits, idleMs: 10 },
        reservation,
      ).catch((error: unknown) => error),
    ).toMatchObject({ status: 408 })
    time = 60_000
    expect(uploads.endSlow()).toBe(false)
  })
})
