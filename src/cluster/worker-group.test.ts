import { expect, test } from 'bun:test'
import { Channel } from './channel.ts'
import { workerGroup } from './worker-group.ts'

type Theirs = { health(text: string): void }

/** A worker that records its messages. */
function worker(name: string, sent: string[]): Channel<Theirs> {
  return new Channel<Theirs>(
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

test('a question goes to all workers but the sender, and the first answer counts', async () => {
  type Asked = { find(text: string): Promise<string | undefined> }
  const workers = workerGroup<Asked>()
  /** A worker that answers, or ends. */
  function answering(answer: string | undefined | 'ends'): Channel<Asked> {
    const end: Channel<Asked> = new Channel<Asked>(
      (message) =>
        queueMicrotask(() => {
          if (answer === 'ends') end.close()
          else end.receive({ kind: 'result', id: idOf(message), value: answer })
        }),
      {},
      () => undefined,
    )
    workers.add(end)
    return end
  }
  const sender = answering('itself')
  answering('ends')
  answering(undefined)
  expect(await workers.firstOf('find', 'x', sender)).toBeUndefined()
  answering('found')
  expect(await workers.firstOf('find', 'x', sender)).toBe('found')
})

function idOf(message: unknown): unknown {
  return typeof message === 'object' && message !== null && 'id' in message ? message.id : undefined
}
