import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { heldBytesMax, inflow } from './inflow.ts'
import { cut } from './testing.ts'
import { eventLoopTurns, sliceBytes } from './turns.ts'
import type { Turns } from './turns.ts'

interface Watched {
  readonly flow: ReturnType<typeof inflow>
  /** What was received, block by block. */
  readonly received: Buffer[]
  /** What was asked of the socket, and that its end was told. */
  readonly calls: string[]
}

function watched({
  turns = eventLoopTurns(),
  freeBytes = 0,
  onReceive = () => {},
}: { turns?: Turns; freeBytes?: number; onReceive?: (flow: Watched['flow']) => void } = {}): Watched {
  const received: Buffer[] = []
  const calls: string[] = []
  const flow = inflow({
    turns,
    socket: { pause: () => void calls.push('pause'), resume: () => void calls.push('resume') },
    receive(bytes) {
      received.push(bytes)
      onReceive(flow)
    },
    closed: (error) => void calls.push(error === undefined ? 'closed' : error.message),
    freeBytes: () => freeBytes,
  })
  return { flow, received, calls }
}

/** Gives nobody a turn before it is told to. */
function noTurns(): Turns & { give(): void } {
  const waiting: (() => void)[] = []
  return {
    take(_bytes, grant) {
      waiting.push(grant)
      return false
    },
    give: () => waiting.shift()?.(),
  }
}

const large = Buffer.alloc(heldBytesMax + 1)

describe('what arrives', () => {
  test('is handed on itself, at once, where it is little', () => {
    const { flow, received } = watched()
    const bytes = Buffer.from('token')
    flow.push(bytes)
    expect(received[0]).toBe(bytes)
    expect(flow.isDry()).toBe(true)
  })

  test('is handed on in slices, a few in a turn, where it is much', async () => {
    const { flow, received } = watched()
    flow.push(large)
    expect(received.length).toBeLessThan(8)
    while (!flow.isDry()) await new Promise((resolve) => setImmediate(resolve))
    expect(Math.max(...received.map(({ length }) => length))).toBe(sliceBytes)
    expect(Buffer.concat(received).length).toBe(large.length)
  })

  test('is complete and in order, whenever it is held back and however it is cut up, and its end comes last', async () => {
    const held = fc.array(fc.boolean(), { maxLength: 30 })
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat({ max: 90_000 }), { maxLength: 8 }), held, async (lengths, holds) => {
        let step = 0
        const { flow, received, calls } = watched({
          onReceive: (now) => {
            if (holds[step++] === true) now.hold()
          },
        })
        const bytes = Buffer.from(Array.from({ length: 100_000 }, (_, index) => index % 251))
        for (const block of cut(bytes, lengths)) flow.push(block)
        flow.close(undefined)
        while (!calls.includes('closed')) {
          flow.release()
          await new Promise((resolve) => setImmediate(resolve))
        }
        expect(Buffer.concat(received).equals(bytes)).toBe(true)
      }),
      { numRuns: 30 },
    )
  })

  test('holds the upstream back when there is too much of it, and lets it go on at half of that', () => {
    const turns = noTurns()
    const { flow, calls } = watched({ turns })
    flow.push(large)
    expect(calls).toEqual(['pause'])
    for (let index = 0; index < heldBytesMax / sliceBytes / 2; index++) turns.give()
    expect(calls).toEqual(['pause'])
    turns.give()
    expect(calls).toEqual(['pause', 'resume'])
  })

  test('holds the upstream back in spite of how small its pieces are', () => {
    const { flow, calls } = watched()
    flow.hold()
    for (let index = 0; index < 1_000; index++) flow.push(Buffer.alloc(1))
    expect(calls).toEqual(['pause'])
  })

  test('waits for no turn where it makes little work', () => {
    const { flow, received } = watched({ turns: noTurns(), freeBytes: 100 })
    flow.push(large)
    expect(received[0]?.length).toBe(100)
    expect(Buffer.concat(received).length).toBe(large.length)
  })

  test('is received by nobody while it is held, nor when it is too late', () => {
    const turns = noTurns()
    const { flow, received, calls } = watched({ turns })
    flow.push(large)
    flow.hold()
    turns.give()
    flow.stop()
    flow.release()
    turns.give()
    expect(received).toEqual([])
    expect(calls).toEqual(['pause'])
  })
})

describe('the end', () => {
  test('is told at once when everything was received', () => {
    const { flow, calls } = watched()
    flow.push(Buffer.from('a'))
    flow.hold()
    flow.close(new Error('reset'))
    expect(calls).toEqual(['reset'])
  })

  test('is told once, after what came before it, and nothing more is asked of the socket', () => {
    const turns = noTurns()
    const { flow, calls } = watched({ turns })
    flow.push(large)
    flow.close(undefined)
    flow.close(new Error('twice'))
    for (let index = 0; index <= heldBytesMax / sliceBytes; index++) turns.give()
    expect(calls).toEqual(['pause', 'closed'])
    expect(flow.isDry()).toBe(false)
  })
})
