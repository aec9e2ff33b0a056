import type { FromThread, ToThread } from './thread-messages.ts'
import { useStore, type UseStore } from './use-store.ts'

/** The thread that writes the use: it alone waits for the disk. It ends by a message, never by being terminated. */

declare const self: Worker

const sweepMs = 60_000

let store: UseStore | undefined
let sweeper: Timer | undefined
let work: Promise<void> = Promise.resolve()

const send = (message: FromThread): void => self.postMessage(message)

/** Other messages are handled between the chunks. */
async function sweep(): Promise<void> {
  const hasMore = await store?.sweep()
  sweeper = setTimeout(() => enqueue(sweep), hasMore === true ? 1 : sweepMs)
}

function enqueue(job: () => Promise<void>): void {
  work = work.then(job)
}

async function perform(message: ToThread): Promise<void> {
  switch (message.kind) {
    case 'open':
      store = useStore(message.options)
      sweeper = setTimeout(() => enqueue(sweep), sweepMs)
      return await store.prepare()
    case 'write':
      return send({ kind: 'written', result: (await store?.write(message.batches)) ?? {} })
    case 'zone':
      return store?.setZone(message.zone)
    case 'close':
      clearTimeout(sweeper)
      store?.close()
      // Without a listener the thread ends.
      self.onmessage = null
  }
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => enqueue(() => perform(data))
