import { describe, expect, test } from 'bun:test'
import { stack, type Layer } from './service.ts'
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
