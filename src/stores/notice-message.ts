import { noticeKeptMsMost, noticeLengthMost, type KeptNotice } from './store.ts'

/** A notice on its way between processes. */
export interface NoticeMessage {
  /** Of the process that tells. */
  readonly from: string
  readonly text: string
  /** For how long it is kept; absent: it is not. */
  readonly keptMs?: number
}

/** Of what carries a notice: each character takes up to 6 of JSON, and the rest little. */
export const messageLengthMost = 6 * noticeLengthMost + 200

/**
 * A notice as it travels. @param agoMs how long it has waited to be told; who hears it sees so by what is left of its
 * time, the server that keeps it by this
 */
export function writeNoticeMessage(from: string, text: string, kept: KeptNotice | undefined, agoMs?: number): string {
  return JSON.stringify({
    from,
    text,
    ...(kept === undefined ? {} : { keptMs: kept.ms }),
    ...(agoMs === undefined ? {} : { agoMs }),
  })
}

/** What somebody told; `undefined`: it is no notice. Anybody who reaches the server may have written it. */
export function parseNoticeMessage(message: string): NoticeMessage | undefined {
  if (message.length > messageLengthMost) return undefined
  try {
    const value: unknown = JSON.parse(message)
    if (typeof value !== 'object' || value === null || !('from' in value) || !('text' in value)) return undefined
    const { from, text } = value,
      keptMs = 'keptMs' in value ? value.keptMs : undefined
    if (typeof from !== 'string' || typeof text !== 'string' || text.length > noticeLengthMost) return undefined
    if (keptMs === undefined) return { from, text }
    return typeof keptMs === 'number' && keptMs >= 0 && keptMs <= noticeKeptMsMost ? { from, text, keptMs } : undefined
  } catch {
    // It is not JSON.
    return undefined
  }
}
