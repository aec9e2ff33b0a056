import { expect, test } from 'bun:test'
import { channel, type Channel } from './channel.ts'
import { workerGroup, type SpreadHandler } from './worker-group.ts'

type Theirs = SpreadHandler & { health(text: string): void }

/** A worker that records its messages. */
function worker(name: string, sent: string[]): Channel<Theirs> {
  return channel<Theirs>(
    (message) => void sent.push(`${name} ${JSON.stringify(message)}`),
    {},
    () => undefined,
  )
}

test('a message goes to all workers but the sender', () => {
  const sent: string[] = [],
    [a, b, c] = ['a', 'b', 'c'].map((name) => worker(name, sent)),
    workers = workerGroup<Theirs>()
  if (a === undefined || b === undefined || c === undefined) throw new Error('three')
  for (const each of [a, b, c]) workers.add(each)
  workers.notifyAll('health', 'rain', b)
  workers.remove(c)
  workers.notifyAll('health', 'sun')
  expect(sent.map((line) => `${line[0]} ${line.includes('rain') ? 'rain' : 'sun'}`)).toEqual([
    'a rain',
    'c rain',
    'a sun',
    'b sun',
  ])
})

test('when a worker leaves the port, one that stays spreads connections, once', () => {
  const sent: string[] = [],
    [a, b, c] = ['a', 'b', 'c'].map((name) => worker(name, sent)),
    workers = workerGroup<Theirs>()
  if (a === undefined || b === undefined || c === undefined) throw new Error('three')
  for (const each of [a, b, c]) {
    workers.add(each)
    workers.setListening(each, true)
  }
  expect(workers.positionOf(c)).toEqual({ index: 2, count: 3 })
  workers.setListening(a, false)
  workers.setListening(a, false)
  expect(workers.positionOf(c)).toEqual({ index: 0, count: 2 })
  expect(workers.positionOf(a)).toBeUndefined()
  expect(sent.map((line) => line.slice(0, 1))).toEqual(['b'])
})
