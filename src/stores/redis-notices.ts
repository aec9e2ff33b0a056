import { writeNoticeMessage } from './notice-message.ts'
import { noticeQueue, type Telling } from './notice-queue.ts'
import type { RedisConnection } from './redis-connection.ts'
import { redisHearing, type Hearing, type KeptMessage } from './redis-hearing.ts'
import { redisListener, type RedisListener, type RedisListenerOptions } from './redis-listener.ts'
import { keptScript, tellScript } from './redis-notice-scripts.ts'
import { escaped } from './redis-text.ts'
import { noticeKeptMsMost, type Notices } from './store.ts'

/** Notices that are kept, of one name; beyond, those that would end soonest are let go. */
const keptMost = 1_000

/** {@link Notices} through a Redis server. */
export interface RedisNotices extends Notices {
  /** Tells and hears no more. */
  close(): void
}

/** How {@link redisNotices} are made. */
export interface RedisNoticesOptions extends Pick<RedisListenerOptions, 'url' | 'timeoutMs' | 'heartbeatMs'> {
  /** For telling. Hearing takes a connection of its own, when it begins. */
  readonly connection: RedisConnection
  readonly name: string
  /** Of this process, unlike any other's: it does not hear itself. */
  readonly from: string
}

/**
 * Notices told by PUBLISH; what is kept of them lies under `svc:NAME:kept`, and `svc:NAME:kept-until` with its time,
 * until it has ended.
 */
export function redisNotices({ connection, name, from, ...listening }: RedisNoticesOptions): RedisNotices {
  const keys = [`svc:${name}:kept-until`, `svc:${name}:kept`]
  // Channels are the whole server's, whatever the database.
  const channel = `svc:${name}:notices:${new URL(listening.url).pathname.slice(1) || '0'}`
  let listener: RedisListener | undefined
  let hearing: Hearing | undefined

  async function send(batch: readonly Telling[]): Promise<void> {
    const words = batch.flatMap(({ text, kept, agoMs }) => [
      writeNoticeMessage(from, text, kept, agoMs),
      escaped(kept?.key ?? ''),
      String(kept === undefined ? -1 : Math.ceil(kept.ms)),
      String(Math.floor(agoMs ?? 0)),
    ])
    await connection.send('EVAL', [
      tellScript,
      '2',
      ...keys,
      channel,
      String(keptMost),
      String(noticeKeptMsMost),
      from,
      ...words,
    ])
  }

  async function readKept(): Promise<readonly KeptMessage[]> {
    const kept = await connection.send('EVAL', [keptScript, '2', ...keys, String(keptMost), String(noticeKeptMsMost)])
    return Array.isArray(kept) ? inPairs(kept) : []
  }

  const queue = noticeQueue(send)
  return {
    tell: queue.tell,
    listen(hear) {
      if (listener !== undefined) return
      const { take, catchUp } = (hearing = redisHearing({ from, hear, readKept }))
      listener = redisListener({ ...listening, channel, onMessage: take, onListening: catchUp })
    },
    close() {
      queue.close()
      listener?.close()
      hearing?.close()
    },
  }
}

function inPairs(kept: readonly unknown[]): readonly KeptMessage[] {
  return Array.from({ length: Math.floor(kept.length / 2) }, (_, index) => [
    String(kept[2 * index]),
    Number(kept[2 * index + 1]),
  ])
}
