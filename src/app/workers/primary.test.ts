import { expect, test } from 'bun:test'
import { sharedProbe } from './primary.ts'

test('a port is asked once for all, and anew when that is to be forgotten', async () => {
  const asked: number[] = []
  const { probe, forget } = sharedProbe(async (port) => {
    asked.push(port)
    return asked.length === 1 ? undefined : [`model-${asked.length}`]
  })
  expect(await Promise.all([probe(1), probe(1)])).toEqual([undefined, undefined])
  expect(await probe(2)).toEqual(['model-2'])
  expect(await probe(1)).toBeUndefined()
  forget()
  expect(await probe(1)).toEqual(['model-3'])
  expect(asked).toEqual([1, 2, 1])
})
