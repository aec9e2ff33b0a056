import { describe, expect, test } from 'bun:test'
import { callController, type CallController, type Layer, stack } from './service.ts'
import { callOf } from './testing.ts'
import { formatTrail } from './trail.ts'

function named(name: string): Layer<string, string> {
  return (inner) => async (request, call) => `${name}(${await inner(`${request}${name}`, call)})`
}

describe('a stack', () => {
  test('has its first layer outermost', async () => {
    const service = stack<string, string>(async (request) => request, named('a'), named('b'))
    expect(await service('', callOf())).toBe('a(b(ab))')
  })

  test('without layers is the service itself', () => {
    const service = async (request: string) => request
    expect(stack(service)).toBe(service)
  })
})

describe('a trail as a header', () => {
  test('has name, status, class and time of each attempt', () => {
    expect(
      formatTrail([
        { name: 'groq', status: 429, failure: 'rate_limit', reason: 'not shown', ms: 11.6 },
        { name: 'local', failure: 'connect', ms: 0.2, ambiguous: true },
        { name: 'openai', status: 200, ms: 340 },
      ]),
    ).toBe('groq;status=429;class=rate_limit;ms=12, local;class=connect;ambiguous;ms=0, openai;status=200;ms=340')
  })

  test('names what each attempt changed', () => {
    expect(
      formatTrail([
        { name: 'a', status: 400, failure: 'bad_request', adapted: ['system_first', 'strict'], ms: 1 },
        { name: 'b', status: 200, dropped: ['stop', 'seed'], adjusted: ['messages'], ms: 2 },
      ]),
    ).toBe(
      'a;status=400;class=bad_request;adapted=system_first+strict;ms=1, ' +
        'b;status=200;dropped=stop+seed;adjusted=messages;ms=2',
    )
  })

  test('without attempts is empty', () => {
    expect(formatTrail([])).toBe('')
  })
})

const kinds: readonly (readonly [string, () => CallController])[] = [
  ['a call controller', callController],
  ["the platform's controller, which it stands in for,", () => new AbortController()],
]

describe.each(kinds)('%s', (_name, make) => {
  test('is not aborted at first', () => {
    const { signal } = make()
    expect(signal.aborted).toBe(false)
    expect(signal.reason).toBeUndefined()
  })

  test('has its reason when its listeners are called', () => {
    const controller = make()
    const seen: unknown[] = []
    controller.signal.addEventListener('abort', () => seen.push(controller.signal.aborted, controller.signal.reason))
    controller.abort('gone')
    expect(seen).toEqual([true, 'gone'])
  })

  test('aborts once, for the first reason', () => {
    const controller = make()
    let calls = 0
    controller.signal.addEventListener('abort', () => {
      calls += 1
    })
    controller.abort('first')
    controller.abort('second')
    expect(controller.signal.reason).toBe('first')
    expect(calls).toBe(1)
  })

  test('calls every listener in the order of registration', () => {
    const controller = make()
    const calls: string[] = []
    for (const name of ['a', 'b', 'c'])
      controller.signal.addEventListener('abort', () => calls.push(name), { once: true })
    controller.abort('gone')
    expect(calls).toEqual(['a', 'b', 'c'])
  })

  test('does not call a removed listener', () => {
    const controller = make()
    let calls = 0
    const listener = () => {
      calls += 1
    }
    controller.signal.addEventListener('abort', listener)
    controller.signal.removeEventListener('abort', listener)
    controller.signal.removeEventListener('abort', () => undefined)
    controller.abort('gone')
    expect(calls).toBe(0)
  })

  test('does not call a listener that was added after the abort', () => {
    const controller = make()
    controller.abort('gone')
    let calls = 0
    controller.signal.addEventListener('abort', () => {
      calls += 1
    })
    expect(calls).toBe(0)
  })

  test('allows a listener to remove itself and others that were called', () => {
    const controller = make()
    const calls: string[] = []
    const first = () => {
      calls.push('first')
    }
    controller.signal.addEventListener('abort', first)
    controller.signal.addEventListener('abort', () => {
      controller.signal.removeEventListener('abort', first)
      calls.push('second')
    })
    controller.signal.addEventListener('abort', () => calls.push('third'))
    controller.abort('gone')
    expect(calls).toEqual(['first', 'second', 'third'])
  })
})
