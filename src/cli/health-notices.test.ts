import { describe, expect, test } from 'bun:test'
import { UpstreamFailure } from '../service/failure.ts'
import { healthBook } from '../service/health.ts'
import type { Hear, KeptNotice, Notices } from '../stores/store.ts'
import { shareHealth } from './health-notices.ts'

/** A place for notices, and what was told there. */
function place() {
  const told: { readonly text: string; readonly kept: KeptNotice | undefined }[] = []
  const listeners: Hear[] = []
  const notices: Notices = {
    tell: (text, kept) => void told.push({ text, kept }),
    listen: (hear) => void listeners.push(hear),
  }
  return {
    notices,
    told,
    hear: (text: string, keptMs?: number) => {
      for (const listener of listeners) listener(text, keptMs)
    },
  }
}

function failOften(book: ReturnType<typeof healthBook>, times: number): void {
  for (let attempt = 0; attempt < times; attempt++)
    book.of('a', 'm').begin().failed(new UpstreamFailure('connect', 'refused'))
}

describe('news of health between machines', () => {
  test('an open breaker is told, and kept under a short key until it has ended', () => {
    const { notices, told } = place(),
      book = healthBook(
        () => 0,
        () => 0.5,
      )
    book.onNews(shareHealth(notices, book.hear))
    failOften(book, 5)
    expect(told.length).toBe(5)
    expect(told.at(-1)?.kept).toEqual({ key: expect.stringMatching(/^[0-9a-f]{64}$/), ms: 35_000 })
  })

  test('another machine takes it over as it is told; a newcomer as old as it is by then', () => {
    const { notices, told } = place(),
      one = healthBook(
        () => 0,
        () => 0.5,
      )
    one.onNews(shareHealth(notices, one.hear))
    failOften(one, 5)
    const text = told.at(-1)?.text ?? ''
    for (const [keptMs, remainingMs] of [
      [undefined, 5_000],
      [33_000, 3_000],
    ] as const) {
      const other = place(),
        book = healthBook(() => 0)
      shareHealth(other.notices, book.hear)
      other.hear(text, keptMs)
      expect(book.of('a', 'm').unavailable()).toEqual({ reason: 'open', remainingMs })
    }
  })

  test('what is told just now is heard as it is, be it kept or not: failures count, and a success ends the trouble', () => {
    const { notices, told } = place(),
      other = place(),
      one = healthBook(
        () => 0,
        () => 0.5,
      ),
      book = healthBook(() => 0)
    one.onNews(shareHealth(notices, one.hear))
    shareHealth(other.notices, book.hear)
    const hearAll = () => {
      for (const { text, kept } of told.splice(0)) other.hear(text, kept?.ms)
    }
    failOften(one, 4)
    const late = one.of('a', 'm').begin()
    failOften(one, 1)
    hearAll()
    expect(book.openBreakers()).toEqual([{ provider: 'a' }])
    late.answered()
    late.succeeded()
    hearAll()
    expect([book.openBreakers(), book.of('a', 'm').unavailable()]).toEqual([[], undefined])
  })

  test('a success that was missed, and is read later, ends what was told before it, although that was heard after it was told', () => {
    let time = 0
    const { notices, told } = place(),
      other = place(),
      one = healthBook(
        () => time,
        () => 0.5,
      ),
      book = healthBook(() => time)
    one.onNews(shareHealth(notices, one.hear))
    shareHealth(other.notices, book.hear)
    failOften(one, 4)
    const late = one.of('a', 'm').begin()
    failOften(one, 1)
    late.succeeded()
    const success = told.pop()
    time = 20
    for (const { text, kept } of told) other.hear(text, kept?.ms)
    expect(book.openBreakers()).toEqual([{ provider: 'a' }])
    time = 1_000
    other.hear(success?.text ?? '', (success?.kept?.ms ?? 0) - time)
    expect(book.openBreakers()).toEqual([])
  })

  test('what is over, and what is no news, is passed over', () => {
    const { notices, hear } = place(),
      heard: unknown[] = []
    shareHealth(notices, (news) => heard.push(news))
    for (const text of ['', 'null', '{', '{"provider":"a"}', '{"provider":"a","kind":"failed","failure":"nonsense"}'])
      hear(text)
    const over = { provider: 'a', kind: 'failed', failure: 'quota', heldOff: { coolDownMs: 0.5 } }
    hear(JSON.stringify(over), 0)
    expect(heard).toEqual([])
  })
})
