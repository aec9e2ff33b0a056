import { describe, expect, test } from 'bun:test'
import { jsonResponse } from './json-response.ts'

describe('JSON as a response', () => {
  test("has its type and the request's id", async () => {
    const response = jsonResponse({ a: 1 }, 'id-1', 201)
    expect(response.status).toBe(201)
    expect(await response.json()).toEqual({ a: 1 })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(response.headers.get('x-request-id')).toBe('id-1')
  })
})
