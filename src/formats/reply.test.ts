import { expect, test } from 'bun:test'
import { emptyPart, type Part } from './part.ts'
import { readTo } from './receiver.ts'
import { readBy, throughParts, type StreamReply } from './reply.ts'

interface Fake extends StreamReply {
  isEmpty: boolean
  isCancelled: boolean
}

const usage = { promptTokens: 5, completionTokens: 2, totalTokens: 7 }

function fakeStream(texts: readonly string[], failure?: Error): Fake {
  const reads = texts.map((text) => [emptyPart({ text })])
  return {
    kind: 'stream',
    contentType: 'audio/mpeg',
    isEmpty: false,
    isCancelled: false,
    onEnd: (listener) => listener(undefined, usage),
    async read() {
      const parts = reads.shift()
      if (parts === undefined && failure !== undefined) throw failure
      return parts
    },
    cancel() {
      this.isCancelled = true
    },
  }
}

const textsOf = (parts: readonly Part[] | undefined) => parts?.map(({ text }) => text)

function readAll(stream: StreamReply): Promise<readonly unknown[]> {
  return new Promise((resolve) => {
    const seen: unknown[] = []
    readTo(stream, {
      receive(parts) {
        seen.push(textsOf(parts))
        if (parts === undefined) resolve(seen)
        return parts !== undefined
      },
      fail: (error) => resolve([...seen, error]),
    })
  })
}

test('a stream calls back with the parts of each read before its reader gets them', async () => {
  const seen: unknown[] = []
  const passed = throughParts(fakeStream(['a', 'b']), (parts) => seen.push(textsOf(parts)))
  expect(textsOf(await passed.read())).toEqual(['a'])
  expect(seen).toEqual([['a']])
  expect(await readAll(passed)).toEqual([['b'], undefined])
  expect(seen).toEqual([['a'], ['b']])
})

test('a stream that is passed on fails as it does', async () => {
  const cut = new Error('cut')
  expect(await readAll(throughParts(fakeStream(['a'], cut), () => {}))).toEqual([['a'], cut])
  await expect(throughParts(fakeStream([], cut), () => {}).read()).rejects.toBe(cut)
})

test('a stream that is passed on is in all else the stream itself', () => {
  const stream = fakeStream([])
  const passed = throughParts(stream, () => {})
  const usages: unknown[] = []
  passed.onEnd((_failure, usage) => usages.push(usage))
  passed.cancel()
  expect([passed.kind, passed.contentType, passed.isEmpty, usages, stream.isCancelled]).toEqual([
    'stream',
    'audio/mpeg',
    false,
    [usage],
    true,
  ])
  stream.isEmpty = true
  expect([passed.isEmpty, readBy(stream, () => {}, false).isEmpty]).toEqual([true, false])
})
