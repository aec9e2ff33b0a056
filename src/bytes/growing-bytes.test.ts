import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { growingBytes } from './growing-bytes.ts'

const filled = (length: number, byte: number): Uint8Array<ArrayBuffer> => new Uint8Array(length).fill(byte)

describe('growingBytes', () => {
  test('holds the pieces, in the capacity announced, at most twice their length', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(20_000), { maxLength: 12 }), fc.nat(100_000), (sizes, more) => {
        const total = sizes.reduce((sum, size) => sum + size, 0)
        const bytes = growingBytes(total + more)
        let capacity = 0,
          added = 0
        for (const [index, size] of sizes.entries()) {
          capacity = bytes.capacityWith(size)
          bytes.add(filled(size, index + 1))
          added += size
          expect(bytes.length).toBe(added)
          expect(capacity).toBeGreaterThanOrEqual(added)
          expect(capacity).toBeLessThanOrEqual(Math.min(total + more, Math.max(512, added * 2)))
        }
        bytes.trim()
        expect(Buffer.compare(bytes.whole(), Buffer.concat(sizes.map((size, index) => filled(size, index + 1))))).toBe(
          0,
        )
        expect(bytes.whole().buffer.byteLength).toBe(total)
      }),
    )
  })

  test('keeps a body of one piece without copying it', () => {
    const bytes = growingBytes(10_000)
    const piece = filled(10_000, 1)
    bytes.add(piece)
    bytes.trim()
    expect(bytes.whole().buffer).toBe(piece.buffer)
  })

  test('frees the memory of pieces it has copied', () => {
    const bytes = growingBytes(30_000)
    const pieces = [filled(10_000, 1), filled(10_000, 2), filled(10_000, 3)]
    for (const piece of pieces) bytes.add(piece)
    expect(pieces.map((piece) => piece.length)).toEqual([0, 0, 0])
    const { buffer } = bytes.whole()
    bytes.free()
    expect([buffer.byteLength, bytes.length]).toEqual([0, 0])
  })

  test('leaves views of shared buffers usable', () => {
    const bytes = growingBytes(30_000)
    const shared = filled(20_000, 1)
    bytes.add(shared.subarray(0, 10_000))
    bytes.add(shared.subarray(10_000))
    expect(shared.length).toBe(20_000)
  })

  test('appends copies, and starts again once they are taken', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 2_000 }), { maxLength: 12 }), (pieces) => {
        const bytes = growingBytes()
        for (const round of [1, 2]) {
          for (const piece of pieces)
            bytes.append(Buffer.concat([filled(round, 7), piece]), round, round + piece.length)
          expect(Buffer.compare(bytes.take(), Buffer.concat(pieces))).toBe(0)
          expect(bytes.length).toBe(0)
        }
      }),
    )
  })

  test('does not change taken bytes afterwards', () => {
    const bytes = growingBytes()
    bytes.append(filled(10, 1), 0, 10)
    const taken = bytes.take()
    bytes.append(filled(10, 2), 0, 10)
    expect(taken).toEqual(filled(10, 1))
  })

  test('leaves appended bytes usable', () => {
    const bytes = growingBytes()
    const piece = filled(10_000, 1)
    bytes.append(piece, 0, 10_000)
    expect(piece.length).toBe(10_000)
  })
})
