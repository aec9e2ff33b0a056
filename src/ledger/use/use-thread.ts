import type { HeldBy } from '../../observe/under-way.ts'
import type { ContentWriter } from '../content/content-writer.ts'
import type { KeyReader } from '../postgres/key-reader.ts'
import { openUse, openUseReaderAt } from './open-use.ts'
import type { FromThread, ThreadQuestion, ToThread } from './thread-messages.ts'
import type { UseBatch } from './use-batch.ts'
import type { UseReader } from './use-reader.ts'
import type { UseStore } from './use-store.ts'

/**
 * A thread that writes the use or content, or answers questions for them: it alone waits for the disk. It ends by a
 * message, never by being terminated.
 */

declare const self: Worker

const sweepMs = 60_000
/** Holds of processes that may have died are looked at this often. */
const holdsMs = 2_000

let store: UseStore | undefined
let keys: KeyReader | undefined
let reader: UseReader | undefined
let content: ContentWriter | undefined
/** For the next write. */
let batches: UseBatch[] = []
let sweeper: Timer | undefined
let booker: Timer | undefined
let work: Promise<void> = Promise.resolve()

const noHolds = { costs: [] }

const send = (message: FromThread): void => self.postMessage(message)

/** Other messages are handled between the chunks. */
async function sweep(): Promise<void> {
  await bookDead()
  const hasMore = await store?.sweep()
  sweeper = setTimeout(() => enqueue(sweep), hasMore === true ? 1 : sweepMs)
}

/** Books the holds of dead processes, and looks again while there are others. */
async function bookDead(): Promise<void> {
  clearTimeout(booker)
  booker = undefined
  if ((await store?.bookDead()) === true) lookAgain()
}

function lookAgain(): void {
  booker ??= setTimeout(() => enqueue(bookDead), holdsMs)
}

function enqueue(job: () => Promise<void>): void {
  work = work.then(job)
}

async function answer({ id, place, question }: Extract<ToThread, { kind: 'ask' }>): Promise<void> {
  try {
    if (reader?.isCurrent() !== true) reader = await openUseReaderAt(place)
    send({ kind: 'answer', id, answer: await found(reader, question) })
  } catch (error) {
    reader = undefined
    send({ kind: 'failed', id, reason: error instanceof Error ? error.message : String(error) })
  }
}

async function found(
  { read, costSince, outcomes, requests, content: kept }: UseReader,
  question: ThreadQuestion,
): Promise<unknown> {
  switch (question.kind) {
    case 'rows':
      return await read(question.question)
    case 'cost':
      return await costSince(question.filter, question.since, Date.now())
    case 'outcomes':
      return await outcomes(question.question)
    case 'requests':
      return await requests.page(question.question)
    case 'request':
      return await requests.find(question.scope, question.id)
    case 'choices':
      return await requests.choices(question.scope)
    case 'callers':
      return await requests.callers()
    case 'content':
      return await kept(question.question)
  }
}

/** The code for content is loaded by the first content. */
async function keep({ place, taken, secrets }: Extract<ToThread, { kind: 'content' }>): Promise<void> {
  const { openContentWriter } = await import('../content/content-writer.ts')
  content ??= await openContentWriter(place)
  send({ kind: 'kept', ...(await content.write(taken, secrets)) })
}

function readMessage({ kind: _, holds, ...requests }: Extract<ToThread, { kind: 'records' }>): UseBatch {
  if (holds === undefined) return requests
  // The starter of this thread wrote a HeldBy.
  // oxlint-disable-next-line typescript/consistent-type-assertions
  return { ...requests, holds: JSON.parse(holds) as HeldBy }
}

async function write(): Promise<void> {
  const written = batches
  batches = []
  send({ kind: 'written', result: (await store?.write(written)) ?? {} })
  if (written.some(({ holds = noHolds }) => holds.costs.length > 0)) lookAgain()
}

async function perform(message: ToThread): Promise<void> {
  switch (message.kind) {
    case 'open': {
      const onKeysTrouble = (problem: string | undefined): void =>
        send(problem === undefined ? { kind: 'keys' } : { kind: 'keys', problem })
      ;({ store, keys } = await openUse(message.options, onKeysTrouble))
      sweeper = setTimeout(() => enqueue(sweep), sweepMs)
      await store.prepare()
      await bookDead()
      return send({ kind: 'ready' })
    }
    case 'records':
      return void batches.push(readMessage(message))
    case 'sums':
      return void batches.push(message.batch)
    case 'write':
      return await write()
    case 'zone':
      return store?.setZone(message.zone)
    case 'ask':
      return await answer(message)
    case 'content':
      return await keep(message)
    case 'close':
      clearTimeout(sweeper)
      clearTimeout(booker)
      await keys?.close()
      await reader?.close()
      await content?.close()
      await store?.close()
      // Without a listener the thread ends.
      self.onmessage = null
  }
}

self.onmessage = ({ data }: MessageEvent<ToThread>) => enqueue(() => perform(data))
