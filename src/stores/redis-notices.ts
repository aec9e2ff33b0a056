import { parseNoticeMessage, writeNoticeMessage } from './notice-message.ts'
import { noticeQueue, type Telling } from './notice-queue.ts'
import type { RedisConnection } from './redis-connection.ts'
import { redisListener, type RedisListener, type RedisListenerOptions } from './redis-listener.ts'
import { keptScript, tellScript } from './redis-notice-scripts.ts'
import { escaped } from './redis-text.ts'
import { noticeKeptMsMost, type Hear, type Notices } from './store.ts'

/** Notices that are kept, of one name; beyond, those that would end soonest are let go. */
const keptMost = 1_000
/** What is heard within a second; beyond, it is not. */
const heardMost = 1_000

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

/** Notices told by PUBLISH; what is kept of them lies under `svc:NAME:kept`, and `svc:NAME:kept-until` with its time, until it has ended. */
export function redisNotices({ connection, name, from, ...listening }: RedisNoticesOptions): RedisNotices {
  const keys = [`svc:${name}:kept-until`, `svc:${name}:kept`]
  // Channels are the whole server's, whatever the database.
  const channel = `svc:${name}:notices:${new URL(listening.url).pathname.slice(1) || '0'}`
  let listener: RedisListener | undefined

  async function send(batch: readonly Telling[]): Promise<void> {
    const words = batch.flatMap(({ text, kept }) => [writeNoticeMessage(from, text, kept), escaped(kept?.key ?? ''), String(kept === undefined ? -1 : Math.ceil(kept.ms))])
    await connection.send('EVAL', [tellScript, '2', ...keys, channel, String(keptMost), String(noticeKeptMsMost), ...words])
  }

  return {
    tell: noticeQueue(send),
    listen(hear) {
      const told = hearing(from, hear)
      listener ??= redisListener({
        ...listening, channel,
        onMessage: (message) => told(message, undefined),
        async onListening() {
          const kept = await connection.send('EVAL', [keptScript, '2', ...keys, String(keptMost), String(noticeKeptMsMost)])
          if (!Array.isArray(kept)) return
          for (let index = 0; index < kept.length; index += 2) told(String(kept[index]), Number(kept[index + 1]))
        },
      })
    },
    close: () => listener?.close(),
  }
}

/** Passes on what others told, and no more of it than anybody should have to hear. */
function hearing(from: string, hear: Hear): (message: string, leftMs: number | undefined) => void {
  let second = 0
  let heard = 0

  return function told(message, leftMs) {
    const now = Math.floor(performance.now() / 1000)
    if (now !== second) heard = 0
    second = now
    if (++heard > heardMost) return
    const notice = parseNoticeMessage(message)
    if (notice !== undefined && notice.from !== from) hear(notice.text, leftMs ?? notice.keptMs)
  }
}
