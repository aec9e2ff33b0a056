import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { ProtobufWriter, readProtobuf } from './protobuf.ts'

test('what is written is read as it was: lengths of one, two and three bytes, and growth of the buffer', () => {
  const texts = fc.array(
    fc.oneof(fc.string({ maxLength: 300 }), fc.string({ unit: 'grapheme' }), fc.constant('x'.repeat(20_000))),
  )
  fc.assert(
    fc.property(texts, fc.nat(), fc.integer({ min: 1, max: 2_047 }), (all, whole, field) => {
      const out = new ProtobufWriter(8)
      const outer = out.begin(field)
      for (const text of all) {
        const inner = out.begin(2)
        out.text(3, text)
        out.end(inner)
      }
      out.varint(4, whole)
      out.end(outer)
      const [message] = [...readProtobuf(out.take())]
      expect(message?.field).toBe(field)
      const inner = [...readProtobuf(bytesOf(message?.value))]
      expect(inner.pop()).toEqual({ field: 4, value: whole })
      const found = inner.map(({ value }) =>
        [...readProtobuf(bytesOf(value))].map((each) => String(Buffer.from(bytesOf(each.value)))),
      )
      expect(found).toEqual(all.map((text) => [text.toWellFormed()]))
    }),
    { numRuns: 50 },
  )
})

test('bytes that are no message are read to the fault, without an error', () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => void [...readProtobuf(bytes)]))
})

function bytesOf(value: number | Uint8Array | undefined): Uint8Array {
  if (!(value instanceof Uint8Array)) throw new Error(`no bytes: ${value}`)
  return value
}
