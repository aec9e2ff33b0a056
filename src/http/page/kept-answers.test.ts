import { describe, expect, test } from 'bun:test'
import { WireError } from '../../formats/error.ts'
import type { SharedTimers } from '../../service/shared-timers.ts'
import type { KeptReader } from './kept-answer.ts'
import { keptAnswers, keptLimits, type KeptLimits } from './kept-answers.ts'

/** Timers that a test lets pass. */
function fakeTimers(): SharedTimers & { pass(ms: number): void } {
  let now = 0
  const waiting = new Set<{ readonly due: number; readonly expire: () => void }>()
  return {
    start(ms, expire) {
      const timer = { due: now + ms, expire }
      waiting.add(timer)
      return { stop: () => void waiting.delete(timer) }
    },
    pass(ms) {
      now += ms
      for (const timer of [...waiting]) {
        if (timer.due > now || !waiting.delete(timer)) continue
        timer.expire()
      }
    },
  }
}

function subject(limits: Partial<KeptLimits> = {}) {
  const timers = fakeTimers()
  let isClosing = false
  const answers = keptAnswers(timers, () => isClosing, { ...keptLimits, ...limits })
  return {
    answers,
    timers,
    close() {
      isClosing = true
    },
    /** Begins an answer, with its aborts. */
    begin(id: string, owner = '') {
      const aborted: string[] = []
      const answer = answers.begin({ owner, id }, () => aborted.push(id))
      if (answer === undefined) throw new Error('it is not kept')
      return { answer, aborted }
    },
  }
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const mebibyte = 1024 * 1024

/** Everything that a reader can read now. */
function readAll(reader: KeptReader | undefined): string {
  let text = ''
  for (let found = reader?.next(); found !== undefined && found.bytes.length > 0; found = reader?.next()) {
    text += new TextDecoder().decode(found.bytes)
    reader?.advance(found.bytes.length)
  }
  return text
}

const codeOf = (run: () => unknown): unknown => {
  try {
    return run()
  } catch (error) {
    return error instanceof WireError ? `${error.status} ${error.code}` : error
  }
}

describe('a kept answer', () => {
  test('is read from any position, by several readers, while it grows and after its end', () => {
    const { answer } = subject().begin('a')
    const [first, second] = [answer.read(0), answer.read(0)]
    const text = 'x'.repeat(40_000)
    answer.write(bytes('start'))
    expect(readAll(first)).toBe('start')
    answer.write(bytes(text))
    expect([readAll(first), readAll(second), readAll(answer.read(40_000))]).toEqual([
      text,
      `start${text}`,
      'x'.repeat(5),
    ])
    answer.write(bytes(' end'))
    answer.end()
    expect([readAll(first), first?.next()?.isLast, readAll(answer.read(40_005))]).toEqual([' end', true, ' end'])
  })

  test('copies its bytes: their buffer may be used again', () => {
    const { answer } = subject().begin('a')
    const buffer = bytes('first')
    answer.write(buffer)
    buffer.fill(0)
    expect(readAll(answer.read(0))).toBe('first')
  })

  test('cannot be read from a position that it does not have', () => {
    const { answer } = subject().begin('a')
    answer.write(bytes('abc'))
    expect([answer.read(3)?.position, answer.read(4), answer.read(1e12)]).toEqual([3, undefined, undefined])
  })

  test('tells its readers of bytes and of its end', async () => {
    const { answer } = subject().begin('a')
    const grown = answer.changed()
    answer.write(bytes('a'))
    await grown
    const ended = answer.changed()
    answer.end()
    await ended
    answer.begin({ status: 200, headers: {} })
    expect(await answer.head).toEqual({ status: 200, headers: {} })
  })

  test('goes on for a minute without a reader, and is then aborted', () => {
    const { begin, timers, answers } = subject()
    const { answer, aborted } = begin('a')
    answer.read(0)?.leave()
    timers.pass(59_999)
    answer.read(0)?.leave()
    timers.pass(59_999)
    const reader = answer.read(0)
    timers.pass(600_000)
    expect(aborted).toEqual([])
    reader?.leave()
    reader?.leave()
    timers.pass(60_000)
    expect([aborted, readAll(answer.read(0))]).toEqual([['a'], ''])
    timers.pass(60_000)
    expect(answers.find({ owner: '', id: 'a' })).toBeUndefined()
  })

  test('is forgotten a minute after its end, also when it is still read', () => {
    const { begin, timers, answers } = subject()
    const { answer, aborted } = begin('a')
    const reader = answer.read(0)
    answer.write(bytes('all of it'))
    answer.end()
    timers.pass(59_999)
    expect(answers.find({ owner: '', id: 'a' })).toBe(answer)
    timers.pass(1)
    expect([answers.find({ owner: '', id: 'a' }), readAll(reader), aborted]).toEqual([undefined, 'all of it', []])
  })

  test('that is stopped aborts at once, and tells its readers', async () => {
    const { begin, answers } = subject()
    const { answer, aborted } = begin('a')
    const reader = answer.read(0)
    answer.write(bytes('data: half\n\n'))
    expect(answers.stop({ owner: '', id: 'a' })).toBe(true)
    expect(await answer.head).toBeUndefined()
    answer.write(bytes('late'))
    answer.end()
    expect([aborted, readAll(reader), reader?.next()?.isLast]).toEqual([
      ['a'],
      'data: half\n\nevent: stopped\ndata: {}\n\n',
      true,
    ])
    answer.stop()
    expect(aborted).toEqual(['a'])
  })

  test('that is stopped before it begins is refused', () => {
    const { begin, answers } = subject()
    expect(answers.stop({ owner: '', id: 'a' })).toBe(false)
    expect(codeOf(() => begin('a'))).toBe('499 client_left')
    expect(begin('a').aborted).toEqual([])
    for (let index = 0; index < 300; index++) answers.stop({ owner: '', id: `x${index}` })
    expect(codeOf(() => begin('x0').aborted)).toEqual([])
  })

  test('ends without a reader while the service shuts down', () => {
    const { begin, answers, close } = subject()
    const [unread, read] = [begin('a'), begin('b')]
    const reader = read.answer.read(0)
    close()
    answers.stopUnread()
    expect([unread.aborted, read.aborted]).toEqual([['a'], []])
    reader?.leave()
    expect(read.aborted).toEqual(['b'])
  })
})

describe('an answer above its limit', () => {
  test('waits for its slowest reader, keeps what is not read yet, and ends without readers', async () => {
    const { begin } = subject({ bytesOfOne: 32 * 1024 })
    const { answer, aborted } = begin('a')
    const [fast, slow] = [answer.read(0), answer.read(0)]
    expect(answer.write(bytes('x'.repeat(32 * 1024)))).toBeUndefined()
    expect(answer.isWhole).toBe(true)
    let isRead = false
    const written = answer.write(bytes('y'.repeat(20_000)))
    void Promise.resolve(written).then(() => (isRead = true))
    expect(answer.isWhole).toBe(false)
    expect(readAll(fast)).toHaveLength(52_768)
    await Bun.sleep(0)
    expect(isRead).toBe(false)
    expect(readAll(slow)).toHaveLength(52_768)
    await written
    expect([answer.read(0), answer.read(52_768)?.position]).toEqual([undefined, 52_768])
    fast?.leave()
    expect(aborted).toEqual([])
  })

  test('is aborted when its last reader leaves', () => {
    const { begin, answers } = subject({ bytesOfOne: 16 * 1024 })
    const { answer, aborted } = begin('a')
    const reader = answer.read(0)
    answer.write(bytes('x'.repeat(16 * 1024 + 1)))
    reader?.leave()
    expect([aborted, answers.find({ owner: '', id: 'a' })]).toEqual([['a'], undefined])
  })

  test('is aborted at once when it has no reader', () => {
    const { begin } = subject({ bytesOfOne: 16 * 1024 })
    const { answer, aborted } = begin('a')
    answer.read(0)?.leave()
    answer.write(bytes('x'.repeat(20_000)))
    expect(aborted).toEqual(['a'])
  })
})

describe('kept answers', () => {
  test('belong to their owner', () => {
    const { begin, answers } = subject()
    const { answer } = begin('a', 'ada')
    expect([answers.find({ owner: 'bob', id: 'a' }), answers.find({ owner: '', id: 'a' })]).toEqual([
      undefined,
      undefined,
    ])
    expect(begin('a', 'bob').answer).not.toBe(answer)
    answers.stop({ owner: 'bob', id: 'a' })
    expect([answer.isOver, answers.find({ owner: 'ada', id: 'a' })]).toEqual([false, answer])
  })

  test('have each name once', () => {
    const { begin } = subject()
    begin('a')
    expect(codeOf(() => begin('a'))).toBe('409 answer_exists')
  })

  test('are bounded for each owner and in number; ended ones make place', () => {
    const { begin, answers } = subject({ answersOfOne: 2, answers: 3 })
    const [first] = [begin('a', 'ada'), begin('b', 'ada')]
    expect(answers.begin({ owner: 'ada', id: 'c' }, () => undefined)).toBeUndefined()
    begin('a', 'bob')
    expect(answers.begin({ owner: 'eve', id: 'a' }, () => undefined)).toBeUndefined()
    first?.answer.end()
    begin('a', 'eve')
    expect(answers.find({ owner: 'ada', id: 'a' })).toBeUndefined()
  })

  test('are bounded in bytes: ended ones without a reader make place, running ones end with their reader', () => {
    const { begin, answers } = subject({ bytes: mebibyte, bytesOfOne: mebibyte })
    const ended = begin('ended')
    ended.answer.write(new Uint8Array(mebibyte / 2))
    ended.answer.end()
    const running = begin('running')
    const reader = running.answer.read(0)
    running.answer.write(new Uint8Array(mebibyte))
    expect([answers.find({ owner: '', id: 'ended' }), running.answer.isWhole]).toEqual([undefined, true])
    const late = begin('late')
    late.answer.read(0)
    late.answer.write(new Uint8Array(1))
    expect([late.answer.isWhole, running.aborted]).toEqual([false, []])
    reader?.leave()
    running.answer.stop()
    const next = begin('next')
    next.answer.read(0)
    next.answer.write(new Uint8Array(mebibyte / 2))
    expect(next.answer.isWhole).toBe(true)
  })

  test('give all their memory back', () => {
    const { begin, timers } = subject({ bytes: mebibyte })
    for (let round = 0; round < 5; round++) {
      const { answer } = begin(`a${round}`)
      const [reader, other] = [answer.read(0), answer.read(0)]
      answer.write(new Uint8Array(mebibyte))
      expect(answer.isWhole).toBe(true)
      if (round % 2 === 0) answer.stop()
      else answer.end()
      readAll(reader)
      reader?.leave()
      timers.pass(60_000)
      other?.leave()
    }
  })
})
