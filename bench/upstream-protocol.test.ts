import { describe, expect, test } from 'bun:test'
import { clockUs, readStreamShape, stampLength, streamRequestBody } from './upstream-protocol.ts'

describe('readStreamShape', () => {
  test('reads the body of streamRequestBody', () => {
    expect(readStreamShape(streamRequestBody({ chunks: 100, paceUs: 10_000 }))).toEqual({ chunks: 100, paceUs: 10_000 })
  })

  test('reads a body that a proxy has rewritten', () => {
    expect(readStreamShape('{"seed": 5, "stream": true, "max_tokens": 7}')).toEqual({ chunks: 7, paceUs: 5 })
  })

  test('reads max_completion_tokens', () => {
    expect(readStreamShape('{"max_completion_tokens":7,"stream":true}')).toEqual({ chunks: 7, paceUs: 0 })
  })

  test('is undefined for a plain request', () => {
    expect(readStreamShape('{"model":"bench-model","stream":false}')).toBeUndefined()
  })
})

describe('clockUs', () => {
  test('has as many digits as a stamp', () => {
    expect(String(clockUs())).toHaveLength(stampLength)
  })
})
