import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { growingBytes } from './growing-bytes.ts'

const filled = (length: number, byte: number): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(byte)

describe('bytes that grow', () => {
  test('are what came, in memory that was told before and is at most twice that', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 12 }), fc.nat(100_000), (sizes, more) => {
        const total = sizes.reduce((sum, size) => sum + size, 0)
        const bytes = growingBytes(total + more)
        let memory = 0,
          came = 0
        for (const [index, size] of sizes.entries()) {
          memory = bytes.sizeWith(size)
          bytes.add(filled(size, index + 1))
          came += size
          expect(bytes.length).toBe(came)
          expect(memory).toBeGreaterThanOrEqual(came)
          expect(memory).toBeLessThanOrEqual(Math.min(total + more, Math.max(4_096, came * 2)))
        }
        bytes.trim()
        expect(Buffer.compare(bytes.whole(), Buffer.concat(sizes.map((size, index) => filled(size, index + 1))))).toBe(
          0,
        )
        expect(bytes.whole().buffer.byteLength).toBe(total)
      }),
    )
  })

  test('that came in one piece are that piece', () => {
    const bytes = growingBytes(10_000)
    const piece = filled(10_000, 1)
    bytes.add(piece)
    bytes.trim()
    expect(bytes.whole().buffer).toBe(piece.buffer)
  })

  test('leave nothing behind where they were before', () => {
    const bytes = growingBytes(30_000)
    const pieces = [filled(10_000, 1), filled(10_000, 2), filled(10_000, 3)]
    for (const piece of pieces) bytes.add(piece)
    expect(pieces.map((piece) => piece.length)).toEqual([0, 0, 0])
    const { buffer } = bytes.whole()
    bytes.letGo()
    expect([buffer.byteLength, bytes.length]).toEqual([0, 0])
  })

  test('leave alone what others may see too', () => {
    const bytes = growingBytes(30_000)
    const shared = filled(20_000, 1)
    bytes.add(shared.subarray(0, 10_000))
    bytes.add(shared.subarray(10_000))
    expect(shared.length).toBe(20_000)
  })
})
