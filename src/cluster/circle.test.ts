import { expect, test } from 'bun:test'
import { channel, type Channel } from './channel.ts'
import { circle, type Spreading } from './circle.ts'

type Theirs = Spreading & { news(text: string): void }

/** A worker that only notes what it is told. */
function worker(name: string, told: string[]): Channel<Theirs> {
  return channel<Theirs>(
    (message) => void told.push(`${name} ${JSON.stringify(message)}`),
    {},
    () => undefined,
  )
}

test('all but who told it are told', () => {
  const told: string[] = [],
    [a, b, c] = ['a', 'b', 'c'].map((name) => worker(name, told)),
    workers = circle<Theirs>()
  if (a === undefined || b === undefined || c === undefined) throw new Error('three')
  for (const each of [a, b, c]) workers.joined(each)
  workers.tell('news', 'rain', b)
  workers.left(c)
  workers.tell('news', 'sun')
  expect(told.map((line) => `${line[0]} ${line.includes('rain') ? 'rain' : 'sun'}`)).toEqual([
    'a rain',
    'c rain',
    'a sun',
    'b sun',
  ])
})

test('who leaves the port has one that stays spread newcomers, once; the last one in takes its place', () => {
  const told: string[] = [],
    [a, b, c] = ['a', 'b', 'c'].map((name) => worker(name, told)),
    workers = circle<Theirs>()
  if (a === undefined || b === undefined || c === undefined) throw new Error('three')
  for (const each of [a, b, c]) {
    workers.joined(each)
    workers.noteSocket(each, true)
  }
  expect(workers.placeOf(c)).toEqual({ place: 2, of: 3 })
  workers.noteSocket(a, false)
  workers.noteSocket(a, false)
  expect(workers.placeOf(c)).toEqual({ place: 0, of: 2 })
  expect(workers.placeOf(a)).toBeUndefined()
  expect(told.map((line) => line.slice(0, 1))).toEqual(['b'])
})
