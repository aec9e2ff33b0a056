import { describe, expect, test } from 'bun:test'
import { clockUs, readStreamShape, stampLength, streamRequestBody } from './upstream-protocol.ts'

describe('readStreamShape', () => {
  test('reads what streamRequestBody wrote', () => {
    expect(readStreamShape(streamRequestBody({ chunks: 100, paceUs: 10_000 }))).toEqual({ chunks: 100, paceUs: 10_000 })
  })

  test('reads it when a proxy has written the JSON anew', () => {
    expect(readStreamShape('{"seed": 5, "stream": true, "max_tokens": 7}')).toEqual({ chunks: 7, paceUs: 5 })
  })

  test('reads it under the newer name of the most tokens', () => {
    expect(readStreamShape('{"max_completion_tokens":7,"stream":true}')).toEqual({ chunks: 7, paceUs: 0 })
  })

  test('finds none in a plain request', () => {
    expect(readStreamShape('{"model":"bench-model","stream":false}')).toBeUndefined()
  })
})

describe('clockUs', () => {
  test('has as many digits as a stamp', () => {
    expect(String(clockUs())).toHaveLength(stampLength)
  })
})
